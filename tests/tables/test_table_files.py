"""Which files a table consists of."""

from __future__ import annotations

import json
import os

import pytest

from topicloom.cli.main import execute
from topicloom.errors import InputError
from topicloom.tables.source import are_small, interest_source
from topicloom.tables.table_files import resolve


def test_a_pipe_is_refused(tmp_path):
    """It is opened more than once, and each time holds less: rows would be lost without a word."""
    os.mkfifo(tmp_path / "t.csv")
    with pytest.raises(InputError, match="is a pipe or a device"):
        resolve(interest_source(tmp_path / "t.csv"))


def test_files_that_a_manifest_leaves_out_are_known_to_be_there(tmp_path):
    """Spark would read the whole folder where it is named instead of its files."""
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("node,topic\na,x\n")
    assert not resolve(interest_source(tmp_path)).named
    (tmp_path / "_files.json").write_text(json.dumps({"rows": 1, "files": ["a.csv"]}))
    found = resolve(interest_source(tmp_path))
    assert found.named and [file.name for file in found.files] == ["a.csv"]


def test_a_link_to_nothing_is_passed_over_when_sizes_are_asked_for(tmp_path):
    (tmp_path / ".#a.csv").symlink_to(tmp_path / "gone")
    assert are_small(str(tmp_path)) and are_small("")


def test_standard_input_that_is_closed_is_told(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", None)
    assert execute(["inspect", "-", "--engine", "local"]) == 2
    assert "standard input is closed" in capsys.readouterr().err
