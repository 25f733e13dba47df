"""`topicloom improve`: any overlay in, a proved better one out; resumed, refused, told. No Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from naive.overlays import random_interest, ring_per_topic
from topicloom import improve, load_build
from topicloom.cli.main import execute

INTEREST = random_interest(40, 8, 3, seed=3)
LOCAL = ("--engine", "local")


@pytest.fixture
def cli(capsys):
    """Run a command in this process; gives exit code, stdout and stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = execute([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "table.csv"
    INTEREST.to_pandas().to_csv(path, index=False)
    return path


@pytest.fixture
def edges(tmp_path) -> Path:
    path = tmp_path / "edges.csv"
    ring_per_topic(INTEREST).to_pandas().to_csv(path, index=False)
    return path


def test_a_table_of_edges_becomes_a_proved_build(cli, table, edges, tmp_path):
    out = tmp_path / "out"
    code, stdout, _ = cli("improve", table, edges, *LOCAL, "--rounds", 4, "--out", out, "--json")
    summary = json.loads((out / "summary.json").read_text())
    assert code == 0 and summary == json.loads(stdout)
    start = ring_per_topic(INTEREST)
    assert summary["edges"] < start.n_edges == summary["report"]["edges_start"]
    assert summary["degree_max"] <= int(start.degrees().max()) and summary["topic_connected"]
    assert cli("verify", table, out, *LOCAL)[0] == 0
    # A ring survives a death, and so does what came of it: no bound that held is broken.
    assert summary["survival"]["survive"] == summary["report"]["bounds"]["survive"] == 1
    again = improve(INTEREST, start, rounds=4)
    assert again.n_edges == summary["edges"]


def test_a_run_goes_on_under_the_bounds_of_the_first(cli, table, edges, tmp_path):
    out = tmp_path / "out"
    cli("improve", table, edges, *LOCAL, "--rounds", 2, "--out", out)
    first = json.loads((out / "summary.json").read_text())
    code, _, _ = cli("improve", table, edges, *LOCAL, "--rounds", 2, "--out", out, "--resume")
    second = json.loads((out / "summary.json").read_text())
    assert code == 0 and second["edges"] <= first["edges"] and second["report"]["runs"] == 2
    for key in ("bounds", "edges_start", "objective_start"):
        assert second["report"][key] == first["report"][key]
    assert second["parameters"]["max_degree"] == "auto"
    options = ("--out", out, "--resume", "--objective", "hops")
    code, _, stderr = cli("improve", table, edges, *LOCAL, *options)
    assert code == 2 and "was improved with objective=edges, not hops" in stderr


def test_split_topics_are_joined_first(cli, table, tmp_path):
    edges, out = tmp_path / "edges.csv", tmp_path / "out"
    edges.write_text("u,v\nn0001,n0002\n")
    code, stdout, _ = cli("improve", table, edges, *LOCAL, "--rounds", 2, "--out", out)
    assert code == 0 and "put in to join what was split" in stdout and "proved: each" in stdout
    assert load_build(out).report["edges_joining"] > 0


def test_caps_without_room_end_with_1_and_name_a_node(cli, table, edges, tmp_path):
    caps = tmp_path / "caps.csv"
    caps.write_text("node,cap\nn0001,1\n")
    options = ("--rounds", 2, "--out", tmp_path / "out", "--caps", caps)
    code, stdout, stderr = cli("improve", table, edges, *LOCAL, *options)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert code == 1 and summary["report"]["nodes_above_cap"] == ["n0001"]
    assert "'n0001' has more edges than its cap" in stdout + stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--objective", "speed"], "--objective speed"),
        (["--objective", "cost"], "--objective cost needs --costs"),
        (["--survive", "5"], "--survive 5"),
        (["--resume"], "--resume"),
        (["--start", "x.csv"], "--require names edges to keep"),
        (["--survive", "1", "--extra-edges", "5%"], "--extra-edges 5 goes without --survive 1"),
        (["--max-hops", "0"], "--max-hops 0"),
        (["--caps", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(cli, table, edges, tmp_path, options, said):
    out = tmp_path / "out"
    code, _, stderr = cli("improve", table, edges, *LOCAL, "--out", out, *options)
    assert code == 2 and said in stderr and "Traceback" not in stderr and not out.exists()


def test_a_build_of_another_table_is_refused(cli, table, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("node,topic\na,x\nb,x\n")
    cli("build", other, *LOCAL, "--out", tmp_path / "build")
    code, _, stderr = cli("improve", table, tmp_path / "build", *LOCAL, "--out", tmp_path / "out")
    assert code == 2 and "Traceback" not in stderr
