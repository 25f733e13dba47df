"""How often a table is read: a large one lies far away, and each pass over it costs as much as the first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scans import rows_read
from topicloom.cli.main import execute
from topicloom.overlay.spark import encode, verify
from topicloom.overlay.spark.encode import read_interest
from topicloom.tables.source import interest_source
from topicloom.tables.spark.spark_work import last_plan

PLAIN = [(f"n{number}", f"t{number % 5}") for number in range(20)]
REFUSED = [*PLAIN, *PLAIN[:7], ("", "t1"), ("lost", ""), ("n1", "")]  # some occur twice
MOST = 3
Rows = list[tuple[str, str]]


def write(path: Path, rows: Rows) -> Path:
    nodes, topics = zip(*rows, strict=True)
    pq.write_table(pa.table({"node": nodes, "topic": topics}), path)
    return path


@pytest.fixture(autouse=True)
def large(spark, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if the tables were too large for the driver; and Spark's books tell whole paths."""
    monkeypatch.setattr(encode, "SMALL_ROWS", 0)
    monkeypatch.setitem(verify.verify_tables.__kwdefaults__, "driver_rows", 0)
    spark.conf.set("spark.sql.maxMetadataStringLength", 1000)
    yield
    spark.conf.unset("spark.sql.maxMetadataStringLength")


@pytest.mark.parametrize(
    ("rows", "edges"),
    [(PLAIN, "out/edges.parquet"), (REFUSED, "out")],
    ids=["plain", "refused"],
)
def test_an_interest_is_read_three_times_at_most(spark, tmp_path: Path, rows: Rows, edges: str) -> None:
    """By what `build` and `inspect` begin with, and by `verify`. (Text is parsed once and kept anyway.)"""
    table = write(tmp_path / "t.parquet", rows)
    before = last_plan(spark)
    found = read_interest(spark, interest_source(table), work_dir=tmp_path / "work")
    found.raw.release()
    assert found.encoded.n_nodes == 20 and found.encoded.n_subscriptions == 20
    assert [lost.first for lost in found.encoded.refused.lost.values()] == [["lost"]] * (rows is REFUSED)
    assert 0 < rows_read(spark, "t.parquet", before) <= MOST * len(rows)
    words = ["--algorithm", "star", "--engine", "local", "--out", str(tmp_path / "out")]
    assert execute(["build", str(table), *words]) < 2
    before = last_plan(spark)
    assert execute(["verify", str(table), str(tmp_path / edges), "--engine", "spark"]) == 0
    assert 0 < rows_read(spark, "t.parquet", before) <= MOST * len(rows)


def test_a_table_that_was_mended_is_read_anew(
    spark, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was kept of a table with refused rows must not outlive the command."""
    monkeypatch.undo()  # small tables will do
    table = write(tmp_path / "t.parquet", REFUSED)
    for rejected in (3, 0):
        assert execute(["inspect", str(table), "--engine", "spark", "--json"]) == 0
        assert f'"rejected":{rejected},' in capsys.readouterr().out
        write(table, PLAIN)
