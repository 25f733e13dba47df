"""How often a table is read: a large one lies far away, and each pass over it costs as much as the first.

A DataFrame is evaluated once, because it may have other rows the next time.
"""

from __future__ import annotations

import gc
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import topicloom
from scans import rows_read
from topicloom.api.frames import edges_of, table_of
from topicloom.base.progress import SILENT
from topicloom.cli.main import execute
from topicloom.overlay.jobs import build_request, measure
from topicloom.overlay.jobs.verify import verify_edges
from topicloom.overlay.measures.digest import interest_digest
from topicloom.overlay.spark import encode, verify
from topicloom.overlay.spark.encode import read_interest
from topicloom.tables.source import interest_source
from topicloom.tables.spark.spark_work import last_plan, write_plans

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


def test_of_names_that_are_lost_a_few_come_to_the_driver(spark, tmp_path: Path) -> None:
    """A table in another encoding may lose millions: Spark counts them."""
    table = write(tmp_path / "t.parquet", [*PLAIN, *((f"lost{number}", "") for number in range(9))])
    before = last_plan(spark)
    found = read_interest(spark, interest_source(table), work_dir=tmp_path / "work")
    found.raw.release()
    lost = found.encoded.refused.lost["node"]
    assert (lost.count, lost.first) == (9, ["lost0", "lost1", "lost2"])
    write_plans(spark, tmp_path / "plans", before)
    assert "TakeOrderedAndProject" in (tmp_path / "plans").read_text()


# --- DataFrames ------------------------------------------------------------------------------------------

PARTS = 2


def counting(spark, rows: Rows, columns: str, folder: Path):
    """Return a DataFrame that leaves a file for each evaluation of each of its parts."""
    folder.mkdir()

    def passing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        (folder / str(uuid.uuid4())).touch()
        yield from batches

    return spark.createDataFrame(rows, columns).repartition(PARTS).mapInArrow(passing, columns)


def survival_of(wants, links) -> None:
    """What `verify --table wants --edges-table links --survive 1` does."""
    table = table_of(wants, progress=SILENT)
    assert verify_edges(table, edges_of(table, links, None, None), survive=1).survival.survive == 1


CALLS: dict[str, Callable[..., object]] = {
    "inspect": lambda df, *_: topicloom.spark.inspect(df),
    "read": lambda df, *_: topicloom.spark.read(df),
    "measure": lambda df, edges, _: topicloom.spark.measure(df, edges),
    "verify": lambda df, edges, _: topicloom.spark.verify(df, edges),
    "build here": lambda df, *_: topicloom.spark.build(df),
    "build there": lambda df, *_: topicloom.spark.build(df, "ring-pt"),
    "build a folder here": lambda df, _, out: topicloom.spark.build(df, "gm", out=out),
    "build a folder there": lambda df, _, out: topicloom.spark.build(df, "ring-pt", out=out),
    "to memory": lambda df, *_: topicloom.read(df),
    "build there and bring here": lambda df, *_: topicloom.build(df, "ring-pt", engine="spark"),
    "survive": lambda df, edges, _: survival_of(df, edges),
}
BY_SIZE = ("inspect", "measure", "build here")  # what goes another way with a large table


@pytest.mark.parametrize(
    ("called", "large"), [*((called, False) for called in CALLS), *((called, True) for called in BY_SIZE)]
)
@pytest.mark.filterwarnings("ignore:.* refused in the DataFrame")
def test_a_dataframe_is_evaluated_once(
    spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, called: str, large: bool
) -> None:
    if large:
        for module in (build_request, measure):
            monkeypatch.setattr(module, "LOCAL_SUBSCRIPTIONS", 1)
    wants = counting(spark, REFUSED, "node string, topic string", tmp_path / "wants")
    links = counting(spark, [("n1", "n6"), ("n1", "n1")], "u string, v string", tmp_path / "links")
    gc.collect()
    kept = spark.sparkContext._jsc.getPersistentRDDs().size()
    found = CALLS[called](wants, links, tmp_path / "out")
    assert len(list((tmp_path / "wants").iterdir())) == PARTS
    assert len(list((tmp_path / "links").iterdir())) == PARTS * (called in ("measure", "verify", "survive"))
    results = 3 if called.startswith("build") and not called.startswith("build a folder") else 0
    results += called == "read"
    assert spark.sparkContext._jsc.getPersistentRDDs().size() <= kept + results
    del found


def test_rows_that_are_others_each_time_are_those_of_one_moment(spark, tmp_path: Path) -> None:
    """Each evaluation draws names anew: numbers, pairs, digest and proof are of the same ones."""

    def drawn(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch(
                {"node": [str(uuid.uuid4()) for _ in range(len(batch))], "topic": batch["id"]}
            )

    wants = spark.range(60).selectExpr("id % 5 AS id").mapInArrow(drawn, "node string, topic long")
    built = topicloom.spark.build(wants, "ring-pt", out=tmp_path / "out")
    summary = built.summary
    assert (summary.nodes, summary.subscriptions, summary.duplicates, summary.topic_connected) == (
        60, 60, 0, True,
    )  # fmt: skip
    written = topicloom.load_build(tmp_path / "out").interest
    assert written.n_subscriptions == 60 and interest_digest(written) == summary.interest_digest
    numbered = topicloom.spark.read(wants)
    assert numbered.count() == 60 == numbered.select("node_number").distinct().count()
