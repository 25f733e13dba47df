"""`topicloom build --max-hops`: kept, missed, refused; what is printed and written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from topicloom.cli.main import execute
from topicloom.overlay.builders.registry import BUILDERS

NODES = 24
RING = "node,topic\n" + "".join(
    f"n{i:02},all\nn{i:02},t{i}\nn{(i + 1) % NODES:02},t{i}\n" for i in range(NODES)
)


@pytest.fixture
def cli(capsys):
    """Run a command in this process, without Spark; gives exit code, stdout and stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = execute([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "ring.csv"
    path.write_text(RING)
    return path


def test_a_bound_that_is_kept_is_told_and_written(cli, table, tmp_path):
    out = tmp_path / "out"
    options = ("--engine", "local", "--max-hops", "8", "--out", out)
    code, stdout, _ = cli("build", table, *options)
    assert code == 0 and "hops inside topics: at most" in stdout and "(asked for 8)" in stdout
    summary = json.loads((out / "summary.json").read_text())
    assert summary["parameters"]["max_hops"] == 8
    assert summary["report"]["hops_kept"] and summary["report"]["hops_max"] <= 8
    measured = json.loads(cli("measure", out, out, "--json", "--engine", "local")[1])
    assert measured["diameter_topic_max"] == summary["report"]["hops_max"]
    assert measured["hops_mean"] == summary["report"]["hops_mean"]


def test_a_number_that_cannot_be_kept_ends_with_1_and_names_topic_and_hops(cli, table, tmp_path):
    """Every node has two neighbors by its own topics; a cap of 3 leaves no room for all within two hops."""
    caps = tmp_path / "caps.csv"
    caps.write_text("node,cap\n*,3\n")
    out = tmp_path / "out"
    options = ("--engine", "local", "--max-hops", "2", "--caps", caps, "--out", out)
    code, stdout, stderr = cli("build", table, *options)
    report = json.loads((out / "summary.json").read_text())["report"]
    assert code == 1 and not report["hops_kept"] and report["topics_beyond"] == ["all"]
    said = stdout + stderr
    assert "no overlay within 2 hops was found: topic 'all'" in said
    assert f"--max-hops {report['hops_max']}" in said


def test_auto_relaxes_and_none_says_nothing(cli, table, tmp_path):
    caps = tmp_path / "caps.csv"
    caps.write_text("node,cap\n*,2\n")
    options = ("--engine", "local", "--caps", caps, "--out", tmp_path / "out")
    code, stdout, stderr = cli("build", table, *options)
    assert code == 0 and "no overlay with at most 10 hops" in stderr and "at most 12" in stdout
    code, stdout, _ = cli("build", table, *options, "--max-hops", "none")
    assert code == 0 and "hops" not in stdout


@pytest.mark.parametrize("name", [name for name in BUILDERS if name not in ("balanced", "short-gm")])
def test_builders_that_cannot_bound_hops_refuse_by_name(cli, table, tmp_path, name):
    out = tmp_path / "out"
    code, _, stderr = cli("build", table, "--algorithm", name, "--max-hops", "auto", "--out", out)
    assert code == 2 and not out.exists()
    assert f"{name} does not bound hops (--max-hops); balanced, short-gm do" in stderr


@pytest.mark.parametrize("value", ["0", "-3", "many", "2.5"])
def test_other_values_are_refused(cli, table, tmp_path, value):
    code, _, stderr = cli("build", table, "--max-hops", value, "--out", tmp_path / "out")
    assert code == 2 and "max_hops" in stderr.replace("-", "_") and "auto or none or a whole number" in stderr
