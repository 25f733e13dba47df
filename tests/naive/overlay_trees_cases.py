"""Random topic trees: the edges of gm and a few more in random order, some fixed, some pairs priced."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from naive.overlay_trees import Pair, edge_set, ordered
from strategies import interests
from topicloom.base.ids import numbered_ids
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.kernels.edge_removal import REMOVED, Removal, new_removal
from topicloom.overlay.kernels.overlay_trees import OverlayTrees, add_edges, new_overlay_trees
from topicloom.overlay.model.interest import Interest

COSTS = [0.25, 0.5, 1.0, 2.0, 3.0]  # sums of these are exact
INFINITE = float("inf")
WIDE = 150  # topics: three words of bits


def spread(interest: Interest) -> Interest:
    """The same interest with its topics far apart, so that they fall into several words of bits."""
    topics = np.sort(np.arange(interest.n_topics) * 37 % WIDE)[interest.node_topics]
    return Interest.from_codes(
        interest.node_ids, numbered_ids("t", WIDE), interest.pair_nodes(), topics.astype(np.int32)
    )


def laid(interest: Interest, edges: list[Pair], n_fixed: int = 0) -> OverlayTrees:
    """Return the overlay trees of these edges, with room for all others."""
    room = np.full(interest.n_nodes, interest.n_nodes, np.int32)
    trees = new_overlay_trees(interest, room, int(room.sum()) + 16)
    u, v = (np.array([edge[end] for edge in edges], np.int32) for end in (0, 1))
    add_edges(trees, u, v, n_fixed, np.arange(interest.n_subscriptions, dtype=np.int32))
    return trees


def scratch(interest: Interest, costs: dict[Pair, float] | None = None, seed: int = 0) -> Removal:
    """Return what removal needs for an interest, with these prices of pairs (infinite: forbidden)."""
    both = sorted((a, b, cost) for (u, v), cost in (costs or {}).items() for a, b in ((u, v), (v, u)))
    ends = np.array([a for a, _, _ in both], np.int64)
    prices = (
        np.searchsorted(ends, np.arange(interest.n_nodes + 1)).astype(np.int64),
        np.array([b for _, b, _ in both], np.int32),
        np.array([cost for _, _, cost in both], np.float64),
    )
    return new_removal(interest, seed, prices)


class Case:
    """Trees of a topic-connected overlay with their scratch, and in plain values what they were made of."""

    def __init__(
        self,
        interest: Interest,
        laid: list[Pair],
        n_fixed: int,
        costs: dict[Pair, float],
        trees: OverlayTrees,
        removal: Removal,
    ) -> None:
        self.interest = interest
        self.laid = laid
        self.n_fixed = n_fixed
        self.costs = costs
        self.trees = trees
        self.removal = removal

    def __repr__(self) -> str:
        topics = [self.interest.topics_of(node).tolist() for node in range(self.interest.n_nodes)]
        return f"Case({topics=}, laid={self.laid}, n_fixed={self.n_fixed}, costs={self.costs})"

    @property
    def given(self) -> set[Pair]:
        return {ordered(*edge) for edge in self.laid}

    @property
    def fixed(self) -> set[Pair]:
        return {ordered(*edge) for edge in self.laid[: self.n_fixed]}

    @property
    def forbidden(self) -> set[Pair]:
        return {pair for pair, cost in self.costs.items() if cost == INFINITE}


def list_removed(trees: OverlayTrees, removal: Removal, pairs: list[Pair]) -> None:
    """Name the edges that are to be taken out."""
    live = trees.live[: trees.sizes[0]].tolist()
    number = {ordered(int(trees.edge_u[edge]), int(trees.edge_v[edge])): edge for edge in live}
    for i, pair in enumerate(pairs):
        removal.removed[i] = number[pair]
    removal.counts[REMOVED] = len(pairs)


@st.composite
def tree_cases(draw: st.DrawFn, max_nodes: int = 12, max_topics: int = 7, priced: bool = False) -> Case:
    """A case with everything in it by chance."""
    interest = draw(interests(max_nodes=max_nodes, max_topics=max_topics))
    if draw(st.booleans()):
        interest = spread(interest)
    pairs = list(combinations(range(interest.n_nodes), 2))
    some = st.lists(st.sampled_from(pairs), unique=True, max_size=8) if pairs else st.just([])
    overlay = build_gm(interest).overlay
    connecting = set(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))
    edges = draw(st.permutations(sorted(connecting | set(draw(some)))))
    n_fixed = draw(st.integers(0, len(edges))) if draw(st.booleans()) else 0
    turned = draw(st.integers(0, 2 ** len(edges) - 1))
    ends = [edge[::-1] if turned >> i & 1 else edge for i, edge in enumerate(edges)]
    costs = {pair: draw(st.sampled_from(COSTS)) for pair in draw(some)} if priced else {}
    forbidden = set(draw(some)) - set(edges) if priced else set()
    costs |= dict.fromkeys(forbidden, INFINITE)
    trees = laid(interest, ends, n_fixed)
    removal = scratch(interest, costs, draw(st.integers(0, 2**32)))
    return Case(interest, ends, n_fixed, costs, trees, removal)


def some_edges(draw: st.DrawFn, case: Case, most: int = 7, *, least: int = 1) -> list[Pair]:
    """Edges of the overlay, fixed or not, up to as many as one move may take out."""
    edges = sorted(edge_set(case.trees))
    chosen = st.lists(st.sampled_from(edges), unique=True, min_size=min(least, len(edges)), max_size=most)
    return draw(chosen) if edges else []
