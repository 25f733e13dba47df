"""What builders share that respect limits: fixed edges, caps on degrees, contradictions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Annotated

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.parameters import Parameter
from topicloom.errors import InputError
from topicloom.overlay.model.constraints import NO_CAP, Constraints, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

Costs = Annotated[
    str,
    Parameter("what costs of pairs do: break ties, or divide the contribution", choices=("tie", "weight")),
]


def fixed_edges(constraints: Constraints, start: Overlay | None) -> tuple[Ints, Ints]:
    """Return the edges that exist before any is chosen: required pairs and the allowed edges of `start`.

    Canonical order (u < v, sorted, distinct); these edges may not be removed.
    """
    if start is None:
        return constraints.required.u, constraints.required.v
    n_nodes = start.n_nodes
    existing = NodePairs(start.u, start.v).without(constraints.forbidden, n_nodes)
    fixed = constraints.required.both(existing, n_nodes)
    return fixed.u, fixed.v


def node_caps(constraints: Constraints, n_nodes: int) -> Ints:
    """Return the cap of every node, `NO_CAP` where there is none."""
    return np.full(n_nodes, NO_CAP, np.int32) if constraints.caps is None else constraints.caps


def check_constraints(interest: Interest, constraints: Constraints, start: Overlay | None) -> None:
    """Refuse limits that contradict each other or do not fit the interest; the message names nodes."""
    n_nodes = interest.n_nodes
    if constraints.caps is not None and len(constraints.caps) != n_nodes:
        raise InputError(f"{len(constraints.caps)} caps were given for {n_nodes} nodes")
    if start is not None and not start.node_ids.equals(interest.node_ids):
        raise InputError("start is an overlay over other nodes than the interest's")
    for pairs in (constraints.forbidden, constraints.required, constraints.priced):
        if len(pairs) and int(pairs.v.max()) >= n_nodes:
            raise InputError(f"a pair names a node number outside 0..{n_nodes - 1}")
    names = interest.node_ids
    allowed = constraints.required.without(constraints.forbidden, n_nodes)
    if len(allowed) < len(constraints.required):
        clash = constraints.required.without(allowed, n_nodes)
        u, v = (names[int(end[0])].as_py() for end in (clash.u, clash.v))
        raise InputError(f"the pair {u!r}, {v!r} is both required and forbidden")
    degrees = NodePairs(*fixed_edges(constraints, start)).degrees(n_nodes)
    caps = node_caps(constraints, n_nodes)
    above = np.flatnonzero(degrees > caps)
    if len(above):
        node = int(above[0])
        what = "required" if start is None else "required or existing (start)"
        raise InputError(
            f"node {names[node].as_py()!r} has {degrees[node]} {what} edges, above its cap of {caps[node]}"
        )


SINGLE_STEPS = 4  # upwards before steps get wider
MOST_HUBS = 500  # nodes whose needs are looked at


def known_needs(interest: Interest, nodes: Longs) -> Ints:
    """Return how many neighbors the `nodes` with the most topics need at least; 0 for all others.

    Nobody covers more of a node's topics than its largest overlap. Topics without another subscriber need
    nobody.
    """
    needs = np.zeros(interest.n_nodes, np.int32)
    order = nodes[np.lexsort((nodes, -interest.subscription_sizes()[nodes]))]
    for node in order[:MOST_HUBS].tolist():
        others = [interest.nodes_of(topic) for topic in interest.topics_of(node).tolist()]
        shared = [subscribers for subscribers in others if len(subscribers) > 1]
        counts = np.bincount(np.concatenate([np.full(1, node), *shared]), minlength=interest.n_nodes)
        counts[node] = 0
        needs[node] = -(-len(shared) // max(int(counts.max()), 1))
    return needs


def rising(limit: int, highest: int) -> Iterator[int]:
    """Yield higher limits up to `highest`: by one for a while, then in doubling steps.

    >>> list(rising(5, 30))
    [6, 7, 8, 9, 11, 15, 23, 30]
    """
    step = 1
    for number in count(1):
        if limit >= highest:
            return
        step = step if number <= SINGLE_STEPS else 2 * step
        limit = min(limit + step, highest)
        yield limit
