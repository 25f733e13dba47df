"""Both engines read, build and prove alike: bytes of results, rejects, notices, verdicts and refusals.

What fails here is a table that means one thing to Spark and another to `--engine local`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.tables import as_csv, as_json, as_tsv, compressed
from topicloom.cli.main import execute
from topicloom.errors import TopicloomError
from topicloom.tables.local import limits
from topicloom.tables.local.read import LocalReader
from topicloom.tables.reader import TableReader, write_rejects
from topicloom.tables.source import TableSource, edges_source, interest_source, records_source
from topicloom.tables.spark.read import SparkReader

PAIRS = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("ü,1", 'q"q'), (" d", "x"), ("a", "x")]
STRANGE = [
    ('"Weird Al"', " x"),
    ("08001", "8001"),
    ("NaN", "null"),
    ("a\rb", "\rc"),
    ("a\x00b", "é́"),
    ("👩‍🚀", "\\N"),
]
BAD = b'node,topic\na,x\n\nx\nx,y,z\n,y\nx,\nx\xff,y\n"x,y\nb,x\n"q"r,s\nc,"x"\n'


def parquet(path: Path, **columns: Any) -> None:
    pq.write_table(pa.table(columns), path)


def text(name: str, data: bytes) -> Any:
    return lambda folder: (folder / name).write_bytes(data)


def table(name: str = "t.parquet", **columns: Any) -> Any:
    return lambda folder: parquet(folder / name, **columns)


def several(*makers: Any) -> Any:
    return lambda folder: [make(folder) for make in makers]


ROLES = (
    b"node,topic,role,rate\na,x,sub,1\na,x,pub,2.5\nb,x,pub,\nc,x,both,1e2\nd,y,pub,3\ne,y,nobody,1\ne,x,,2\n"
)
INVALID = pa.StringArray.from_buffers(
    2, pa.py_buffer(np.array([0, 3, 4], np.int32).tobytes()), pa.py_buffer(b"a\xffbc")
)
ODD = "".join(map(chr, range(33))) + '\x7f\u2028"\\/é😀'
RATES = [-1.0, float("inf"), -1e-7, -1e10, -123456789.0, -0.001, -0.0009, -5.5e300, float("nan"), 2.0, None]
FLOATS = pa.array([-0.1, -1e10, 1.5], pa.float32())
DECIMALS = [
    None if word is None else Decimal(word) for word in ("1.50", "0.00000001", "3", None, "5", "1.5", "3")
]
UNSIGNED = {"node": pa.array([2**63 + 5], pa.uint64()), "topic": pa.array([3], pa.uint8())}
ODD_NAMES = {"a b": ["a"], "c`d": ["b"], "e.f": ["c"]}
LATIN = "node,topic\nJürgen,x\nb,é\nc,x\nd,ä\nJürgen,y\n".encode("latin-1")
WINDOWS = b"node,topic,role\n\x93a\x94,x,\nb\x81,x,sub\nc,x,\n\x80,\xe9,pub\nd,z,w\xe9\n"
# What lies in the folder, and how the table in it is described.
CASES: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "csv": (text("t.csv", as_csv(PAIRS)), "t.csv", {}),
    "strange csv": (text("t.csv", as_csv(STRANGE)), "t.csv", {}),
    "bom and crlf": (text("t.csv", b"\xef\xbb\xbf" + as_csv(PAIRS, end="\r\n")), "t.csv", {}),
    "last carriage return": (text("t.csv", b"node,topic\na,x\r\nb,x\r"), "t.csv", {}),
    "tsv": (text("t.tsv", as_tsv(PAIRS)), "t.tsv", {}),
    "quoted tsv": (text("t.tsv", b'node\ttopic\n"a\tb"\tx\n"c"\ty\n'), "t.tsv", {"quote": True}),
    "json": (text("t.jsonl", as_json(PAIRS) + b'bad\n{"node": 1.0, "topic": 1e3}\n'), "t.jsonl", {}),
    "json keys": (text("t.jsonl", b'{"who": 1, "what": "x"}\n[]\n{"what": "z"}\n'), "t.jsonl", {}),
    "separator": (text("t.csv", as_csv(PAIRS).replace(b'","', '"¦"'.encode())), "t.csv", {"separator": "¦"}),
    "no header": (text("t.csv", b"a,x\nb,x\nc,y,z\n"), "t.csv", {"header": False}),
    "strange header": (text("t.csv", b"user,genre\nu,g\nv,g\n"), "t.csv", {}),
    "latin-1": (text("t.csv", LATIN), "t.csv", {}),
    "read as latin-1": (text("t.csv", LATIN), "t.csv", {"encoding": "latin-1"}),
    "windows": (text("t.csv.gz", compressed(WINDOWS, "gz")), "t.csv.gz", {"encoding": "windows-1252"}),
    "windows plain": (text("t.csv", WINDOWS), "t.csv", {"encoding": "windows-1252"}),
    "odd separator": (
        text("t.csv", b'n\xf6de\xa6topic\n"\xe9\na"\xa6x\nb\xa6x\n'), "t.csv",
        {"encoding": "latin-1", "separator": "¦", "multiline": True},
    ),
    "json in latin-1": (
        text("t.jsonl", b'{"node": "\xe9", "topic": "x"}\n{"node": "\xe9", "topic": ""}\n'), "t.jsonl",
        {"encoding": "latin-1"},
    ),
    "empty cells": (
        several(
            text("a.csv", b'node,topic,role,rate\na,x,,\nb,x,"",""\nc,y,pub,1\nd,y,,x\n'),
            text("b.csv", b"node,topic,role,rate\na,x,,\nb,x,,2\n"),
        ),
        "",
        {},
    ),
    "empty values": (
        text("t.jsonl", b'{"node":"a","topic":"x","role":"","rate":""}\n{"node":"b","topic":"x","rate":2}\n'),
        "t.jsonl",
        {},
    ),
    "columns": (text("t.csv", b"user,genre,year\nu,g,1\nv,g,2\n"), "t.csv", {"first": "3", "second": "user"}),
    "multiline": (text("t.csv", b'"no\nde",topic\r\n"a\r\nb",x\r\nc,"x\n\n"'), "t.csv", {"multiline": True}),
    "bad rows": (text("t.csv", BAD), "t.csv", {}),
    "roles": (text("t.csv", ROLES), "t.csv", {}),
    "folder": (
        several(
            text("a.csv", b"topic,extra,node\nt1,,n1\nt2,x\n"),
            text("b.csv", b"node,topic,role\nn2,t1,pub\nn3,t3,nobody\n"),
            text("c.csv", b""),
            text("d e%20[1].csv.gz", compressed(as_csv(PAIRS), "gz")),
            text("t12:30.csv.bz2", compressed(as_csv(PAIRS), "bz2")),
            text("{x}.csv.zst", compressed(b"user,genre\nu,t1\n", "zst")),
            text("z.csv.snappy", compressed(b"user,genre\nv,t1\n", "snappy")),
            text("_SUCCESS", b""),
        ),
        "",
        {},
    ),
    "parquet": (
        table(node=[1, -2, None, 4, 5, 6, 7], topic=DECIMALS,
              role=["sub", "both", "sub", "sub", "publisher", None, ""],
              rate=pa.array([0, 1, 1, 1, 1, None, 2], pa.uint32())),
        "t.parquet",
        {},
    ),
    "parquet numbers": (table(node=["a"] * 11, topic=["x"] * 11, rate=RATES), "t.parquet", {}),
    "parquet floats": (
        table(node=["a"] * 3, topic=["x"] * 3, rate=FLOATS), "t.parquet", {},
    ),
    "parquet texts": (
        table(node=[ODD, "", "a", "b", "c"], topic=["", *"xyzx"], rate=["1", "2", "1e999", " 1", "1e2"]),
        "t.parquet",
        {},
    ),
    "parquet decimals": (
        table(node=["a"] * 3, topic=["x"] * 3, rate=pa.array([Decimal("-1.50"), Decimal("0.1"), None])),
        "t.parquet",
        {},
    ),
    "parquet invalid": (table(node=INVALID, topic=["x", "x"]), "t.parquet", {}),
    "parquet types": (
        table(node=pa.array(["a", "b"]).dictionary_encode(), topic=pa.array(["x", "x"], pa.large_string()),
              role=pa.nulls(2), rate=pa.nulls(2)),
        "t.parquet",
        {},
    ),
    "parquet unsigned": (table(**UNSIGNED), "t.parquet", {}),
    "parquet columns": (table(**ODD_NAMES), "t.parquet", {"first": "2", "second": "e.f"}),
    "parquet notice": (table(**{"a b": ["a"], "c`d": ["b"]}), "t.parquet", {}),
    "parquet empty": (
        table(node=["a", "b", "c", ""], topic=["x", "x", "y", "z"], role=["", None, "pub", "x"],
              rate=["", "1", None, "x"]),
        "t.parquet",
        {},
    ),
    "parquet folder": (
        several(
            table("a b%20+[1].parquet", node=["a", ""], topic=["x", "x"]),
            table("t12:30.parquet", topic=["y", ""], node=["b", "c"], role=["pub", "sub"]),
            table("z.parquet", topic=["x"], rate=[1.5]),
        ),
        "",
        {},
    ),
}  # fmt: skip
UNUSABLE: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "missing": (several(), "no.csv", {}),
    "ending": (text("t.txt", b"a,b\n"), "t.txt", {}),
    "empty": (text("t.csv", b""), "t.csv", {}),
    "header only": (text("t.csv", b"node,topic\n"), "t.csv", {}),
    "one column": (text("t.csv", b"node\na\n"), "t.csv", {}),
    "semicolons": (text("t.csv", b"node;topic;rate\na;x;1,5\n"), "t.csv", {}),
    "three columns": (text("t.csv", b"user,genre,year\nu,g,1\n"), "t.csv", {}),
    "three keys": (text("t.jsonl", b'{"who": 1, "what": "x", "rate": 2}\n'), "t.jsonl", {}),
    "three fields": (text("t.csv", b"u,g,1\n"), "t.csv", {"header": False}),
    "three in parquet": (table(**ODD_NAMES), "t.parquet", {}),
    "header in latin-1": (text("t.csv", b"n\xf6de,topic\na,x\n"), "t.csv", {}),
    "header of windows": (text("t.csv", b"n\x81de,topic\na,x\n"), "t.csv", {"encoding": "windows-1252"}),
    "damaged": (text("t.csv.gz", compressed(as_csv(PAIRS * 99), "gz")[:-30]), "t.csv.gz", {}),
    "header": (text("t.csv", b'"a,b\nc,d\n'), "t.csv", {}),
    "column": (table(node=["a"], topic=["x"]), "t.parquet", {"first": "nobody"}),
    "formats": (several(text("a.csv", b"a,b\n"), text("b.tsv", b"a\tb\n")), "", {}),
    "not parquet": (text("t.parquet", b"PAR1PAR1"), "t.parquet", {}),
    "type": (table(node=["a"], topic=pa.array([[1]])), "t.parquet", {}),
    "role type": (table(node=["a"], topic=["x"], role=[True]), "t.parquet", {}),
    "date": (table(node=["a"], topic=pa.array([1], pa.date32())), "t.parquet", {}),
    "other types": (several(table("a.parquet", node=[1], topic=[2]), table(node=["a"], topic=[2])), "", {}),
}  # fmt: skip


def told(reader: TableReader, described: TableSource) -> Any:
    """What a reader says of a table: rows in order, rejects, notice; or why it cannot be used."""
    try:
        raw = reader.read(described)
        rows = sorted(map(str, raw.to_arrow().to_pylist()))
        rejects = raw.sorted_rejects().to_pylist()
        found = raw.names, rows, rejects, raw.notice, raw.refused()
        raw.release()
    except TopicloomError as error:
        return type(error), str(error)
    return found


@pytest.mark.parametrize("case", [*CASES, *UNUSABLE])
def test_a_table_means_the_same_to_both_readers(spark, tmp_path, case):
    make, path, choices = (CASES | UNUSABLE)[case]
    (tmp_path / "t").mkdir()
    make(tmp_path / "t")
    described = interest_source(tmp_path / "t" / path, **choices)
    here, there = told(LocalReader(), described), told(SparkReader(spark), described)
    assert here == there
    if "parquet" not in case:  # which Spark reads in one way only
        assert here == told(SparkReader(spark, collect=True), described)
    assert (len(here) == 2) == (case in UNUSABLE and case != "header only")


def test_the_file_of_rejects_has_the_same_bytes(spark, tmp_path):
    for case in ("folder", "parquet"):
        make, path, choices = CASES[case]
        (tmp_path / case).mkdir()
        make(tmp_path / case)
        for name, reader in (("here", LocalReader()), ("there", SparkReader(spark))):
            write_rejects(reader.read(interest_source(tmp_path / case / path, **choices)), tmp_path / name)
        assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes(), case


def test_logs_and_edges_mean_the_same_to_both_readers(spark, tmp_path):
    from topicloom.content.traffic.publication_log import log_columns

    times = {
        "number": pa.array([0.0, 1.5, 40.0, float("nan")]),
        "moment": pa.array([0, 1_500_000, -3, None], pa.timestamp("us", "UTC")),
        "local": pa.array([0, 1_500, 40_000, 1], pa.timestamp("ms")),
        "date": pa.array([0, 1, 40, None], pa.date32()),
        "text": ["1970-01-01T00:00:00Z", "1970-01-01 01:00:01.5+01:00", "2024-02-30", "7e1"],
    }
    for name, time in times.items():
        parquet(tmp_path / f"{name}.parquet", publisher=["p", "q", "r", "s"], time=time, x=[1, -2, 3, None])
        log = records_source(str(tmp_path / f"{name}.parquet"), "log", log_columns(["x"], "subs.csv"))
        assert told(LocalReader(), log) == told(SparkReader(spark), log), name
    (tmp_path / "e.csv").write_bytes(b"from,to\na,b\nb\n")
    edges = edges_source(tmp_path / "e.csv")
    assert told(LocalReader(), edges) == told(SparkReader(spark), edges)


WORDS = st.text(st.sampled_from('ab,"\r\t é;\\'), max_size=4)
FILES = st.tuples(
    st.lists(st.lists(WORDS, min_size=1, max_size=4), max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", ".gz", ".zst"]),
)


@given(st.lists(FILES, min_size=1, max_size=6), st.sampled_from(["csv", "tsv"]), st.booleans())
@examples(8)
def test_random_tables_mean_the_same_to_both_readers(spark, tmp_path_factory, files, kind, header):
    folder = tmp_path_factory.mktemp("random")
    separator = {"csv": ",", "tsv": "\t"}[kind]
    for number, (rows, end, ending) in enumerate(files):
        lines = [["node", "topic", "rate"], ["a", "x", "1"], *rows] if header else [["a", "x"], *rows]
        data = end.join(separator.join(row) for row in lines).encode()
        (folder / f"{number}.{kind}{ending}").write_bytes(compressed(data, ending[1:]))
    described = interest_source(folder, header=header)
    here = told(LocalReader(), described)
    assert here == told(SparkReader(spark), described)
    assert here == told(SparkReader(spark, collect=True), described)


# --- whole commands --------------------------------------------------------------------------------------


@pytest.fixture
def both(cli, tmp_path):
    """Run a command on both engines; `{out}` is a folder of each engine's own."""

    def run(*arguments: object) -> list[tuple[int, Any, str]]:
        results = []
        for engine in ("local", "auto"):
            out = tmp_path / f"{engine}-out"
            words = [str(word).replace("{out}", str(out)) for word in arguments]
            code, shown, said = cli(*words, "--engine", engine, "--json", "--quiet")
            found = json.loads(shown) if shown else None
            for key in ("seconds", "phases"):
                if found is not None:
                    found.pop(key, None)
            results.append((code, found, said.replace(f"{engine}-out", "OUT")))
        assert results[0] == results[1]
        return results

    return run


