"""The recipe for a new simulated protocol holds: a file with one function, and one entry in the registry."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from topicloom.cli.main import execute
from topicloom.overlay.model.interest import Interest
from topicloom.spidercast import Scenario, simulate
from topicloom.spidercast.simulator.registry import PROTOCOLS, Protocol

TOY = """
from typing import Annotated

from topicloom.base.parameters import Parameter
from topicloom.spidercast import NodeGoals


def half_and_half(links: Annotated[int, Parameter("links of a node, half of them random", least=0)] = 4):
    return NodeGoals(links - links // 2, links // 2, by_coverage=False)
"""


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "half_and_half.py"
    path.write_text(TOY)
    spec = importlib.util.spec_from_file_location("half_and_half", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(
        PROTOCOLS, "toy", Protocol(goals=module.half_and_half, aim="toy links", advice="more")
    )


def test_a_new_protocol_runs_from_python(registered: None) -> None:
    interest = Interest.from_pairs([(f"n{node}", f"t{node % 3}") for node in range(12)])
    scenario = Scenario.of("toy", ["links=2", "seconds=20"], seed=1)
    assert (scenario.goals.greedy, scenario.goals.random) == (1, 1)
    last = simulate(interest, scenario).snapshots[-1]
    assert last["nodes"] == 12 and last["degree_avg"] >= 2


def test_a_new_protocol_is_listed_and_run_by_the_command(
    registered: None, spark: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["simulate", "--list", "--json"]) == 0
    listed = {row["protocol"]: row for row in json.loads(capsys.readouterr().out)["protocols"]}
    assert listed["toy"]["aim"] == "toy links"
    assert listed["toy"]["parameters"]["links"]["help"] == "links of a node, half of them random"
    assert "latency" in listed["toy"]["parameters"], "the world's parameters come with it"

    table, build = tmp_path / "table.csv", str(tmp_path / "build")
    table.write_text("node,topic\n" + "".join(f"n{node},t{node % 3}\n" for node in range(24)))
    ring = ["--engine", "local", "--algorithm", "ring-pt"]  # a build folder is read without Spark
    assert execute(["build", str(table), *ring, "--out", build]) == 0
    capsys.readouterr()
    chosen = ["simulate", build, "--protocol", "toy", "--set", "seconds=5"]
    assert execute([*chosen, "--set", "links=1", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["protocol"] == "toy" and summary["parameters"]["links"] == 1
    assert execute([*chosen, "--set", "links=1"]) == 0
    assert "; more" in capsys.readouterr().out, "its advice follows the split topics"
    assert execute([*chosen, "--set", "links=-1"]) == 2
    assert "--set links=-1: toy takes links = a whole number of at least 0" in capsys.readouterr().err
