"""`topicloom simulate` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from topicloom.overlay.workloads.laws import sample_path
from topicloom.spidercast.simulator.registry import PROTOCOLS

KEYS = {
    "nodes", "topics", "degree_avg", "degree_max", "topic_components", "topics_partitioned",
    "diameter_overlay", "diameter_topic_max", "messages_per_node", "simulated_seconds", "occurrences",
}  # fmt: skip
CHURN = ("--set=life=20", "--set=seconds=20", "--set=snapshot=5", "--set=publish=2", "--set=crash=0.5")


@pytest.fixture
def table() -> Path:
    return sample_path("px4")


def test_json_has_the_promised_keys_and_nothing_else_is_on_stdout(cli, table) -> None:
    code, stdout, _ = cli("simulate", table, "--no-header", "--set", "kg=3", "--json")
    summary = json.loads(stdout)
    assert code == 0
    assert summary.keys() >= KEYS
    assert summary["kind"] == "simulation"
    assert summary["nodes"] == 230
    assert summary["topic_connected"]
    assert summary["parameters"]["kg"] == 3
    assert {"ingest", "simulate", "total"} <= summary["seconds"].keys()


def test_the_folder_holds_the_course_and_the_last_overlay(cli, table, tmp_path) -> None:
    out = tmp_path / "course"
    code, stdout, _ = cli("simulate", table, "--no-header", *CHURN, "--out", out, "--json", "--seed", 3)
    assert code == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "course.png", "degrees.parquet", "degrees.png", "last", "links.parquet", "partitioned.parquet",
        "snapshots.parquet", "summary.json",
    ]  # fmt: skip
    summary = json.loads(stdout)
    assert json.loads((out / "summary.json").read_text()) == summary
    rows = pq.read_table(out / "snapshots.parquet").to_pylist()
    assert [row["time"] for row in rows] == [5.0, 10.0, 15.0, 20.0]
    assert rows[-1]["degree_avg"] == summary["degree_avg"]
    assert rows[-1]["missing"] == summary["events"]["missing"]
    histogram = pq.read_table(out / "degrees.parquet").to_pylist()
    last = [row for row in histogram if row["time"] == 20.0]
    assert sum(row["nodes"] for row in last) == summary["nodes_present"]
    assert sum(row["nodes"] * row["degree"] for row in last) == 2 * summary["links"]
    code, stdout, _ = cli("verify", out / "last", out / "last", "--json")
    assert json.loads(stdout)["topics_partitioned"] == summary["topics_partitioned"], "judged by Spark too"
    assert json.loads(stdout)["edges"] == summary["links"]
    measured = json.loads(cli("measure", out / "last", out / "last", "--json")[1])
    assert measured["degree_avg"] == pytest.approx(summary["degree_avg"])
    assert measured["diameter_topic_max"] == summary["diameter_topic_max"]


def test_a_report_of_a_cut_shows_it_without_being_asked_for_snapshots(cli, tmp_path) -> None:
    """A page with one moment, the last one, would say nothing of the cut."""
    (tmp_path / "t.csv").write_text("\n".join(["node,topic", *(f"n{i},t{i % 3}" for i in range(24))]) + "\n")
    (tmp_path / "cuts.csv").write_text("time,node,change\n5,n1,cut\n5,n2,cut\n9,n1,heal\n9,n2,heal\n")
    words = (
        "simulate",
        tmp_path / "t.csv",
        "--engine",
        "local",
        "--report",
        tmp_path / "page.html",
        "--quiet",
    )
    for setting, band in (("cut=5:9", (5, 9, 12)), (f"trace={tmp_path / 'cuts.csv'}", (5, 9, 2))):
        code, stdout, stderr = cli(*words, "--set", setting, "--json")
        assert code == 0, stderr
        summary, page = json.loads(stdout), (tmp_path / "page.html").read_text()
        start, end, nodes = band
        assert summary["outages"] == [{"kind": "cut", "start": start, "end": end, "nodes": nodes}]
        assert 10 < summary["snapshots"] <= 60
        assert summary["snapshots_partitioned"] >= 3, "the cut is seen"
        assert f"cut: {nodes} of 24 nodes do not reach the others" in page
    summary = json.loads(cli(*words, "--set", "snapshot=0", "--set", "cut=5:9", "--json")[1])
    assert summary["snapshots"] == 1, "as asked for"


def test_the_same_seed_gives_the_same_files(cli, table, tmp_path) -> None:
    for name in ("one", "two"):
        assert cli("simulate", table, "--no-header", *CHURN, "--out", tmp_path / name, "--quiet")[0] == 0
    for file in ("snapshots.parquet", "degrees.parquet", "last/edges.parquet", "course.png"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


def test_a_result_is_replaced_and_nothing_else(cli, table, tmp_path) -> None:
    out = tmp_path / "course"
    arguments = ("simulate", table, "--no-header", "--set", "seconds=2", "--out", out, "--quiet")
    assert cli(*arguments)[0] == 0
    assert cli(*arguments)[0] == 0
    (out / "notes.txt").write_text("mine")
    code, _, stderr = cli(*arguments)
    assert code == 2
    assert "holds something else" in stderr
    assert (out / "notes.txt").read_text() == "mine"


def test_a_simulation_does_not_take_the_place_of_a_build(cli, table, tmp_path) -> None:
    out = tmp_path / "build"
    assert cli("build", table, "--no-header", "--algorithm", "gm", "--out", out, "--quiet")[0] == 0
    assert cli("simulate", table, "--no-header", "--set", "seconds=2", "--out", out, "--quiet")[0] == 2
    assert (out / "edges.parquet").exists()


def test_people_are_told_what_happened(cli, table) -> None:
    code, stdout, _ = cli("simulate", table, "--no-header", *CHURN)
    assert code == 0
    for words in (
        "ran for 20.0 simulated seconds",
        "departures",
        "4 snapshots",
        "deliveries due were made",
        "copies sent",
    ):
        assert words in stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "view=0"], "view=0: a node that knows nobody"),
        (["--protocol", "chord"], "--protocol chord: choose one of spidercast"),
        (["--set", "latency=fast"], "latency=fast: it is no number"),
    ],
)
def test_bad_parameters_exit_2_with_one_sentence(cli, table, tmp_path, arguments, words) -> None:
    out = tmp_path / "out"
    code, stdout, stderr = cli("simulate", table, "--no-header", *arguments, "--out", out)
    assert (code, stdout) == (2, "")
    assert words in stderr
    assert len(stderr.strip().splitlines()) == 1
    assert not out.exists()


def test_a_trace_with_impossible_times_exits_2_and_names_the_line(cli, table, tmp_path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("time,node,change\n5,commander,leave\n4,commander,join\n")
    code, _, stderr = cli("simulate", table, "--no-header", "--set", f"trace={path}", "--quiet")
    assert code == 2
    assert f"{path} line 3: time 4 comes after 5" in stderr


def test_lists(cli) -> None:
    code, stdout, _ = cli("simulate", "--list")
    assert code == 0
    for name, protocol in PROTOCOLS.items():
        assert f"{name}: {protocol.aim}" in stdout
        for parameter in protocol.parameters:
            assert f"--set {parameter} " in stdout
    code, stdout, _ = cli("simulate", "--rules")
    assert code == 0
    assert "CONNECT-OK" in stdout
    assert "doubt the old root" in stdout
