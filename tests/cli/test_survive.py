"""Survival on the command line: built, proved by the judge, refused where it does not hold. No Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from naive.overlays import random_interest
from naive.survival import naive_fragile
from topicloom import load_build, verify
from topicloom.cli.main import execute


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
    random_interest(30, 6, 2, seed=3).to_pandas().to_csv(path, index=False)
    return path


def test_a_build_that_survives_is_proved_and_stays_proved(cli, table, tmp_path):
    out = tmp_path / "out"
    code, stdout, _ = cli("build", table, "--engine", "local", "--survive", "1", "--out", out)
    assert code == 0 and "each topic survives the death of any node" in stdout
    summary = json.loads((out / "summary.json").read_text())
    proof = {"survive": 1, "survives": True, "topics_fragile": 0, "fragile": []}
    assert summary["survival"] == proof and summary["parameters"]["survive"] == 1
    made = load_build(out)
    assert not naive_fragile(made.interest, made.overlay, 1)
    code, stdout, _ = cli("verify", table, out, "--engine", "local", "--survive", "1", "--json")
    assert code == 0 and json.loads(stdout)["survival"] == proof


def test_an_overlay_without_one_edge_is_refused_with_a_witness(cli, table, tmp_path):
    out = tmp_path / "out"
    cli("build", table, "--engine", "local", "--survive", "1", "--out", out)
    rows = load_build(out).overlay.to_pandas()
    rows.iloc[1:].to_csv(tmp_path / "edges.csv", index=False)
    code, stdout, _ = cli("verify", table, tmp_path / "edges.csv", "--engine", "local", "--survive", "1")
    assert code == 1 and "NOT proved" in stdout and "are apart when" in stdout
    verdict = verify(load_build(out), rows.iloc[1:], survive=1)
    assert verdict.topic_connected and not verdict.holds
    (dead,) = verdict.survival.fragile[0].dead
    assert dead in load_build(out).interest.node_names(verdict.survival.fragile[0].topic)


def test_caps_that_are_too_low_end_with_1_and_name_a_topic(cli, table, tmp_path):
    caps = tmp_path / "caps.csv"
    caps.write_text("node,cap\n*,3\n")
    out = tmp_path / "out"
    code, stdout, stderr = cli(
        "build", table, "--engine", "local", "--survive", "2", "--caps", caps, "--out", out
    )
    said, summary = stdout + stderr, json.loads((out / "summary.json").read_text())
    assert code == 1 and "no overlay that survives was found" in said
    assert summary["degree_max"] <= 3 and not summary["survival"]["survives"]
    assert repr(summary["survival"]["fragile"][0]["topic"]) in said
    assert summary["report"]["topics_fragile_count"] == summary["survival"]["topics_fragile"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--survive", "3"], "survive=3"),
        (["--survive", "1", "--extra-edges", "5%"], "--extra-edges 5 goes without --survive 1"),
        (["--survive", "1", "--algorithm", "gm"], "gm does not let topics survive deaths"),
        (["--extra-edges", "many"], "extra_edges=many"),
    ],
)
def test_what_cannot_be_is_refused(cli, table, tmp_path, options, said):
    code, _, stderr = cli("build", table, "--engine", "local", "--out", tmp_path / "out", *options)
    assert code == 2 and said in stderr and "Traceback" not in stderr


def test_a_table_that_needs_no_edge(cli, tmp_path):
    table = tmp_path / "one.csv"
    table.write_text("node,topic\na,x\n")
    code, stdout, _ = cli("build", table, "--engine", "local", "--survive", "1", "--out", tmp_path / "out")
    assert code == 0 and "0 edges more than without" in stdout


def test_extra_edges_are_told(cli, table, tmp_path):
    options = ("--engine", "local", "--out", tmp_path / "out")
    code, stdout, _ = cli("build", table, *options, "--extra-edges", "10%")
    assert code == 0 and "to save splits by the death of a node:" in stdout
