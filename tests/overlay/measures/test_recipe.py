"""The recipe for a new measure: its function, its figures and one line in the registry, nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import topicloom
from topicloom.base.summaries import Figures
from topicloom.cli.main import execute
from topicloom.overlay.measures.measure import Figure, Measure, OverlayView
from topicloom.overlay.measures.registry import MEASURES

PAIRS = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("d", "y")]


def measure_leaves(view: OverlayView) -> Figures:
    """Count the nodes with one neighbor."""
    leaves = int((view.overlay.degrees() == 1).sum())
    return {"leaves": leaves, "leaves_share": leaves / max(view.overlay.n_nodes, 1), "leaves_unit": "nodes"}


LEAVES = Measure(
    function=measure_leaves,
    figures=(
        Figure("leaves", "leaves", unit="leaves_unit"),
        Figure("leaves_share", "leaves, share of all nodes", ".1%"),
        Figure("leaves_unit"),
    ),
    aim="how many nodes have one neighbor",
)


@pytest.fixture
def tables(tmp_path: Path) -> list[str]:
    """An interest and the edges of a star."""
    (tmp_path / "table.csv").write_text("node,topic\n" + "".join(f"{u},{t}\n" for u, t in PAIRS))
    (tmp_path / "edges.csv").write_text("u,v\na,b\nb,c\nb,d\n")
    return [str(tmp_path / name) for name in ("table.csv", "edges.csv")]


def test_python_gives_its_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    interest = topicloom.Interest.from_pairs(PAIRS)
    overlay = topicloom.Overlay.from_edges(interest.node_ids, [0, 1, 1], [1, 2, 3])
    before = topicloom.measure(interest, overlay)
    monkeypatch.setitem(MEASURES, "leaves", LEAVES)
    assert topicloom.measure(interest, overlay) == {
        **before,
        "leaves": 3,
        "leaves_share": 0.75,
        "leaves_unit": "nodes",
    }


@pytest.mark.spark
def test_the_command_shows_it_in_json_and_in_its_table(
    spark: Any, tables: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def output(*options: str) -> str:
        assert execute(["measure", *tables, *options]) == 0
        return capsys.readouterr().out

    assert "leaves" not in output() + output("--json")
    monkeypatch.setitem(MEASURES, "leaves", LEAVES)
    assert json.loads(output("--json"))["leaves"] == 3
    rows = [" ".join(line.split()) for line in output().split("\n") if line.strip()]
    assert rows[-2:] == ["leaves (nodes) 3", "leaves, share of all nodes 75.0%"]
    assert "topic-connected yes" in rows
