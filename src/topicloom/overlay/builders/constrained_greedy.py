"""GM and GM-M from the first run to the report, and what constraints change.

A greedy that meets caps can get stuck, so a build that is not topic-connected is tried again: by the other
order of choice, then by exchanging edges. Only then it is given up, with a diagnosis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.progress import Progress, Stopwatch
from topicloom.overlay.builders.build_progress import QuietProgress
from topicloom.overlay.builders.constrained import fixed_edges
from topicloom.overlay.builders.constrained_run import (
    ConstrainedTask,
    GreedyOutcome,
    choose_again,
    choose_constrained,
    joined_edges,
)
from topicloom.overlay.builders.diagnosis import diagnose
from topicloom.overlay.builders.edge_exchange import TRIES, exchange_edges
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.constraints import Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def build_greedy(
    interest: Interest,
    algorithm: str,
    choose: Callable[..., tuple[Ints, Ints, Ints]],
    *,
    constraints: Constraints,
    start: Overlay | None,
    phases: bool,
    costs: str,
    redundancy: int = 1,
    parameters: Mapping[str, Any],
    seed: int,
    threads: int | None,
    progress: Progress,
) -> Build:
    """Choose edges: by `choose` where there is nothing to respect, else by contribution or in `phases`.

    Further runs of `redundancy` keep to the caps too, so they may get less far than the first.
    """
    watch = Stopwatch(progress)
    if not constraints.kinds() and start is None:
        u, v, _ = choose(interest, threads=threads, watch=watch)
        overlay = Overlay.from_edges(interest.node_ids, u, v)
        return Build(overlay, algorithm, dict(parameters), seed, watch.seconds)
    task = ConstrainedTask(interest, constraints, fixed_edges(constraints, start), costs, threads)
    outcome = choose_best(task, phases=phases, watch=watch)
    edges = joined_edges(task.fixed, outcome.edges)
    overlay = Overlay.from_edges(interest.node_ids, *edges)
    report: dict[str, Any] = {}
    if outcome.open_joins:
        report = _diagnosed(task, overlay, start, phases=phases, watch=watch)
    for run in range(1, redundancy):
        with watch.phase(f"choose edges, run {run + 1}", 1.0):
            edges = joined_edges(edges, choose_again(task, edges, progress=progress).edges)
        overlay = Overlay.from_edges(interest.node_ids, *edges)
    return Build(overlay, algorithm, dict(parameters), seed, watch.seconds, report)


def choose_best(task: ConstrainedTask, *, phases: bool, watch: Stopwatch) -> GreedyOutcome:
    """The plain greedy; where caps stop it short, the other order of choice, then exchanges of edges."""
    with watch.phase("choose edges", 1.0):
        outcome = choose_constrained(task, phases=phases, progress=watch.progress)
    if not outcome.open_joins or task.constraints.caps is None:
        return outcome  # without caps every pair that still joined something was taken
    with watch.phase("choose edges in another order", 1.0):
        other = choose_constrained(task, phases=not phases, progress=watch.progress)
    if other.open_joins < outcome.open_joins:
        outcome = other
    with watch.phase("exchange edges", TRIES):
        return exchange_edges(task, outcome, watch.progress)


def _diagnosed(
    task: ConstrainedTask, overlay: Overlay, start: Overlay | None, *, phases: bool, watch: Stopwatch
) -> dict[str, Any]:
    quiet = QuietProgress(watch.progress)

    def rebuild(caps: Ints) -> Overlay:
        other = replace(task, constraints=replace(task.constraints, caps=np.array(caps, np.int32)))
        outcome = choose_best(other, phases=phases, watch=Stopwatch(quiet))
        return Overlay.from_edges(task.interest.node_ids, *joined_edges(task.fixed, outcome.edges))

    with watch.phase("search the smallest cap"):
        return diagnose(
            task.interest, overlay, task.constraints, rebuild, start=start, progress=watch.progress
        )
