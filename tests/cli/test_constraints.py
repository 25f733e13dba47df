"""`topicloom build` under constraints, as a user runs it: exit codes, what is printed, what is written."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from topicloom.overlay.builders.registry import BUILDERS

STAR = "node,topic\n" + "".join(f"hub,t{i}\nleaf{i},t{i}\n" for i in range(4))


@pytest.fixture
def files(tmp_path) -> Path:
    contents = {
        "star.csv": STAR,
        "caps.csv": "node,cap\nhub,2\n",
        "wide.csv": "node,cap\n*,4\n",
        "wall.csv": "u,v\nhub,leaf0\n",
        "must.csv": "u,v\nleaf0,leaf1\n",
        "costs.csv": "u,v,cost\nhub,leaf0,2.5\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def edges(folder):
    table = pq.read_table(folder / "edges.parquet")
    return list(zip(table["u"].to_pylist(), table["v"].to_pylist(), strict=True))


def test_a_build_under_all_kinds_of_constraints(cli, files):
    start = files / "first"
    assert cli("build", files / "star.csv", "--algorithm", "gm", "--out", start, "--quiet")[0] == 0
    out = files / "build"
    code, stdout, _ = cli(
        "build", files / "star.csv", "--algorithm", "gm-m", "--out", out, "--json", "--start", start,
        "--caps", files / "wide.csv", "--require", files / "must.csv", "--costs", files / "costs.csv",
        "--set", "costs=weight",
    )  # fmt: skip
    summary = json.loads(stdout)
    assert code == 0
    assert summary["parameters"] == {
        "costs": "weight",
        "twins": "tree",
        "constraints": {"caps": 5, "require": 1, "costs": 1, "start": 4},
    }
    assert summary["report"] == {"cost_total": 6.5, "start_left_out": 0}
    assert ("leaf0", "leaf1") in edges(out)
    assert set(edges(start)) < set(edges(out))


def test_where_caps_leave_no_way_the_best_overlay_is_written_and_the_way_out_told(cli, files):
    out = files / "build"
    code, stdout, stderr = cli(
        "build", files / "star.csv", "--algorithm", "gm", "--out", out, "--caps", files / "caps.csv"
    )
    assert code == 1
    assert "constraints: 1 node with a cap" in stdout
    assert "next: topicloom measure" not in stdout
    assert (
        "no overlay connects every topic under these constraints: node 'hub' needs at least 4 edges" in stderr
    )
    assert "topics that stay split: 't2', 't3'" in stderr
    assert "nodes at their cap: 'hub'" in stderr
    assert "next: raise every cap to at least 4" in stderr
    report = json.loads((out / "summary.json").read_text())["report"]
    assert (report["topics_split"], report["nodes_at_cap"], report["smallest_cap"]) == (
        ["t2", "t3"],
        ["hub"],
        4,
    )
    assert edges(out) == [("hub", "leaf0"), ("hub", "leaf1")]


def test_where_forbidden_pairs_cut_a_topic_no_cap_is_promised(cli, files):
    out = files / "build"
    code, _, stderr = cli(
        "build",
        files / "star.csv",
        "--algorithm",
        "gm",
        "--out",
        out,
        "--forbid",
        files / "wall.csv",
        "--quiet",
    )
    assert code == 1
    assert "next: allow a pair across 't0'; no cap helps there" in stderr
    assert len(edges(out)) == 3


@pytest.mark.parametrize(
    "name", [name for name, builder in BUILDERS.items() if "caps" not in builder.honours]
)
def test_other_builders_refuse_a_constraint_by_name(cli, files, name):
    out = files / "build"
    code, _, stderr = cli(
        "build", files / "star.csv", "--algorithm", name, "--out", out, "--caps", files / "caps.csv"
    )
    assert (code, out.exists()) == (2, False)
    assert f"{name} does not honour --caps; balanced, gm, gm-m do" in stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--forbid", "must.csv", "--require", "must.csv"],
            "'leaf0', 'leaf1' is both required and forbidden",
        ),
        (["--caps", "none.csv"], "no such file or folder"),
        (["--caps", "must.csv"], "must.csv has no columns node, cap"),
    ],
)
def test_contradictions_are_bad_input(cli, files, options, message):
    given = [files / word if word.endswith(".csv") else word for word in options]
    code, _, stderr = cli("build", files / "star.csv", "--algorithm", "gm", "--out", files / "build", *given)
    assert (code, (files / "build").exists()) == (2, False)
    assert message in stderr
    assert "Traceback" not in stderr
