"""Random interests with constraints that do not contradict each other."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import numpy as np
from hypothesis import strategies as st

from strategies import interests
from topicloom.overlay.model.constraints import NO_CAP, Constraints, NodePairs
from topicloom.overlay.model.overlay import Overlay

COSTS = [0.25, 0.5, 1.0, 2.0, 3.0]


@st.composite
def cases(draw: st.DrawFn, max_nodes: int = 9):
    """An interest with constraints that do not contradict each other, in plain values and as arrays."""
    interest = draw(interests(max_nodes=max_nodes, max_topics=5))
    n = interest.n_nodes
    pairs = list(combinations(range(n), 2))
    some = st.lists(st.sampled_from(pairs), unique=True, max_size=n) if pairs else st.just([])
    forbidden = set(draw(some)) if draw(st.booleans()) else set()
    required = set(draw(some)) - forbidden if draw(st.booleans()) else set()
    existing = set(draw(some)) if draw(st.booleans()) else set()
    fixed = required | (existing - forbidden)
    costs = {p: draw(st.sampled_from(COSTS)) for p in draw(some)} if draw(st.booleans()) else {}
    caps = None
    if draw(st.booleans()):
        degree = [sum(v in p for p in fixed) for v in range(n)]
        caps = {v: degree[v] + draw(st.integers(0, 4)) for v in range(n) if draw(st.integers(0, 9))}
    arrays = Constraints(
        None if caps is None else np.array([caps.get(v, NO_CAP) for v in range(n)], np.int32),
        pair_table(forbidden, n),
        pair_table(required, n),
        pair_table(costs, n),
        np.array([costs[pair] for pair in sorted(costs)], np.float64),
    )
    start = Overlay.from_edges(interest.node_ids, *ends_of(existing)) if existing else None
    return SimpleNamespace(
        interest=interest,
        constraints=arrays,
        start=start,
        caps=caps,
        forbidden=forbidden,
        fixed=fixed,
        costs=costs,
    )


def ends_of(pairs):
    return [u for u, _ in sorted(pairs)], [v for _, v in sorted(pairs)]


def pair_table(pairs, n):
    return NodePairs.of(*ends_of(pairs), n)
