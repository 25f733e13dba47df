"""GM and GM-M from the first run to the report, and what constraints change.

A greedy that meets caps can get stuck, so a build that is not topic-connected is tried again: by the other
order of choice, then by exchanging edges. Only then is it given up, with a diagnosis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from topicloom.base.arrays import Ints
from topicloom.base.progress import Progress, Stopwatch
from topicloom.overlay.builders.constrained_run import (
    ConstrainedTask,
    GreedyOutcome,
    choose_again,
    choose_constrained,
    joined_edges,
)
from topicloom.overlay.builders.diagnosis import diagnose
from topicloom.overlay.builders.edge_exchange import TRIES, exchange_edges
from topicloom.overlay.model.overlay import Overlay


def build_greedy(
    task: ConstrainedTask,
    choose: Callable[..., tuple[Ints, Ints, Ints]],
    *,
    phases: bool,
    redundancy: int = 1,
    watch: Stopwatch,
) -> tuple[Overlay, dict[str, Any]]:
    """Choose edges: by `choose` where there is nothing to respect, else by contribution or in `phases`.

    Further runs of `redundancy` keep to the caps too, so they may get less far than the first. Returns the
    overlay and what the build reports about topics that stayed split.
    """
    interest = task.interest
    if task.is_free:
        u, v, _ = choose(interest, threads=task.threads, watch=watch)
        return Overlay.from_edges(interest.node_ids, u, v), {}
    outcome = choose_best(task, phases=phases, watch=watch)
    edges = joined_edges(task.fixed, outcome.edges)
    overlay = Overlay.from_edges(interest.node_ids, *edges)
    report: dict[str, Any] = {}

    def rebuild(other: ConstrainedTask, quiet: Progress) -> Overlay:
        found = choose_best(other, phases=phases, watch=Stopwatch(quiet))
        return Overlay.from_edges(interest.node_ids, *joined_edges(task.fixed, found.edges))

    if outcome.open_joins:
        report = diagnose(task, overlay, rebuild, watch)
    for run in range(1, redundancy):
        with watch.phase(f"choose edges, run {run + 1}", 1.0):
            edges = joined_edges(edges, choose_again(task, edges, progress=watch.progress).edges)
        overlay = Overlay.from_edges(interest.node_ids, *edges)
    return overlay, report


def choose_best(task: ConstrainedTask, *, phases: bool, watch: Stopwatch) -> GreedyOutcome:
    """Choose greedily; where caps stop that short, in the other order, then by exchanging edges."""
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
