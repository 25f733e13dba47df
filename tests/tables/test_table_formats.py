"""Folders that are more than their files: partition folders are read, other formats are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from topicloom.errors import InputError
from topicloom.tables.local.read import LocalReader
from topicloom.tables.source import interest_source
from topicloom.tables.table_files import resolve


@pytest.mark.parametrize(
    ("mark", "kind", "reading"),
    [
        ("_delta_log/0.json", "a Delta table", "format('delta')"),
        (".hoodie/hoodie.properties", "a Hudi table", "format('hudi')"),
        ("metadata/v1.metadata.json", "an Iceberg table", "format('iceberg')"),
        ("_spark_metadata/0", "the output of a streaming query", "spark.read.parquet("),
    ],
)
def test_a_table_with_a_log_of_its_own_is_refused(tmp_path: Path, mark: str, kind: str, reading: str) -> None:
    """Its files hold rows that were deleted, or that a failed batch left."""
    pq.write_table(pa.table({"node": ["a"], "topic": ["x"]}), tmp_path / "part-0.parquet")
    assert len(resolve(interest_source(tmp_path)).files) == 1
    (tmp_path / mark).parent.mkdir()
    (tmp_path / mark).touch()
    with pytest.raises(InputError) as refused:
        resolve(interest_source(tmp_path))
    assert f"folder {tmp_path} is {kind}" in str(refused.value)
    assert reading in str(refused.value)


# Names of folders as Hive and Spark write them; topics come from there, one of them is null.
TOPICS = {"topic=a%2Fb": "a/b", "topic=x y": "x y", "topic=__HIVE_DEFAULT_PARTITION__": None, "topic=+": "+"}


def write_partitioned(folder: Path, kind: str) -> None:
    for number, topic in enumerate(TOPICS):
        place = folder / f"day=2024-01-0{number + 1}" / topic
        place.mkdir(parents=True)
        nodes = [f"n{number}", "both"]
        if kind == "parquet":
            pq.write_table(pa.table({"node": nodes}), place / "part-0.parquet")
        elif kind == "csv":
            (place / "part-0.csv").write_text("node,more\n" + "".join(f"{node},1\n" for node in nodes))
        else:
            (place / "part-0.jsonl").write_text("".join(json.dumps({"node": node}) + "\n" for node in nodes))
    (folder / "_SUCCESS").touch()


def expected() -> list[tuple[str, str]]:
    rows = [(f"n{number}", topic) for number, topic in enumerate(TOPICS.values())]
    return sorted((node, topic) for name, topic in rows if topic is not None for node in (name, "both"))


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_partition_folders_are_columns(tmp_path: Path, kind: str) -> None:
    write_partitioned(tmp_path / "table", kind)
    read = LocalReader().read(interest_source(tmp_path / "table"))
    rows = read.rows.select(["node", "topic"]).to_pylist()
    assert sorted((row["node"], row["topic"]) for row in rows) == expected()
    refused = read.sorted_rejects()
    assert refused["reason"].to_pylist() == ["the topic is missing"] * 2
    assert set(refused["file"].to_pylist()) == {
        f"{tmp_path}/table/day=2024-01-03/topic=__HIVE_DEFAULT_PARTITION__/part-0.{kind}"
    }


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_spark_reads_partition_folders_by_the_same_rules(spark, tmp_path: Path, kind: str) -> None:
    from topicloom.tables.spark.read import read_table

    write_partitioned(tmp_path / "table", kind)
    source = interest_source(tmp_path / "table")
    there, here = read_table(spark, source), LocalReader().read(source)
    assert sorted(map(str, there.to_arrow().to_pylist())) == sorted(map(str, here.rows.to_pylist()))
    assert there.sorted_rejects().to_pylist() == here.sorted_rejects().to_pylist()
    there.release()


def test_folders_that_are_no_partitions_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "t" / "inner").mkdir(parents=True)
    (tmp_path / "t" / "a.csv").write_text("node,topic\na,x\n")
    with pytest.raises(InputError, match="holds another folder, inner"):
        resolve(interest_source(tmp_path / "t"))
    (tmp_path / "t" / "inner").rename(tmp_path / "t" / "day=1")
    (tmp_path / "t" / "day=1" / "b.csv").write_text("node,topic\nb,x\n")
    with pytest.raises(InputError, match="a.csv and .*b.csv lie in folders of different partition columns"):
        resolve(interest_source(tmp_path / "t"))