@pytest.fixture
def cli(spark, capsys):
    def run(*arguments: object) -> tuple[int, str, str]:
        code = execute([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.mark.parametrize(
    ("case", "more"),
    [
        ("bad rows", ()),
        ("latin-1", ()),
        ("latin-1", ("--encoding", "latin-1")),
        ("roles", ()),
        ("roles", ("--subscribers-only",)),
        ("folder", ("--allow-rejects",)),
        ("parquet", ()),
    ],
)
def test_builds_have_the_same_bytes(both, tmp_path, case, more):
    make, path, _ = CASES[case]
    (tmp_path / "t").mkdir()
    make(tmp_path / "t")
    here, _ = both("build", tmp_path / "t" / path, "--algorithm", "gm", "--out", "{out}", *more)
    assert here[0] == (here[1]["rejected"] > 0 and "--allow-rejects" not in more)
    here, there = tmp_path / "local-out", tmp_path / "auto-out"
    names = {file.name for file in here.iterdir()}
    assert names == {file.name for file in there.iterdir()} and "edges.parquet" in names
    for name in names - {"summary.json"}:
        assert (here / name).read_bytes() == (there / name).read_bytes(), name


def test_verdicts_and_witnesses_are_the_same(both, cli, tmp_path):
    (tmp_path / "i.csv").write_bytes(as_csv([*PAIRS, ("e", "y"), ("f", "z"), ("g", "z")]))
    (tmp_path / "e.csv").write_bytes(b"u,v\na,b\nb,a\nb,b\nb,stranger\nc,other\nx\nc,b\n")
    tables = tmp_path / "i.csv", tmp_path / "e.csv"
    for ending in ("jsonl", "json", "parquet"):
        code, found, said = both("verify", *tables, "--all", f"{{out}}.{ending}")[0]
        assert (code, found["topics_partitioned"]) == (1, 3) and "1 row was refused" in said
        written = [(tmp_path / f"{name}-out.{ending}").read_bytes() for name in ("local", "auto")]
        assert written[0] == written[1]
    assert both("verify", *tables, "--strict")[0][0] == 2
    both("measure", *tables)
    both("inspect", tables[0])
    assert cli("build", tables[0], "--out", tmp_path / "b", "--quiet", "--engine", "local")[0] == 0
    assert both("verify", tables[0], tmp_path / "b")[0][0] == 0
    (tmp_path / "other.csv").write_bytes(as_csv(PAIRS[:3]))
    assert "made for another interest" in both("verify", tmp_path / "other.csv", tmp_path / "b")[0][2]
    assert "made for another interest" in both("measure", tmp_path / "other.csv", tmp_path / "b")[0][2]


def test_figures_on_spark_are_those_of_the_local_engine_where_they_are_known(cli, tmp_path):
    (tmp_path / "i.csv").write_bytes(as_csv([*PAIRS, ("e", "y"), ("f", "z"), ("g", "z")]))
    (tmp_path / "e.csv").write_bytes(b"u,v\na,b\nb,a\nb,b\nb,stranger\nc,other\nx\nc,b\n")
    tables = (tmp_path / "i.csv", tmp_path / "e.csv")
    here, there = (
        json.loads(cli("measure", *tables, "--engine", engine, "--json", "--quiet")[1])
        for engine in ("local", "spark")
    )
    unknown = there.pop("unknown")
    assert {key for key, value in there.items() if value is None} == {*unknown}
    assert {"splits_avg", "bridges", "diameter_overlay", "filtering_cost"} < {*unknown}
    for key in {*here} - {*unknown, "seconds"}:
        assert there[key] == here[key], key
    assert set(there) == set(here)
    here, there = (
        json.loads(cli("inspect", tables[0], "--engine", engine, "--json", "--quiet")[1])
        for engine in ("local", "spark")
    )
    assert there == here
    code, _, said = cli("measure", *tables, "--engine", "spark", "--strict", "--quiet")
    assert code == 2 and "refused" in said
    (tmp_path / "e.csv").write_bytes(b"u,v\na,b\nb,a\nb,b\n")
    code, _, said = cli("measure", *tables, "--engine", "spark", "--strict", "--quiet")
    assert code == 2 and "1 self loops, 1 duplicate edges" in said
    code, shown, said = cli("measure", *tables, "--engine", "spark", "--certify")
    shown += said
    assert code == 0 and "not known, because one task would have to hold the whole overlay" in shown
    assert "any topic-connected overlay has at least" in shown


def test_constraints_are_read_alike(both, tmp_path):
    (tmp_path / "i.csv").write_bytes(as_csv(PAIRS))
    (tmp_path / "caps.csv").write_bytes(b"node,cap\n*,3\na,1\n")
    (tmp_path / "forbid.csv").write_bytes(b"u,v\na,b\n")
    (tmp_path / "costs.csv").write_bytes(b"u,v,cost\na,b,2\nb,c,0\n")
    limits = ("--caps", tmp_path / "caps.csv", "--forbid", tmp_path / "forbid.csv")
    both("build", tmp_path / "i.csv", "--out", "{out}", *limits)
    refused = both("build", tmp_path / "i.csv", "--out", "{out}", "--costs", tmp_path / "costs.csv")[0]
    assert refused[0] == 2 and "1 row was refused" in refused[2]


def test_a_simulation_and_a_comparison_start_from_the_same_interest(both, tmp_path):
    (tmp_path / "i.csv").write_bytes(as_csv(PAIRS))
    both("simulate", tmp_path / "i.csv")
    here, _ = both("verify", "--mosquitto", tmp_path, tmp_path / "i.csv")
    assert here[0] == 2  # no configuration there, and both say so


def test_what_is_too_large_or_far_is_read_by_spark_and_a_notice_says_so(cli, tmp_path, monkeypatch):
    (tmp_path / "i.csv").write_bytes(as_csv(PAIRS))
    pq.write_table(pa.table({"node": ["a", "b"], "topic": ["x", "x"]}), tmp_path / "i.parquet")
    code, _, said = cli("inspect", f"file://{tmp_path}/i.csv", "--engine", "local", "--quiet")
    assert code == 0 and "--engine local is for files of this machine" in said
    assert f"file://{tmp_path}/i.csv is an address, so Spark reads it" in said
    monkeypatch.setattr(limits, "LOCAL_BYTES", 10)
    monkeypatch.setattr(limits, "LOCAL_ROWS", 1)
    for name in ("i.csv", "i.parquet"):
        code, _, said = cli("build", tmp_path / name, "--engine", "local", "--quiet", "--out", tmp_path / "b")
        assert code == 0 and said.count(f"{tmp_path}/{name} is larger, so Spark reads it") == 1


def test_traffic_is_the_same(both, tmp_path, monkeypatch):
    from topicloom.content.traffic import publication_log

    rows = "".join(f"p{i % 3},{i / 8},{i * 7 % 40 / 4 - 1},{i * 5 % 31 / 4}\n" for i in range(90))
    (tmp_path / "log.csv").write_text(f"publisher,time,x,y\n{rows}p,bad,1,1\n")
    subs = "".join(f"u{i % 4},{i},{'xy'[i % 2]},{i % 5},{i % 5 + 3}\n" for i in range(12))
    (tmp_path / "subs.csv").write_text(f"user,subscription,attribute,low,high\n{subs}")
    (tmp_path / "brokers.csv").write_text("broker,capacity\nB,100\nC,100\n")
    people = ["p0", "p1", "p2", "u0", "u1", "u2", "u3"]
    named = "".join(f"user,{name},{k},0\n" for k, name in enumerate(people))
    (tmp_path / "places.csv").write_text(f"kind,id,x,y\nbroker,B,0,0\nbroker,C,5,5\n{named}")
    for sample in (20, 5):
        monkeypatch.setattr(publication_log, "SAMPLE_ROWS", sample)
        both("content", "traffic", "--log", tmp_path / "log.csv", "--subscriptions", tmp_path / "subs.csv",
             "--brokers", tmp_path / "brokers.csv", "--coordinates", tmp_path / "places.csv",
             "--channels", "6", "--out", "{out}")  # fmt: skip
        for file in (tmp_path / "local-out").glob("*.parquet"):
            assert file.read_bytes() == (tmp_path / "auto-out" / file.name).read_bytes(), file.name
    users = "".join(f"{name},B\n" for name in people)
    (tmp_path / "plan.csv").write_text(f"user,broker\n{users}")
    both("content", "cost", tmp_path / "local-out", tmp_path / "plan.csv")


def test_without_spark_nothing_of_it_is_loaded(tmp_path):
    """Loading pyspark alone takes longer than reading a small table."""
    (tmp_path / "i.csv").write_bytes(as_csv(PAIRS))
    commands = [
        [
            "build",
            str(tmp_path / "i.csv"),
            "--out",
            str(tmp_path / "b"),
            "--algorithm",
            "gm",
            "--engine",
            "local",
        ],
        ["verify", str(tmp_path / "i.csv"), str(tmp_path / "b"), "--engine", "local"],
        ["inspect", str(tmp_path / "b")],
        ["verify", str(tmp_path / "b"), str(tmp_path / "b")],
        ["measure", str(tmp_path / "b"), str(tmp_path / "b")],
        ["simulate", str(tmp_path / "b")],
        ["compare", str(tmp_path / "b"), "--algorithms", "gm,ring-pt"],
        ["build", str(tmp_path / "b"), "--start", str(tmp_path / "b"), "--out", str(tmp_path / "c")],
    ]
    script = (
        "import sys, topicloom\n"
        "from topicloom.cli.main import execute\n"
        f"for words in {commands!r}:\n"
        "    assert execute([*words, '--quiet', '--json']) == 0, words\n"
        f"topicloom.read({str(tmp_path / 'i.csv')!r}, engine='local')\n"
        "assert not {'pyspark', 'py4j'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
