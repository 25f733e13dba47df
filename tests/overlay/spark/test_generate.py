"""Generated tables on disk: the rows are those in memory, for any number of partitions and any format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from topicloom.errors import InputError, UsageError
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.spark.generate import generate_table, needs_spark
from topicloom.overlay.workloads.generate import Workload, generate_interest, workload_from_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def workload(monkeypatch: pytest.MonkeyPatch) -> Workload:
    """Small slices, so that partitions really have something to share out."""
    monkeypatch.setattr("topicloom.overlay.workloads.generate.SLICE_ROWS", 1000)
    return workload_from_options(1500, 400, "3:12", "nyse", seed=11)


@pytest.mark.parametrize("partitions", [None, 1, 7])
def test_parquet_holds_the_rows_of_memory(
    spark: SparkSession, workload: Workload, tmp_path: Path, partitions: int | None
) -> None:
    """Row for row: another partitioning must not draw other topics."""
    out = tmp_path / "interest.parquet"
    written = generate_table(spark, workload, str(out), partitions=partitions)
    table = pq.read_table(out)
    assert written == len(table)
    interest = generate_interest(workload)
    assert [(field.name, field.type) for field in table.schema] == [
        ("node", pa.string()),
        ("topic", pa.string()),
    ]
    assert table.to_pylist() == interest.to_arrow().to_pylist()
    assert Interest.from_arrow(table) == interest


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ","), ("a.tsv", "\t"), ("A.CSV", ",")])
def test_text_is_one_plain_file_and_needs_no_spark(
    workload: Workload, tmp_path: Path, name: str, separator: str
) -> None:
    """What people expect of a .csv: one file, a header, one row per line."""
    out = tmp_path / name
    assert not needs_spark(str(out))
    written = generate_table(None, workload, str(out))
    lines = out.read_bytes().decode().split("\n")
    assert lines[0] == f"node{separator}topic"
    assert lines[-1] == ""
    rows = [dict(zip(("node", "topic"), line.split(separator), strict=True)) for line in lines[1:-1]]
    assert rows == generate_interest(workload).to_arrow().to_pylist()
    assert written == len(rows)


def test_text_at_an_address_is_written_by_spark(
    spark: SparkSession, workload: Workload, tmp_path: Path
) -> None:
    """A distributed file system has no local path."""
    out = (tmp_path / "x.csv").as_uri()
    generate_table(spark, workload, out)
    rows = spark.read.csv(out, header=True).orderBy("node", "topic").toArrow()
    assert rows.to_pylist() == generate_interest(workload).to_arrow().to_pylist()


def test_an_old_table_is_replaced_whole(spark: SparkSession, workload: Workload, tmp_path: Path) -> None:
    """Rows of an earlier run beside the new ones would be an interest nobody asked for."""
    out = tmp_path / "interest.parquet"
    generate_table(spark, workload_from_options(5, popularity="rss"), str(out))
    generate_table(spark, workload, str(out))
    assert Interest.from_arrow(pq.read_table(out)) == generate_interest(workload)
    assert [path.name for path in tmp_path.iterdir()] == ["interest.parquet"]


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
@pytest.mark.parametrize("address", [False, True])
def test_a_folder_of_other_things_is_left_alone(
    spark: SparkSession, workload: Workload, tmp_path: Path, name: str, address: bool
) -> None:
    """Whoever names the wrong folder must not lose what it holds."""
    out = tmp_path / name
    (out / "part-of-my-life").mkdir(parents=True)
    with pytest.raises(InputError, match=f"OUT .*{name}.* holds part-of-my-life"):
        generate_table(spark, workload, out.as_uri() if address else str(out))
    (out / "part-of-my-life").rmdir()
    (out / "thesis.txt").write_text("years of work")
    (out / "part-0.parquet").write_text("")
    with pytest.raises(InputError, match=f"OUT .*{name}.* holds thesis.txt"):
        generate_table(spark, workload, out.as_uri() if address else str(out))
    assert (out / "thesis.txt").read_text() == "years of work"
    assert {path.name for path in out.iterdir()} == {"thesis.txt", "part-0.parquet"}


def test_a_plain_file_of_that_name_is_replaced(
    spark: SparkSession, workload: Workload, tmp_path: Path
) -> None:
    """An interest.parquet written by another program is one file."""
    out = tmp_path / "interest.parquet"
    out.write_text("old")
    generate_table(spark, workload, str(out))
    assert Interest.from_arrow(pq.read_table(out)) == generate_interest(workload)
    assert [path.name for path in tmp_path.iterdir()] == ["interest.parquet"]


def test_a_place_that_cannot_be_written_is_one_clear_sentence(workload: Workload, tmp_path: Path) -> None:
    """A file where a folder must be: no traceback, and nothing left behind."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="file"):
        generate_table(None, workload, str(tmp_path / "file" / "a.csv"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("out", ["table", "table.txt", "table.csv.gz", "table.json"])
def test_an_unknown_extension_is_refused(out: str) -> None:
    """The extension decides the format; guessing would surprise."""
    with pytest.raises(UsageError, match=r"\.parquet, \.csv or \.tsv"):
        needs_spark(out)
