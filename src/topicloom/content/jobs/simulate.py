"""Let brokers migrate the users of a content problem by themselves, beside the centralised plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from topicloom.base.atomic_write import replacing
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.base.summaries import Parameters, ResultSummary, Seconds, Summary
from topicloom.content.jobs.plan import random_costs
from topicloom.content.model.plan_folder import ASSIGNMENT, write_assignment
from topicloom.content.model.problem import ContentProblem
from topicloom.content.model.problem_folder import read_problem
from topicloom.content.planners.cost import measure_cost
from topicloom.content.planners.local_search import plan_local_search
from topicloom.content.planners.placement import plan_random
from topicloom.content.simulator.run import ContentOutcome, simulate_content
from topicloom.content.simulator.scenario import ContentScenario
from topicloom.tables.folder import SUMMARY, check_own_folder, holds_only, write_json, write_table
from topicloom.tables.spark.spark_choice import Notice, no_notice

KIND = "content-simulation"
ROUNDS = "rounds.parquet"


class DeliverySummary(Summary, frozen=True):
    """What became of published events."""

    published: int
    expected: int
    delivered: int
    missing: int
    duplicates: int


class ContentSimulation(ResultSummary, frozen=True, kw_only=True):
    """The content of summary.json."""

    kind: str = KIND
    parameters: Parameters
    seed: int
    users: int
    brokers: int
    channels: int
    rounds: int
    settled: bool
    cost_start: float
    cost_end: float
    cost_central: float | None
    cost_random: float
    access_cost: float
    core_cost: float
    overflow: float
    migrations: int
    control_messages: int
    messages_per_migration: float | None
    messages: dict[str, int]
    events: DeliverySummary
    seconds: Seconds


Extras = Callable[[ContentSimulation, ContentOutcome, Path], None]

# The centralised plan to compare with: local search from greedy packing, without annealing.
QUICK: Parameters = {"start": "greedy-packing", "work": 0}


def simulate_content_folder(
    source: Path,
    scenario: ContentScenario,
    *,
    out: Path | None,
    extras: Extras | None = None,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> tuple[ContentSimulation, ContentOutcome]:
    """Read the problem, run the scenario, write the rounds to `out`; return the summary and the outcome.

    `extras` may add files to the folder before it takes its place.
    """
    if out is not None:
        what = "an earlier simulation of content"
        check_own_folder(
            out, f"`out={out}`", what, lambda folder: holds_only(folder, KIND, ROUNDS, ASSIGNMENT)
        )
    begun, watch = progress.now(), Stopwatch(progress)
    with watch.phase("read"):
        problem = read_problem(source, notice)
    with watch.phase("simulate"):
        start = plan_random(problem, seed=scenario.seed).assignment
        outcome = simulate_content(problem, start, scenario, progress=progress)
    with watch.phase("central", shown="plan centrally"):
        central = _central(outcome.problem, scenario, progress)
    costs = random_costs(outcome.problem, "free", scenario.seed)
    expected = float(np.mean([cost.total for cost in costs]))
    seconds = {**watch.seconds, "total": progress.now() - begun}
    summary = _summary(scenario, outcome, central, expected, seconds)
    if out is not None:
        progress.phase("write")
        with replacing(out) as folder:
            folder.mkdir()
            write_table(pa.Table.from_pylist(outcome.rows), folder / ROUNDS)
            write_assignment(folder, outcome.problem, outcome.assignment)
            write_json(summary, folder / SUMMARY)
            if extras is not None:
                extras(summary, outcome, folder)
    return summary, outcome


def _central(problem: ContentProblem, scenario: ContentScenario, progress: Progress) -> float | None:
    """Return the cost of a plan that knows the whole problem as it is at the end."""
    how = scenario.values["central"]
    if how == "none":
        return None
    more = QUICK if how == "quick" else {}
    plan = plan_local_search(problem, core_model="free", seed=scenario.seed, progress=progress, **more)
    return measure_cost(problem, plan.assignment, "free").total


def _summary(
    scenario: ContentScenario, outcome: ContentOutcome, central: float | None, random: float, seconds: Seconds
) -> ContentSimulation:
    problem, counters, first, last = outcome.problem, outcome.counters, outcome.rows[0], outcome.rows[-1]
    return ContentSimulation(
        parameters=dict(scenario.values),
        seed=scenario.seed,
        **problem.sizes,
        rounds=len(outcome.rows) - 1,
        settled=outcome.settled,
        cost_start=first["cost"],
        cost_end=last["cost"],
        cost_central=central,
        cost_random=random,
        access_cost=last["access_cost"],
        core_cost=last["core_cost"],
        overflow=last["overflow"],
        migrations=outcome.migrations,
        control_messages=outcome.control,
        messages_per_migration=outcome.control / outcome.migrations if outcome.migrations else None,
        messages=outcome.messages,
        events=DeliverySummary(
            counters.published, counters.expected, counters.delivered, counters.missing, counters.duplicates
        ),
        seconds=seconds,
    )
