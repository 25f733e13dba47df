"""A comparison that nobody wants to keep: proved in memory, without Spark and without a file."""

from __future__ import annotations

import numpy as np
import pytest

import topicloom
from topicloom.base.progress import SILENT
from topicloom.overlay.jobs.build_request import BuildRequest
from topicloom.overlay.jobs.compare import compare_loaded
from topicloom.overlay.jobs.interest_table import InterestTable, LoadedInterest
from topicloom.overlay.model.interest import Interest
from topicloom.tables.source import interest_source
from topicloom.tables.spark.spark_choice import SparkChoice

INTEREST = Interest.from_pairs([(f"n{i}", f"t{j}") for i in range(9) for j in range(5) if (i + j) % 3])


class NoSpark(SparkChoice):
    def session(self, *_):
        pytest.fail("Spark was asked for")

    def workspace(self, *_):
        pytest.fail("a folder was asked for")


def test_nothing_is_written_and_every_build_is_proved(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    table = InterestTable(interest_source("nowhere.csv"), NoSpark())
    requests = [BuildRequest.of(name, []) for name in ("gm", "ring-pt")]
    found, builds = compare_loaded(LoadedInterest(INTEREST, "digest"), requests, table, out=None, began=0.0)
    assert list(tmp_path.iterdir()) == []
    for row, build in zip(found.rows, builds, strict=True):
        assert row.topic_connected and row.topic_components == INTEREST.n_topics
        assert (row.edges, row.degree_max) == (build.n_edges, build.degree_max)
        assert sum(row.degree_histogram.values()) == INTEREST.n_nodes


def test_the_python_interface_builds_by_the_same_path():
    """Named or not, the edges are those of the request that a command makes."""
    for name in ("gm", None):
        ours = topicloom.build(INTEREST, name, seed=3)
        request = BuildRequest.of(name, [], seed=3).settled(INTEREST)
        theirs = request.run(INTEREST, SILENT)
        assert (ours.algorithm, ours.parameters) == (theirs.algorithm, theirs.parameters)
        assert np.array_equal(ours.overlay.u, theirs.overlay.u)
        assert np.array_equal(ours.overlay.v, theirs.overlay.v)
