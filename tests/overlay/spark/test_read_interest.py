"""Files through Spark into rows and rejects: what fails here is data changed, lost or doubled in silence."""

from __future__ import annotations

import gzip
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from naive.tables import Pair, as_csv, as_json, as_parquet, as_tsv, compressed, naive_lines, naive_pair
from spark_interest import read_interest
from topicloom.errors import InputError
from topicloom.tables.reader import write_rejects
from topicloom.tables.source import edges_source, interest_source
from topicloom.tables.spark.frames import read_frame
from topicloom.tables.spark.raw_table import RawTable
from topicloom.tables.spark.read import read_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STRANGE: list[Pair] = [
    ('"Weird Al" Yankovic', " x"),
    (" x", "x "),
    ("08001", "8001"),
    ("#####", "#"),
    ("none", "None"),
    ("NaN", "nan"),
    ("null", "NULL"),
    ("caf\u00e9", "NFC"),
    ("cafe\u0301", "NFD"),
    ("👩‍🚀", "🚀"),
    ("a\rb", "\rc"),
    ("a\x00b", "\x00"),
    ("node", "topic"),
    ("\ufeff", "bom inside"),
    ("\\N", "\\"),
    ("'", "`"),
]
ENDINGS = ["", ".gz", ".bz2", ".zst", ".snappy"]
WRITERS: dict[str, Callable[[list[Pair]], bytes]] = {"csv": as_csv, "tsv": as_tsv, "jsonl": as_json}


def rows_of(table: RawTable) -> Counter[Pair]:
    found = Counter((row[0], row[1]) for row in table.rows.collect())
    table.release()
    return found


def rejects_of(table: RawTable) -> list[tuple[str, str, str]]:
    return sorted((row["file"], row["row"], row["reason"]) for row in table.rejects.collect())


@contextmanager
def cut_small(spark: SparkSession) -> Iterator[None]:
    """Spark cuts files into blocks of a few hundred lines."""
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "4000")
    try:
        yield
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", before)


