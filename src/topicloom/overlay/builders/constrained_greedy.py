"""GM and GM-M from the first run to the report, and what constraints change.

A greedy that meets caps can get stuck, so a build that is not topic-connected is tried again: by the other
order of choice, then by exchanging edges. Only then is it given up, with a diagnosis. To exchange
edges for a pair of nodes across a split topic, an edge is taken out at each end that is full, the pair gets
its edge, and the greedy fills up with everything else fixed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.progress import Progress, QuietProgress, Stopwatch, check_stop
from topicloom.overlay.builders.constrained import (
    ConstrainedTask,
    Edges,
    GreedyOutcome,
    choose_constrained,
    joined_edges,
    node_caps,
)
from topicloom.overlay.builders.diagnosis import diagnose
from topicloom.overlay.model.constraints import NodePairs
from topicloom.overlay.model.overlay import Overlay


def build_greedy(
    task: ConstrainedTask, *, phases: bool, redundancy: int = 1, watch: Stopwatch
) -> tuple[Overlay, dict[str, Any]]:
    """Choose edges by contribution alone, or in `phases`.

    Further runs of `redundancy` keep to the caps too, so they may get less far than the first. Returns the
    overlay and what the build reports about topics that stayed split.
    """
    interest = task.interest
    outcome = choose_best(task, phases=phases, watch=watch)
    edges = task.planted(joined_edges(task.fixed, outcome.edges))
    overlay = Overlay.from_edges(interest.node_ids, *edges)
    report: dict[str, Any] = {}

    def rebuild(other: ConstrainedTask, quiet: Progress) -> Overlay:
        found = choose_best(other, phases=phases, watch=Stopwatch(quiet))
        return Overlay.from_edges(interest.node_ids, *joined_edges(task.fixed, found.edges))

    if outcome.open_joins:
        report = diagnose(task, overlay, rebuild, watch)
    for found in further_runs(task, edges, redundancy, watch):
        edges = joined_edges(edges, found.edges)
    return Overlay.from_edges(interest.node_ids, *edges), report


def further_runs(
    task: ConstrainedTask, used: Edges, redundancy: int, watch: Stopwatch
) -> Iterator[GreedyOutcome]:
    """Choose again and again among the pairs not yet used, until no pair is left that joins anything."""
    for run in range(1, redundancy):
        with watch.phase(f"choose edges, run {run + 1}", 1.0):
            found = choose_constrained(task, phases=False, used=used, progress=watch.progress)
        if not len(found.u):
            return
        used = joined_edges(used, found.edges)
        yield found


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


# So many exchanges are tried at most; with more than half as many joins to make none is: it would not do.
TRIES = 200

SPARED = 4  # edges of a full node that may be taken out: those that contributed least
WIDE = 8  # nodes of either side of a split topic that are tried


class Exchange(NamedTuple):
    """An edge x, y to put in, and the places of edges to take out; `loss` is what that is thought to cost."""

    loss: int
    x: int
    y: int
    removed: tuple[int, ...]


def exchange_edges(task: ConstrainedTask, outcome: GreedyOutcome, progress: Progress) -> GreedyOutcome:
    """Make exchanges until no join is open or none helps; the outcome with the fewest open joins.

    One is kept if fewer joins are open after it, or as many in an overlay that was not met before.
    """
    quiet = QuietProgress(progress)
    met = {_signature(outcome)}
    best = outcome
    barred = task.constraints.forbidden
    forbidden = set(zip(barred.u.tolist(), barred.v.tolist(), strict=True))
    tries = TRIES if outcome.open_joins <= TRIES // 2 else 0
    while outcome.open_joins and tries:
        for exchange in find_exchanges(task, outcome, forbidden)[:tries]:
            check_stop(progress)
            tries -= 1
            progress.advance(1)
            found = _carry_out(task, outcome, exchange, quiet)
            new = _signature(found) not in met
            if found.open_joins < outcome.open_joins or (new and found.open_joins == outcome.open_joins):
                outcome = found
                met.add(_signature(found))
                break
        else:
            break
        if outcome.open_joins < best.open_joins:
            best = outcome
    return best


def find_exchanges(
    task: ConstrainedTask, outcome: GreedyOutcome, forbidden: set[tuple[int, int]]
) -> list[Exchange]:
    """Return the exchanges worth a try, the least loss first.

    An edge is thought to be worth what it contributed when it was chosen, a new one the split topics that
    it was found for. Fixed edges stay.
    """
    interest = task.interest
    removable = _removable(task, outcome)
    gain: Counter[tuple[int, int]] = Counter()
    for topic in np.flatnonzero(outcome.components > 1).tolist():
        nodes = interest.nodes_of(topic)
        labels = outcome.labels[interest.topic_ptr[topic] : interest.topic_ptr[topic + 1]]
        values, sizes = np.unique(labels, return_counts=True)
        apart = labels == values[np.argmin(sizes)]
        sides = [_easiest(nodes[side], removable) for side in (apart, ~apart)]
        gain.update((min(pair), max(pair)) for pair in product(*sides))
    found = [
        Exchange(sum(loss for loss, _ in ends) - topics, x, y, tuple(edge for _, edge in ends if edge >= 0))
        for (x, y), topics in gain.items()
        if (x, y) not in forbidden
        for ends in product(removable[x], removable[y])
    ]
    return sorted(found)


def _removable(task: ConstrainedTask, outcome: GreedyOutcome) -> list[list[tuple[int, int]]]:
    """Return for each node what makes room for an edge: (loss, edge to take out), (0, -1) if it has room."""
    n_nodes = task.interest.n_nodes
    degree = NodePairs(*joined_edges(task.fixed, outcome.edges)).degrees(n_nodes)
    full = degree >= node_caps(task.constraints, n_nodes)
    choices: list[list[tuple[int, int]]] = [[] if node_full else [(0, -1)] for node_full in full.tolist()]
    for edge in np.argsort(outcome.contribution, kind="stable").tolist():
        for node in (int(outcome.u[edge]), int(outcome.v[edge])):
            if full[node] and len(choices[node]) < SPARED:
                choices[node].append((int(outcome.contribution[edge]), edge))
    return choices


def _easiest(nodes: Ints, removable: list[list[tuple[int, int]]]) -> list[int]:
    """Return the nodes at which an edge costs least."""
    able = [node for node in nodes.tolist() if removable[node]]
    return sorted(able, key=lambda node: (removable[node][0][0], node))[:WIDE]


def _carry_out(
    task: ConstrainedTask, outcome: GreedyOutcome, exchange: Exchange, progress: Progress
) -> GreedyOutcome:
    """Return the outcome after an exchange; only topics that are split or lose an edge are looked at."""
    interest = task.interest
    removed = list(exchange.removed)
    touched = outcome.components > 1
    for u, v in zip(outcome.u[removed].tolist(), outcome.v[removed].tolist(), strict=True):
        touched[np.intersect1d(interest.topics_of(u), interest.topics_of(v))] = True
    kept = np.ones(len(outcome.u), np.bool_)
    kept[removed] = False
    edge = (np.array([exchange.x], np.int32), np.array([exchange.y], np.int32))
    stay: Edges = joined_edges((outcome.u[kept], outcome.v[kept]), edge)
    part = replace(
        task, interest=interest.only_topics(touched), fixed=joined_edges(task.fixed, stay), threads=1
    )
    filled = choose_constrained(part, phases=False, progress=progress)
    components, labels = outcome.components.copy(), outcome.labels.copy()
    components[touched] = filled.components[touched]
    labels[np.repeat(touched, interest.topic_sizes())] = filled.labels
    worth = np.concatenate((outcome.contribution[kept], np.ones(1, np.int32), filled.contribution))
    return GreedyOutcome(*joined_edges(stay, filled.edges), worth, components, labels)


def _signature(outcome: GreedyOutcome) -> bytes:
    """Return bytes that are equal for equal sets of edges."""
    low, high = np.minimum(outcome.u, outcome.v), np.maximum(outcome.u, outcome.v)
    order = np.lexsort((high, low))
    return low[order].tobytes() + high[order].tobytes()
