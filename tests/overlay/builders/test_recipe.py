"""The recipe for a new builder: one function and one entry in the registry, nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import pytest

import topicloom
from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.cli.main import execute
from topicloom.errors import UsageError
from topicloom.overlay.builders.registry import BUILDERS, Builder
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

PAIRS = [("a", "x"), ("b", "x"), ("c", "x"), ("c", "y"), ("d", "y")]


def build_chain(
    interest: Interest,
    *,
    extra: Annotated[int, Parameter("further nodes that each node is linked to", least=0)] = 0,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Build:
    """Link every node with the next ones by number."""
    watch = Stopwatch(progress)
    with watch.phase("link nodes"):
        n = interest.n_nodes
        edges = [(v, v + step) for step in range(1, extra + 2) for v in range(n - step)]
        overlay = Overlay.from_edges(interest.node_ids, [u for u, _ in edges], [v for _, v in edges])
    return Build(overlay, "chain", {"extra": extra}, seed, watch.seconds)


CHAIN = Builder(build=build_chain, aim="one path through all nodes", guarantee="none", links_strangers=True)


@pytest.fixture(autouse=True)
def _chain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILDERS, "chain", CHAIN)


def test_python_builds_with_it_and_checks_its_parameters() -> None:
    interest = topicloom.Interest.from_pairs(PAIRS)
    build = topicloom.build(interest, algorithm="chain", extra=1)
    assert (build.algorithm, build.parameters, build.overlay.n_edges) == ("chain", {"extra": 1}, 5)
    with pytest.raises(UsageError, match="chain takes extra = a whole number of at least 0"):
        topicloom.build(interest, algorithm="chain", extra=-1)
    with pytest.raises(UsageError, match="chain does not honour `caps`; balanced, gm, gm-m do"):
        caps = topicloom.overlay.Constraints.of(interest.node_ids, caps=2)
        topicloom.build(interest, algorithm="chain", constraints=caps)


def test_the_list_of_builders_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["build", "--list"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "chain: one path through all nodes" in shown
    assert "further nodes that each node is linked to" in shown
    assert execute(["build", "--list", "--json"]) == 0
    found = {entry["algorithm"]: entry for entry in json.loads(capsys.readouterr().out)["builders"]}
    assert found["chain"]["guarantee"] == "none"


@pytest.mark.spark
def test_the_command_builds_with_it(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, out = tmp_path / "table.csv", tmp_path / "out"
    table.write_text("node,topic\n" + "".join(f"{node},{topic}\n" for node, topic in PAIRS))
    words = ["build", str(table), "--algorithm", "chain", "--set", "extra=1", "--out", str(out), "--json"]
    assert execute(words) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["algorithm"], summary["parameters"], summary["edges"]) == ("chain", {"extra": 1}, 5)
    assert summary["topic_connected"]
    assert topicloom.load_build(out).overlay.n_edges == 5
