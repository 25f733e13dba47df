"""`topicloom content simulate` as a user meets it: folder in, rounds, a chart and a summary out."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

KEYS = {
    "format", "kind", "users", "brokers", "rounds", "cost_start", "cost_end", "cost_central", "cost_random",
    "migrations", "control_messages", "messages_per_migration", "events", "seconds", "overflow", "seed",
}  # fmt: skip


@pytest.fixture
def folder(cli, tmp_path):
    size = ("--users", 40, "--brokers", 3, "--channels", 8, "--width", 0.3, "--seed", 1)
    assert cli("content", "generate", tmp_path / "problem", *size, "--quiet")[0] == 0
    return tmp_path / "problem"


def test_a_course_is_written_and_told(cli, folder, tmp_path):
    out = tmp_path / "course"
    words = ("--set", "rounds=6", "--set", "deliveries=100", "--seed", 4)
    code, stdout, _ = cli("content", "simulate", folder, *words, "--out", out, "--json", "--quiet")
    summary = json.loads(stdout)
    assert code == 0 and summary.keys() >= KEYS
    assert summary["kind"] == "content-simulation" and summary["users"] == 40 and summary["brokers"] == 3
    assert summary["cost_end"] < summary["cost_start"]
    assert (
        summary["events"]["missing"] == summary["events"]["duplicates"] == 0 < summary["events"]["published"]
    )
    assert json.loads((out / "summary.json").read_text())["cost_end"] == summary["cost_end"]
    rounds = pq.read_table(out / "rounds.parquet").to_pylist()
    assert [row["round"] for row in rounds] == list(range(summary["rounds"] + 1))
    assert rounds[-1]["cost"] == summary["cost_end"]
    assert (out / "rounds.png").read_bytes().startswith(b"\x89PNG")
    code, stdout, _ = cli("content", "cost", folder, out / "assignment.parquet", "--json", "--quiet")
    assert json.loads(stdout)["cost"] == pytest.approx(summary["cost_end"]), (
        "the last assignment, judged anew"
    )
    # A second run takes the place of the first, and is the same but for the time it took.
    code, stdout, _ = cli("content", "simulate", folder, *words, "--out", out, "--json", "--quiet")
    again = json.loads(stdout)
    assert code == 0 and {**again, "seconds": 0} == {**summary, "seconds": 0}


def test_people_read_a_table(cli, folder):
    words = ("--set", "rounds=3", "--set", "events=false", "--set", "central=none")
    code, stdout, _ = cli("content", "simulate", folder, *words)
    assert code == 0
    assert "migrations" in stdout and "random plans cost" in stdout and "deliveries" not in stdout
    assert "knows everything" not in stdout


def test_rules_and_parameters_are_listed(cli):
    code, stdout, _ = cli("content", "simulate", "--rules")
    assert code == 0 and "redirecting" in stdout and "TOOK-OVER" in stdout
    code, stdout, _ = cli("content", "simulate", "--list", "--json")
    assert code == 0 and json.loads(stdout)["parameters"]["threshold"]["default"] == 0.02


def test_bad_usage_is_one_sentence(cli, folder, tmp_path):
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "precious.txt").write_text("mine")
    for arguments, what in (
        ((), "DIR is missing"),
        ((tmp_path / "nothing",), "not a folder"),
        ((folder, "--set", "rounds=0"), "rounds"),
        ((folder, "--set", "rounds"), "key=value"),
        ((folder, "--out", taken), "taken"),
    ):
        code, stdout, stderr = cli("content", "simulate", *arguments)
        assert code == 2 and what in stderr and stderr.count("\n") == 1 and not stdout, arguments
    assert (taken / "precious.txt").read_text() == "mine"