@pytest.mark.parametrize("kind", list(WRITERS))
def test_strange_identifiers_survive_in_a_folder_of_all_compressions(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    for ending in ENDINGS:
        data = compressed(WRITERS[kind](STRANGE), ending[1:])
        (tmp_path / f"part{ending.replace('.', '-')}.{kind}{ending}").write_bytes(data)
    (tmp_path / "_SUCCESS").write_bytes(b"not data")
    (tmp_path / ".hidden.csv").write_bytes(b"not,data")
    table = read_table(spark, interest_source(tmp_path))
    assert rejects_of(table) == []
    assert rows_of(table) == Counter({pair: len(ENDINGS) for pair in STRANGE})


@pytest.mark.parametrize(
    "name", ["a b%20[1].csv", "{x,y}*.csv", "_hidden.csv", "t12:30.csv", "ü#?.CSV.GZ", "m.tsv.zst"]
)
def test_single_files_with_awkward_names_are_read(spark: SparkSession, tmp_path: Path, name: str) -> None:
    kind, _, ending = name.lower().rsplit("/")[-1].partition(".")[2].partition(".")
    (tmp_path / name).write_bytes(compressed(WRITERS[kind](STRANGE), ending))
    (tmp_path / "x.csv").write_bytes(as_csv([("other", "file")]))
    table = read_table(spark, interest_source(tmp_path / name))
    assert rows_of(table) == Counter(STRANGE)


def test_strange_identifiers_survive_in_parquet(spark: SparkSession, tmp_path: Path) -> None:
    as_parquet(STRANGE, tmp_path / "a.parquet")
    as_parquet(STRANGE, tmp_path / "b.snappy.parquet")
    table = read_table(spark, interest_source(tmp_path))
    assert rejects_of(table) == []
    assert rows_of(table) == Counter(dict.fromkeys(STRANGE, 2))


def test_a_large_file_cut_by_spark_loses_nothing_and_has_one_header(
    spark: SparkSession, tmp_path: Path
) -> None:
    pairs = [(f"n{i}", f"t{i % 13}") for i in range(3000)]
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbf" + as_csv(pairs, end="\r\n"))
    # A later row that looks like the header is data; bz2 would be cut as well if Spark read it.
    again = [*pairs, ("node", "topic")]
    (tmp_path / "b.csv").write_bytes(as_tsv(again).replace(b"\t", b","))
    (tmp_path / "c.csv.bz2").write_bytes(compressed(as_csv(pairs), "bz2"))
    with cut_small(spark):
        table = read_table(spark, interest_source(tmp_path))
        assert table.rows.rdd.getNumPartitions() > 5
        assert rejects_of(table) == []
        assert rows_of(table) == Counter(pairs) + Counter(again) + Counter(pairs)


TAILS = ["", "\n", "\r\n", "\r", "\r\r", "\n\r"]


@pytest.mark.parametrize("place", ["{}", "file://{}"], ids=["own", "address"])
@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_the_last_carriage_return_is_the_fields_whatever_the_file(
    spark: SparkSession, tmp_path: Path, kind: str, place: str
) -> None:
    """Only `\\n` ends a line, with one `\\r` before it: cut or not, compressed or not, near or far."""
    separator = {"csv": ",", "tsv": "\t"}[kind]
    expected: Counter[Pair | None] = Counter()
    for ending in ENDINGS:
        for number, tail in enumerate(TAILS):
            rows = 400 if ending in ("", ".gz") and number > 1 else 2
            pairs = [("node", "topic"), *((f"{ending}{number}", f"t{i}") for i in range(rows))]
            data = ("\r\n".join(separator.join(pair) for pair in pairs) + tail).encode()
            (tmp_path / f"{number}.{kind}{ending}").write_bytes(compressed(data, ending[1:]))
            expected.update(naive_pair(line, separator, kind == "csv", 2) for line in naive_lines(data)[1:])
    with cut_small(spark):
        table = read_table(spark, interest_source(place.format(tmp_path)))
        assert table.rows.rdd.getNumPartitions() > 5
        assert [row for _, row, _ in rejects_of(table)] == ["\r"] * expected.pop(None)
        assert rows_of(table) == expected


def test_the_last_carriage_return_of_json_is_no_part_of_a_value(spark: SparkSession, tmp_path: Path) -> None:
    line = b'{"node": "a", "topic": "x"}'
    for ending in ENDINGS:
        for number, tail in enumerate([b"", b"\n", b"\r\n", b"\r", b"\nbad\r", b"\nbad\r\n"]):
            data = compressed(b"\r\n".join([line] * 150) + tail, ending[1:])
            (tmp_path / f"{number}.jsonl{ending}").write_bytes(data)
    with cut_small(spark):
        table = read_table(spark, interest_source(tmp_path))
        assert sorted(row for _, row, _ in rejects_of(table)) == ["bad"] * 5 + ["bad\r"] * 5
        assert rows_of(table) == Counter({("a", "x"): 150 * 30})


def test_a_header_that_ends_in_a_carriage_return_alone_has_it_in_its_name(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_bytes(b"node,topic\r")
    table = read_table(spark, interest_source(tmp_path / "a.csv"))
    assert "'topic\\r' as topic" in (table.notice or "")
    table.release()


def test_a_large_gz_follows_the_same_rule(spark: SparkSession, tmp_path: Path) -> None:
    names = [random.Random(seed).randbytes(20).hex() for seed in range(60_000)]
    for path, tail in ((tmp_path / "a.csv.gz", "\r"), (tmp_path / "b.csv.gz", "\r\n")):
        data = "\r\n".join(["node,topic", *(f"{name},x" for name in names)]) + tail
        path.write_bytes(gzip.compress(data.encode(), 1))
        assert path.stat().st_size > 1 << 20
    odd = read_table(spark, interest_source(tmp_path)).rows.where("topic != 'x'").collect()
    assert [tuple(row)[:2] for row in odd] == [(names[-1], "x\r")]


def test_paths_with_dots_and_links_mean_what_the_system_means(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`link/..` is the parent of what the link points to, not the folder that holds the link."""
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "link").symlink_to(tmp_path / "data" / "deep")
    (tmp_path / "data" / "a.csv").write_bytes(as_csv([("right", "x")]))
    (tmp_path / "here" / "a.csv").write_bytes(as_csv([("wrong", "x")]))
    (tmp_path / "data" / "deep" / "b.csv").write_bytes(as_csv([("deep", "x")]))
    (tmp_path / "here" / "c.csv").symlink_to("../data/a.csv")
    monkeypatch.chdir(tmp_path / "here")
    for path, node in {
        "../data/a.csv": "right",
        "link/../a.csv": "right",
        "link/b.csv": "deep",
        "link": "deep",
        "../here/link/": "deep",
        "c.csv": "right",
        "../here/../data/deep/../a.csv": "right",
    }.items():
        assert rows_of(read_table(spark, interest_source(path))) == Counter([(node, "x")]), path
    monkeypatch.chdir(tmp_path / "data" / "deep")
    assert rows_of(read_table(spark, interest_source("."))) == Counter([("deep", "x")])
    os.mkdir("inner")
    monkeypatch.chdir("inner")
    with pytest.raises(InputError, match="another folder, inner"):
        read_table(spark, interest_source(".."))


def test_each_file_of_a_folder_has_its_own_header_and_width(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"topic,extra,node\nt1,,n1\nt2,x\n")
    (tmp_path / "b.csv").write_bytes(b"node,topic,role\nn2,t2,pub\nn3,t3,nobody\n")
    (tmp_path / "c.csv").write_bytes(b"")
    table = read_table(spark, interest_source(tmp_path))
    assert [tuple(row) for row in table.rows.orderBy("node").collect()] == [
        ("n1", "t1", None, None),
        ("n2", "t2", "pub", None),
    ]
    assert rejects_of(table) == [
        (f"{tmp_path}/a.csv", "t2,x", "too few fields: 2 where the first row has 3"),
        (f"{tmp_path}/b.csv", "n3,t3,nobody", "the role 'nobody' is none of sub, pub, both"),
    ]
    assert table.notice is None


def test_every_kind_of_bad_row_is_kept_with_its_reason(spark: SparkSession, tmp_path: Path) -> None:
    bad = {
        b"": "the row is empty",
        b"x": "too few fields",
        b"x,y,z": "too many fields",
        b",y": "the node is empty",
        b"x,": "the topic is empty",
        b"x\xff,y": "not valid UTF-8",
        b'"x,y': "never closed",
    }
    path = tmp_path / "a.csv"
    path.write_bytes(b"node,topic\na,b\n" + b"\n".join(bad) + b"\nc,d")
    table = read_table(spark, interest_source(path))
    found = rejects_of(table)
    assert {file for file, _, _ in found} == {str(path)}
    assert len(found) == len(bad)
    for raw, reason in bad.items():
        shown = raw.decode("utf-8", "backslashreplace")
        assert any(row == shown and reason in why for _, row, why in found), raw
    write_rejects(table, tmp_path / "rejects.parquet")
    saved = pq.read_table(tmp_path / "rejects.parquet")
    assert saved.column_names == ["file", "row", "reason"]
    assert sorted(zip(*saved.to_pydict().values(), strict=True)) == found
    assert rows_of(table) == Counter([("a", "b"), ("c", "d")])


def test_without_header_the_first_row_counts_and_gives_the_width(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfa,b\nc,d,e\nf,g")
    (tmp_path / "b.csv.zst").write_bytes(compressed(b"\xef\xbb\xbfa,b\r\n", "zst"))
    table = read_table(spark, interest_source(tmp_path, header=False))
    assert [row for _, row, _ in rejects_of(table)] == ["c,d,e"]
    assert rows_of(table) == Counter([("a", "b"), ("f", "g"), ("a", "b")])
    assert table.notice is None


@pytest.mark.parametrize(
    ("data", "good", "bad"),
    [
        (b"\xff,x\na,x\nb,x\n", 2, ["\\xff,x"]),
        (b'"q"x,x\na,x\nb,x\n', 2, ['"q"x,x']),
        (b"\n\na,x\nb,x,1\n", 1, ["", "", "b,x,1"]),
        (b'"never\n"closed\n', 0, ['"closed', '"never']),
    ],
    ids=["not UTF-8", "quoting", "empty rows", "no row can be split"],
)
def test_without_header_a_bad_first_row_costs_no_more_than_itself(
    spark: SparkSession, tmp_path: Path, data: bytes, good: int, bad: list[str]
) -> None:
    (tmp_path / "a.csv").write_bytes(data)
    table = read_table(spark, interest_source(tmp_path / "a.csv", header=False))
    assert [row for _, row, _ in rejects_of(table)] == bad
    assert rows_of(table).total() == good


def test_every_strange_header_row_is_shown_with_its_file(spark: SparkSession, tmp_path: Path) -> None:
    """A file without a header among files with one would lose its first row in silence."""
    (tmp_path / "0.csv").write_bytes(b"user,genre\nbob,x\n")
    (tmp_path / "1.csv").write_bytes(b"alice,x\nbob,y\n")
    (tmp_path / "2.csv").write_bytes(b"user,genre\nbob,z\n")
    (tmp_path / "3.csv").write_bytes(b"node,topic\nbob,z\n")
    table = read_table(spark, interest_source(tmp_path))
    first, second = (table.notice or "").split("\n")
    assert first.startswith(f"{tmp_path}/0.csv: the first row was taken as a header: 'user,genre' (")
    assert first.endswith("the same goes for 1 more file")
    assert second.startswith(f"{tmp_path}/1.csv: the first row was taken as a header: 'alice,x' (")
    assert "give `header=False`" in second
    table.release()


def test_a_header_of_other_names_gives_a_notice(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_bytes(b"user,genre\nu,g\n")
    table = read_table(spark, interest_source(tmp_path))
    assert table.notice is not None
    for part in (
        "user,genre",
        "'user' as node",
        "'genre' as topic",
        "`header=False`",
        "a.csv",
        "1 more file",
    ):
        assert part in table.notice
    (tmp_path / "e.csv").write_bytes(b"user,genre,year\nu,g,1\n")
    edges = read_table(spark, edges_source(tmp_path / "e.csv", first="genre", second="3"))
    assert "'genre' as u, 'year' as v" in (edges.notice or "")
    assert "`edges_no_header`" in (edges.notice or "")
    assert rows_of(edges) == Counter([("g", "1")])
    table.release()


def test_quoting_separator_and_multiline_follow_the_options(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b'node\ttopic\n"a\tb"\tx\n"c"\ty\n')
    plain = read_table(spark, interest_source(path))
    assert [row for _, row, _ in rejects_of(plain)] == ['"a\tb"\tx']
    assert rows_of(plain) == Counter([('"c"', "y")])
    assert rows_of(read_table(spark, interest_source(path, quote=True))) == Counter(
        [("a\tb", "x"), ("c", "y")]
    )
    path = tmp_path / "b.csv"
    path.write_bytes('"no\nde"¦topic\r\n"a\r\nb"¦x\r\nc¦"y\n\n"'.encode())
    table = read_table(spark, interest_source(path, multiline=True, separator="¦"))
    assert rejects_of(table) == []
    assert rows_of(table) == Counter([("a\r\nb", "x"), ("c", "y\n\n")])


def test_json_lines_take_keys_by_name_position_and_default(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(b'{"who": 1.0, "what": "x"}\nnonsense\n{"what": 1e3, "who": "y"}\r\n')
    for choice in ({}, {"first": "who", "second": "what"}, {"first": "1"}):
        table = read_table(spark, interest_source(path, **choice))
        assert [row for _, row, _ in rejects_of(table)] == ["nonsense"]
        assert rows_of(table) == Counter([("1.0", "x"), ("y", "1e3")])


def test_parquet_numbers_become_digits_and_bad_rows_are_kept(spark: SparkSession, tmp_path: Path) -> None:
    nodes = pa.array([1, -2, None, 4, 5, 6], pa.int64())
    topics = pa.array(
        [Decimal("1.50"), Decimal("0.00000001"), Decimal("3"), None, Decimal("5"), Decimal("6")]
    )
    roles = pa.array(["sub", "both", "sub", "sub", "publisher", "pub"])
    rates = pa.array([0, 1, 1, 1, 1, -1])
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"node": nodes, "topic": topics, "role": roles, "rate": rates}), path)
    table = read_table(spark, interest_source(path))
    assert sorted(tuple(row) for row in table.rows.collect()) == [
        ("-2", "0.00000001", "both", 1.0),
        ("1", "1.50000000", "sub", 0.0),
    ]
    reasons = [reason for _, _, reason in rejects_of(table)]
    for part in ("node is missing", "topic is missing", "role 'publisher'", "rate '-1'"):
        assert sum(part in reason for reason in reasons) == 1
    assert len(reasons) == 4
    assert {file for file, _, _ in rejects_of(table)} == {str(path)}


def test_numbers_in_parquet_may_have_any_type_of_number_or_be_plain_text(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Texts go by the rules of text: no blanks, no suffixes."""
    columns = {
        "float": pa.array([0.5, None, 2.0], pa.float32()),
        "decimal": pa.array([Decimal("0.50"), None, Decimal("2.00")]),
        "text": pa.array([".5", None, "2e0"]),
        "nothing": pa.nulls(3),
    }
    for name, rates in columns.items():
        table = pa.table({"node": ["a", "b", "c"], "topic": ["x"] * 3, "rate": rates, "role": pa.nulls(3)})
        pq.write_table(table, tmp_path / f"{name}.parquet")
        read = read_table(spark, interest_source(tmp_path / f"{name}.parquet"))
        assert read.rejects.count() == 0
        expected = [None] * 3 if name == "nothing" else [0.5, None, 2.0]
        assert [row["rate"] for row in read.rows.orderBy("node").collect()] == expected, name
    wrong = pa.table({"node": ["a", "b"], "topic": ["x", "x"], "rate": [" 1", "1d"]})
    pq.write_table(wrong, tmp_path / "wrong.parquet")
    assert read_table(spark, interest_source(tmp_path / "wrong.parquet")).rejects.count() == 2


def test_a_missing_role_or_rate_is_no_fault_and_survives_a_build(spark: SparkSession, tmp_path: Path) -> None:
    """What a build writes must be readable again: missing rates are null there, or NaN."""
    nan = float("nan")
    rows = {
        "node": ["a", "b", "c", "d"],
        "topic": ["x", "x", "x", "y"],
        "role": ["pub", None, "both", None],
        "rate": pa.array([1.5, None, nan, 0.0]),
    }
    pq.write_table(pa.table(rows), tmp_path / "0.parquet")
    read = read_interest(spark, interest_source(tmp_path / "0.parquet"))
    assert (read.encoded.rejected, read.encoded.n_subscriptions) == (0, 4)
    interest = read.encoded.to_interest()
    assert interest.roles is not None
    assert interest.rates is not None
    assert interest.roles.tolist() == [1, 0, 2, 0]
    assert [str(rate) for rate in interest.rates] == ["1.5", "nan", "nan", "0.0"]
    pq.write_table(interest.to_arrow(), tmp_path / "1.parquet")
    again = read_interest(spark, interest_source(tmp_path / "1.parquet"))
    assert (again.encoded.rejected, again.encoded.digest) == (0, read.encoded.digest)
    assert again.encoded.to_interest().to_arrow().equals(interest.to_arrow())
    wrong = pa.table({"node": ["a", "b"], "topic": ["x", "x"], "role": ["", None], "rate": ["", "NaN"]})
    pq.write_table(wrong, tmp_path / "2.parquet")
    reasons = [
        reason for _, _, reason in rejects_of(read_table(spark, interest_source(tmp_path / "2.parquet")))
    ]
    assert reasons == ["the rate 'NaN' is not a finite number of at least 0"]


def test_a_rate_in_one_file_of_a_folder_survives_a_build(spark: SparkSession, tmp_path: Path) -> None:
    """The other file's rows have no rate; that must not make the build unreadable."""
    for folder, writer in (("csv", as_csv), ("parquet", None)):
        place = tmp_path / folder
        place.mkdir()
        if writer is not None:
            (place / "0.csv").write_bytes(writer([("a", "x")]))
            (place / "1.csv").write_bytes(b"node,topic,rate\nb,x,2\n")
        else:
            as_parquet([("a", "x")], place / "0.parquet")
            pq.write_table(pa.table({"node": ["b"], "topic": ["x"], "rate": [2.0]}), place / "1.parquet")
        read = read_interest(spark, interest_source(place))
        assert read.encoded.rejected == 0
        pq.write_table(read.encoded.to_interest().to_arrow(), tmp_path / "built.parquet")
        again = read_interest(spark, interest_source(tmp_path / "built.parquet"))
        assert (again.encoded.rejected, again.encoded.digest) == (0, read.encoded.digest)


def test_parquet_strings_that_are_empty_or_not_utf8_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    raw = pa.array([b"a", b"", b"b\xff"], pa.binary())
    table = pa.table({"x": raw.view(pa.string()), "y": pa.array(["t", "t", "t"])})
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(table.slice(0, 1), tmp_path / "b.parquet")
    read = read_table(spark, interest_source(tmp_path))
    assert rejects_of(read) == [
        (f"{tmp_path}/a.parquet", '{"node":"","topic":"t"}', "the node is empty"),
        (f"{tmp_path}/a.parquet", '{"node":"\\\\x62\\\\xff","topic":"t"}', "the node is not valid UTF-8"),
    ]
    assert rows_of(read) == Counter([("a", "t"), ("a", "t")])


def test_any_dataframe_is_read_by_the_rules_of_parquet(spark: SparkSession) -> None:
    from pyspark.sql import functions as sf

    frame = spark.createDataFrame([("a", 1), ("", 2)], "who string, what long")
    read = read_frame(frame, interest_source("frame"), sf.lit("here"))
    assert [tuple(row) for row in read.rows.collect()] == [("a", "1")]
    assert rejects_of(read) == [("here", '{"node":"","topic":"2"}', "the node is empty")]
    assert "'who' as node, 'what' as topic" in (read.notice or "")


def test_a_path_with_a_scheme_is_listed_and_read_through_hadoop(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(as_csv(STRANGE)))
    (tmp_path / "b c.csv.snappy").write_bytes(compressed(b"who,what\nu,v,w\n", "snappy"))
    table = read_table(spark, interest_source(f"file://{tmp_path}"))
    assert rejects_of(table) == [
        (f"file://{tmp_path}/b c.csv.snappy", "u,v,w", "too many fields: 3 where the first row has 2")
    ]
    assert "who,what" in (table.notice or "")
    assert rows_of(table) == Counter(STRANGE)
    with pytest.raises(InputError, match="no such file or folder: file:/nowhere"):
        read_table(spark, interest_source("file:/nowhere"))


def test_a_build_folder_stands_for_its_tables(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text("{}")
    as_parquet([("a", "x")], tmp_path / "interest.parquet")
    pq.write_table(pa.table({"u": ["a"], "v": ["b"]}), tmp_path / "edges.parquet")
    pq.write_table(pa.table({"file": ["f"], "row": ["r"], "reason": ["s"]}), tmp_path / "rejects.parquet")
    assert rows_of(read_table(spark, interest_source(tmp_path))) == Counter([("a", "x")])
    assert rows_of(read_table(spark, edges_source(f"{tmp_path}/"))) == Counter([("a", "b")])
