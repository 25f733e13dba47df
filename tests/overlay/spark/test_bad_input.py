"""Everything that makes a whole table unusable: one clear sentence each, never a traceback."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from naive.tables import as_csv, compressed
from spark_interest import read_interest
from topicloom.errors import InputError, TopicloomError, UsageError
from topicloom.tables.source import edges_source, format_of, interest_source
from topicloom.tables.spark.read import read_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MANY = as_csv([(f"n{i * i}", f"t{i % 17}") for i in range(3000)])


def sentence_for(spark: SparkSession, path: Path | str, **choices: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_interest(spark, interest_source(path, **choices))
    text = str(caught.value)
    assert "\n" not in text
    assert "Exception" not in text
    assert "Traceback" not in text
    return text


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_missing_file(spark: SparkSession, tmp_path: Path) -> None:
    assert sentence_for(spark, tmp_path / "no.csv") == f"no such file or folder: {tmp_path}/no.csv"


def test_empty_path(spark: SparkSession) -> None:
    assert "path of the interest is empty" in sentence_for(spark, "")


def test_unknown_ending(spark: SparkSession, tmp_path: Path) -> None:
    text = sentence_for(spark, put(tmp_path / "a.txt", b"a,b\n"))
    assert "a.txt" in text
    assert ".parquet" in text


def test_folder_without_data(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "_SUCCESS", b"")
    assert "holds no data file" in sentence_for(spark, tmp_path)


def test_folder_of_two_formats_or_with_a_folder_inside(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "a.csv", b"a,b\n")
    put(tmp_path / "b.tsv", b"a\tb\n")
    assert "different formats" in sentence_for(spark, tmp_path)
    (tmp_path / "inner").mkdir()
    assert "another folder, inner" in sentence_for(spark, tmp_path)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.tsv.zst"])
@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"node,topic\tx\n"], ids=["nothing", "bom", "header"])
def test_empty_table(spark: SparkSession, tmp_path: Path, name: str, data: bytes) -> None:
    if name == "a.jsonl" and len(data) > 3:
        data = b"\n"
    path = put(tmp_path / name, compressed(data, name.split(".")[2] if name.count(".") > 1 else ""))
    text = sentence_for(spark, path)
    assert "holds no subscription" in text
    assert name in text


def test_empty_parquet(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"node": pa.array([], pa.string()), "topic": pa.array([], pa.string())}),
        tmp_path / "a.parquet",
    )
    assert "holds no subscription" in sentence_for(spark, tmp_path / "a.parquet")


def test_all_rows_refused(spark: SparkSession, tmp_path: Path) -> None:
    text = sentence_for(spark, put(tmp_path / "a.csv", b"node,topic\nx\n"))
    assert text.endswith(
        "holds no subscription (1 row was refused): 1 row: too few fields, e.g. 'x'; check `separator`"
    )


@pytest.mark.parametrize("data", [b"this is no Parquet file at all", b"", b"PAR1PAR1"])
def test_unreadable_parquet(spark: SparkSession, tmp_path: Path, data: bytes) -> None:
    text = sentence_for(spark, put(tmp_path / "a.parquet", data))
    assert text == f"cannot read {tmp_path}/a.parquet: it is not a whole Parquet file"


def test_parquet_cut_in_the_middle(spark: SparkSession, tmp_path: Path) -> None:
    whole = tmp_path / "whole.parquet"
    pq.write_table(pa.table({"node": [f"n{i}" for i in range(5000)], "topic": ["t"] * 5000}), whole)
    raw = bytearray(whole.read_bytes())
    raw[4:2000] = bytes(1996)
    text = sentence_for(spark, put(tmp_path / "b.parquet", bytes(raw)))
    assert f"cannot read {tmp_path}/b.parquet" in text


def test_wrong_column_name_lists_the_columns(spark: SparkSession, tmp_path: Path) -> None:
    for name, data in (("a.csv", b"user,genre\nu,g\n"), ("a.jsonl", b'{"user": "u", "genre": "g"}\n')):
        text = sentence_for(spark, put(tmp_path / name, data), first="usr")
        assert f"{tmp_path}/{name} has no column 'usr' (`node_column`): its columns are user, genre" in text
    pq.write_table(pa.table({"user": ["u"], "genre": ["g"]}), tmp_path / "a.parquet")
    text = sentence_for(spark, tmp_path / "a.parquet", second="gnr")
    assert "has no column 'gnr' (`topic_column`): its columns are user, genre" in text
    with pytest.raises(InputError, match="'w' \\(`u_column`\\)"):
        read_table(spark, edges_source(tmp_path / "a.csv", first="w"))


def test_wrong_position_same_column_or_name_without_header(spark: SparkSession, tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", b"user,genre\nu,g\n")
    assert "position from 1 to 2" in sentence_for(spark, path, second="3")
    assert "position from 1 to 2" in sentence_for(spark, path, first="0")
    assert "same column" in sentence_for(spark, path, first="2", second="genre")
    assert "`header=False`" in sentence_for(spark, path, first="user", header=False)


def test_one_column_is_not_enough(spark: SparkSession, tmp_path: Path) -> None:
    text = sentence_for(spark, put(tmp_path / "a.csv", b"a\nc\n"))
    assert "one column" in text
    assert "`separator`" in text


def test_another_separator_is_recognised_and_named(spark: SparkSession, tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", b"node;topic;rate\na;x;1,5\nb;x;2,5\n")
    assert sentence_for(spark, path) == f"{path} looks separated by ';': give `separator=';'`"
    path = put(tmp_path / "a.tsv", b"node,topic\na,x\n")
    assert sentence_for(spark, path) == f"{path} looks separated by ',': give `separator=','`"
    path = put(tmp_path / "b.csv", b"a|x,y,z\nb|x\nc|y\n")
    assert "looks separated by '|'" in sentence_for(spark, path, header=False)


def test_of_more_than_two_columns_nobody_guesses(spark: SparkSession, tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", b"node,genre,year\nu,g,1\n")
    assert sentence_for(spark, path) == (
        f"{path} has 3 columns and none is called topic: its columns are node, genre, year; choose with "
        "`node_column` and `topic_column`"
    )
    assert sentence_for(spark, path, first="1").endswith("choose with `topic_column`")
    assert "no header" in sentence_for(spark, path, header=False)
    assert read_interest(spark, interest_source(path, second="genre")).encoded.n_subscriptions == 1
    edges = read_table(spark, edges_source(path))
    assert [tuple(row) for row in edges.rows.collect()] == [("u", "g")]
    edges.release()


def test_first_row_that_cannot_be_a_header(spark: SparkSession, tmp_path: Path) -> None:
    assert "first row of" in sentence_for(spark, put(tmp_path / "a.csv", b'"a,b\nc,d\n'))
    text = sentence_for(spark, put(tmp_path / "b.csv", b"\xff,b\nc,d\n"))
    assert text.endswith("b.csv cannot be used: it is not valid UTF-8; try `encoding=latin-1`")


@pytest.mark.parametrize("kind", ["double", "boolean", "date", "binary", "array<string>"])
def test_parquet_column_of_another_type(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    values = {
        "double": pa.array([1.5]),
        "boolean": pa.array([True]),
        "date": pa.array([1], pa.date32()),
        "binary": pa.array([b"a"]),
        "array<string>": pa.array([["a"]]),
    }
    pq.write_table(pa.table({"node": ["a"], "topic": values[kind]}), tmp_path / "a.parquet")
    text = sentence_for(spark, tmp_path / "a.parquet")
    assert f"column 'topic' of {tmp_path}/a.parquet has type {kind}" in text


@pytest.mark.parametrize(("name", "told"), [("rate", "a finite number"), ("role", "one of sub, pub, both")])
def test_parquet_role_or_rate_of_another_type(
    spark: SparkSession, tmp_path: Path, name: str, told: str
) -> None:
    pq.write_table(pa.table({"node": ["a"], "topic": ["t"], name: [True]}), tmp_path / "a.parquet")
    text = sentence_for(spark, tmp_path / "a.parquet")
    assert f"column '{name}' of {tmp_path}/a.parquet has type boolean: " in text
    assert told in text


@pytest.mark.parametrize("kind", ["gz", "bz2", "zst", "snappy"])
def test_damaged_compression_names_the_file(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    path = put(tmp_path / f"a.csv.{kind}", compressed(MANY, kind)[:-30])
    assert f"cannot read {path}" in sentence_for(spark, path)
    path = put(tmp_path / f"b.csv.{kind}", MANY)
    assert f"cannot read {path}" in sentence_for(spark, path)


def test_strict_names_the_count_and_the_first_reject(spark: SparkSession, tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", b"node,topic\na,b\nzz\nx,y,z\n")
    with pytest.raises(InputError) as caught:
        read_interest(spark, interest_source(path), strict=True)
    assert str(caught.value) == (
        f"2 rows were refused in {path}, first 'x,y,z': too many fields: 3 where the first row has 2"
    )
    good = put(tmp_path / "b.csv", b"node,topic\na,b\n")
    assert read_interest(spark, interest_source(good), strict=True).encoded.rejected == 0


def test_impossible_options_are_refused_before_any_file_is_touched() -> None:
    for separator in ("", "ab", '"', "\n"):
        with pytest.raises(UsageError, match="`separator`"):
            interest_source("x.csv", separator=separator)
    for encoding in ("nonsense", "utf-16", "gbk", "cp037"):
        with pytest.raises(UsageError, match=f"`encoding` '{encoding}' is not"):
            interest_source("x.csv", encoding=encoding)
    with pytest.raises(UsageError, match="does not exist in koi8-r"):
        interest_source("x.csv", encoding="koi8-r", separator="¦")
    with pytest.raises(UsageError, match="format"):
        interest_source("x.csv", format="xml")
    assert issubclass(UsageError, TopicloomError)


def test_endings() -> None:
    assert format_of("A.TSV.BZ2") == ("tsv", "bz2")
    assert format_of("df.parquet.gzip") == ("parquet", None)
    assert format_of("csv") == (None, None)
