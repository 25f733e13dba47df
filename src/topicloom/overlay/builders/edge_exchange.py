"""Exchanges of edges for a greedy that caps stopped short: a full node gives up an edge for a better one.

For a pair of nodes across a split topic, an edge is taken out at each end that is full, the pair gets its
edge, and the greedy fills up with everything else fixed. What was taken out often finds another path.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from topicloom.base.arrays import Bools, Ints
from topicloom.base.progress import Progress, check_stop
from topicloom.overlay.builders.build_progress import QuietProgress
from topicloom.overlay.builders.constrained import node_caps
from topicloom.overlay.builders.constrained_run import (
    ConstrainedTask,
    Edges,
    GreedyOutcome,
    choose_constrained,
    joined_edges,
)
from topicloom.overlay.model.constraints import NodePairs
from topicloom.overlay.model.interest import Interest

# So many exchanges are tried at most; with more than half as many joins to make none is: it would not do.
TRIES = 200

SPARED = 4  # edges of a full node that may be taken out: those that contributed least
WIDE = 8  # nodes of either side of a split topic that are tried


@dataclass(frozen=True, slots=True)
class Exchange:
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
    for topic in outcome.split().tolist():
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
    return sorted(found, key=lambda exchange: (exchange.loss, exchange.x, exchange.y, exchange.removed))


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
        task, interest=_only_topics(interest, touched), fixed=joined_edges(task.fixed, stay), threads=1
    )
    filled = choose_constrained(part, phases=False, progress=progress)
    components, labels = outcome.components.copy(), outcome.labels.copy()
    components[touched] = filled.components[touched]
    labels[np.repeat(touched, interest.topic_sizes())] = filled.labels
    worth = np.concatenate((outcome.contribution[kept], np.ones(1, np.int32), filled.contribution))
    return GreedyOutcome(*joined_edges(stay, filled.edges), worth, components, labels)


def _only_topics(interest: Interest, wanted: Bools) -> Interest:
    """Return the same nodes and topics with only the subscriptions of the wanted topics."""
    keep = wanted[interest.node_topics]
    return Interest.from_codes(
        interest.node_ids, interest.topic_ids, interest.pair_nodes()[keep], interest.node_topics[keep]
    )


def _signature(outcome: GreedyOutcome) -> bytes:
    """Return bytes that are equal for equal sets of edges."""
    low, high = np.minimum(outcome.u, outcome.v), np.maximum(outcome.u, outcome.v)
    order = np.lexsort((high, low))
    return low[order].tobytes() + high[order].tobytes()
