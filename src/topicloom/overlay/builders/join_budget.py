"""As many joins as so many edges can make: the greedy of gm, stopped, or by the weights of topics.

The joins that a set of edges makes in a topic are its rank in the topic's graphic matroid, so their weighted
sum is monotone and submodular in the edges. The greedy choice of N edges therefore makes at least 1 - 1/e
(63%) of the joins of any N edges (Nemhauser, Wolsey and Fisher 1978). Caps on degrees void the guarantee.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.arrays import Floats, neighbor_lists
from topicloom.base.progress import Stopwatch
from topicloom.errors import InputError
from topicloom.overlay.builders.constrained import (
    ConstrainedTask,
    Edges,
    choose_constrained,
    joined_edges,
    node_caps,
)
from topicloom.overlay.kernels.weighted_joins import choose_joins
from topicloom.overlay.measures.connectivity import topic_components
from topicloom.overlay.measures.deliveries import rates_of
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

MOST_PAIRS = 20_000_000  # that share a topic, counted once for each topic: what fits into a few GB


def build_within(task: ConstrainedTask, max_edges: int, watch: Stopwatch) -> tuple[Overlay, dict[str, Any]]:
    """Return the overlay of at most `max_edges` edges, fixed ones counted, and what it joins."""
    interest, room = task.interest, max_edges - len(task.fixed[0])
    if room < 0:
        raise InputError(
            f"`max_edges={max_edges}`: {len(task.fixed[0])} edges are required or exist already (start)"
        )
    rates = rates_of(interest, task.constraints)
    with watch.phase("choose edges", 1.0):
        if rates is None:
            outcome = choose_constrained(task, phases=False, progress=watch.progress)
            chosen: Edges = (outcome.u[:room], outcome.v[:room])
        else:
            chosen = _by_weight(task, rates, room)
    overlay = Overlay.from_edges(interest.node_ids, *joined_edges(task.fixed, chosen))
    return overlay, joins_report(interest, overlay, rates)


def joins_report(interest: Interest, overlay: Overlay, rates: Floats | None) -> dict[str, Any]:
    """Count the joins that an overlay makes, and those that are left; with rates also their weight.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abc"])
    >>> joins_report(interest, Overlay.from_edges(interest.node_ids, [0], [1]), None)
    {'joins': 1, 'joins_open': 1}
    """
    open_ = np.maximum(topic_components(interest, overlay) - 1, 0)
    made = np.maximum(interest.topic_sizes() - 1, 0) - open_
    report: dict[str, Any] = {"joins": int(made.sum()), "joins_open": int(open_.sum())}
    if rates is not None:
        report |= {"weight_joined": float((made * rates).sum()), "weight_open": float((open_ * rates).sum())}
    return report


def _by_weight(task: ConstrainedTask, rates: Floats, room: int) -> Edges:
    interest, limits = task.interest, task.constraints
    sizes = interest.topic_sizes()
    pairs = int((sizes * (sizes - 1) // 2).sum())
    if len(limits.priced):
        raise InputError("`max_edges` with `rates` looks at no costs: leave `costs` out")
    if pairs > MOST_PAIRS:
        raise InputError(
            f"`max_edges` with `rates` looks at every pair that shares a topic: {pairs:,} here, up to "
            f"{MOST_PAIRS:,} can be held"
        )
    n_nodes = interest.n_nodes
    chosen: Edges = (np.zeros(0, np.int32), np.zeros(0, np.int32))
    # What weighs nothing is joined by the edges that are left then.
    for weights in (rates, (rates == 0).astype(np.float64)):
        fixed = joined_edges(task.fixed, chosen)
        banned = joined_edges((limits.forbidden.u, limits.forbidden.v), fixed)
        more = choose_joins(
            *interest.sealed_lists(),
            np.array(weights, np.float64),
            (np.array(fixed[0], np.int32), np.array(fixed[1], np.int32)),
            neighbor_lists(*banned, n_nodes),
            np.array(node_caps(limits, n_nodes), np.int32),
            min(room - len(chosen[0]), pairs),
        )
        chosen = joined_edges(chosen, more)
    return chosen
