"""The recipe for a new planner holds: a function of its own and one entry in the registry."""

from __future__ import annotations

import json
from typing import Annotated

import numpy as np
import pytest

from topicloom import content
from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.cli.main import execute
from topicloom.content.model.problem import ContentPlan, ContentProblem
from topicloom.content.planners.registry import Planner


def plan_by_price(
    problem: ContentProblem,
    *,
    progress: Progress = SILENT,
    skip: Annotated[int, Parameter("cheaper brokers that a user leaves out", least=0)] = 0,
) -> ContentPlan:
    """Assign every user to its cheapest broker, or to the one `skip` places further."""
    check_stop(progress)
    order = np.argsort(problem.access, axis=1, kind="stable")
    return ContentPlan(order[:, skip].astype(np.int32), "by-price", {"skip": skip})


@pytest.fixture
def registered(monkeypatch):
    entry = Planner(function=plan_by_price, aim="every user on its cheapest broker", paper="none")
    monkeypatch.setitem(content.PLANNERS, "by-price", entry)


def test_a_new_planner_is_there_from_python(registered):
    """With the arguments that all planners take, also those it has no use for."""
    problem = content.generate_content(30, 4, 6, seed=1).problem
    plan = content.PLANNERS["by-price"].plan(problem, core_model="shared", seed=3, time_limit=5.0, skip=1)
    second = np.sort(problem.access, axis=1)[:, 1]
    assert np.array_equal(problem.access[np.arange(30), plan.assignment], second)
    assert plan.seed == 3 and dict(plan.parameters) == {"skip": 1}


def test_a_new_planner_is_there_on_the_command_line(registered, tmp_path, capsys):
    problem, out = str(tmp_path / "problem"), tmp_path / "plan"
    size = ["--users", "30", "--brokers", "4", "--channels", "6"]
    assert execute(["content", "generate", problem, *size]) == 0
    capsys.readouterr()
    assert execute(["content", "plan", "--list", "--json"]) == 0
    listed = {row["algorithm"]: row for row in json.loads(capsys.readouterr().out)["planners"]}
    assert listed["by-price"]["parameters"]["skip"]["default"] == 0

    chosen = ["content", "plan", problem, "--algorithm", "by-price", "--set", "skip=1", "--json"]
    code = execute([*chosen, "--out", str(out)])
    summary = json.loads(capsys.readouterr().out)
    assert code == (1 if summary["overflow"] else 0)
    assert summary["algorithm"] == "by-price" and summary["parameters"] == {"skip": 1}
    assert json.loads((out / "summary.json").read_text())["cost"] == summary["cost"]
    assert execute([*chosen[:-3], "--set", "skip=-1"]) == 2
    assert "--set skip=-1: by-price takes skip = a whole number of at least 0" in capsys.readouterr().err
