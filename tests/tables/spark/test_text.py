"""Which text files Spark cuts into lines, and how many are listed: the same records, whoever cuts them."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from threading import get_ident

import pyarrow as pa
import pytest

from topicloom.errors import InputError
from topicloom.tables.local.read import LocalReader
from topicloom.tables.source import DataFile, interest_source
from topicloom.tables.spark import file_plans, raw_table, table_files, text
from topicloom.tables.spark.read import read_table
from topicloom.tables.spark.table_files import resolve

ROWS = (
    b"\xef\xbb\xbfnode,topic\r\n"
    + b"".join(b"n\r%d,t%d\r\n" % (n, n % 3) for n in range(500))
    + b"\xff,x\nz,y"
)


def as_hadoop_snappy(data: bytes) -> bytes:
    block = pa.compress(data, "snappy", asbytes=True)
    return len(data).to_bytes(4, "big") + len(block).to_bytes(4, "big") + block


PACKED = {
    "gz": gzip.compress(ROWS, mtime=0),
    "bz2": bz2.compress(ROWS[:99]) + bz2.compress(ROWS[99:]),
    "zst": pa.compress(ROWS, "zstd", asbytes=True),
    "snappy": as_hadoop_snappy(ROWS),
}


def test_what_spark_cannot_hand_over_at_once_its_own_codecs_read(
    spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for ending, content in PACKED.items():
        (tmp_path / f"t.csv.{ending}").write_bytes(content)
    here = LocalReader().read(interest_source(tmp_path))
    source = interest_source(f"file://{tmp_path}")
    files = resolve(spark, source).files
    assert not any(file_plans.cut_by_spark(spark, file) for file in files)
    for look in (16, 100, 1000):  # of some packings so few bytes of the beginning tell nothing
        monkeypatch.setattr(file_plans, "FIRST_LOOK", look)
        assert len(text._look(spark, source, resolve(spark, source)).remote) == len(PACKED)
    monkeypatch.setattr(file_plans, "HELD_BYTES", 0)
    assert all(file_plans.cut_by_spark(spark, file) for file in files)
    there = read_table(spark, source)
    assert sorted(map(str, there.to_arrow().to_pylist())) == sorted(map(str, here.rows.to_pylist()))
    assert there.sorted_rejects()["row"].to_pylist() == here.sorted_rejects()["row"].to_pylist()
    there.release()
    bare = tmp_path / "bare.csv.snappy"  # a wrapping that Spark does not know
    bare.write_bytes(pa.compress(ROWS, "snappy", asbytes=True))
    assert not file_plans.cut_by_spark(spark, DataFile(f"file://{bare}", "bare", "snappy"))


def test_a_file_too_large_to_be_handed_over_is_refused(spark, tmp_path, monkeypatch) -> None:
    (tmp_path / "t.csv").write_text("node,topic\n")
    monkeypatch.setattr(file_plans, "MOST_AT_ONCE", 5)
    file_plans.check_whole(spark, DataFile(str(tmp_path / "t.csv"), "t.csv", None))
    far = f"file://{tmp_path}/t.csv"
    with pytest.raises(InputError, match="must be read whole and has more than 2 GiB"):
        file_plans.check_whole(spark, DataFile(far, far, None))


@pytest.mark.parametrize("partitioned", [False, True])
def test_a_folder_of_many_files_is_named_instead_of_them(
    spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, partitioned: bool
) -> None:
    monkeypatch.setattr(raw_table, "MANY_FILES", 2)
    for number in range(4):
        folder = tmp_path / f"topic=t{number}" if partitioned else tmp_path
        folder.mkdir(exist_ok=True)
        more = "" if partitioned else f",t{number}"
        (folder / f"part-{number}.csv").write_text(f"node{more and ',topic'},more\na{number}{more},1\n")
    resolved = resolve(spark, interest_source(tmp_path))
    paths = [f"file://{file.path}" for file in resolved.files]
    assert raw_table.read_paths(spark, resolved, paths)[1] == [f"file://{tmp_path}"]
    assert raw_table.read_paths(spark, resolved, paths[1:])[1] == paths[1:], "not all are meant"
    table = read_table(spark, interest_source(tmp_path, first="node", second="topic"))
    assert sorted(map(str, table.to_arrow().to_pylist())) == [
        str({"node": f"a{number}", "topic": f"t{number}"}) for number in range(4)
    ]
    table.release()


def test_many_files_behind_an_address_are_listed_once_and_looked_at_side_by_side(
    spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each question takes a while to answer there; with thousands of files that is what one waits for."""
    for number in range(40):
        (tmp_path / f"part-{number:02}.csv").write_text("node,topic\na,x\n" + "b,y\r" * (number == 7))
    source = interest_source(f"file://{tmp_path}")
    asked, threads, found = [], set(), table_files.hadoop_file

    def hadoop_file(spark, path: str):
        asked.append(path)
        threads.add(get_ident())
        return found(spark, path)

    monkeypatch.setattr(table_files, "hadoop_file", hadoop_file)
    monkeypatch.setattr(file_plans, "hadoop_file", hadoop_file)
    told = table_files.signature(spark, source)
    assert len(asked) == 1 and len(told) == 40 and told[7][1] == 19
    resolved = resolve(spark, source)
    asked.clear()
    threads.clear()
    files = text._look(spark, source, resolved)
    assert len(set(asked)) == 40 and len(threads) > 1
    assert len(asked) == 40, "each once; the listing has told their sizes"
    assert [Path(path).name for path in files.remote] == ["part-07.csv"], "it ends in a carriage return"
    (tmp_path / "part-05.csv").write_text("node\na\n")
    (tmp_path / "part-06.csv").write_text("node\na\n")
    with pytest.raises(InputError, match=r"part-05\.csv"):
        text._look(spark, source, resolved)
