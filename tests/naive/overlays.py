"""Simple interests and overlays to measure: random ones for hypothesis, rings and stars per topic."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from topicloom.base.ids import numbered_ids
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def interest_of(sets: list[set[int]]) -> Interest:
    """An interest from the topic numbers of each node; topics nobody wants are left out."""
    return Interest.from_pairs(
        (f"n{node:03}", f"t{topic:03}") for node, own in enumerate(sets) for topic in own
    )


def overlay_on(interest: Interest, edges: list[tuple[int, int]]) -> Overlay:
    return Overlay.from_edges(interest.node_ids, [a for a, _ in edges], [b for _, b in edges])


@st.composite
def measured(draw: st.DrawFn, max_nodes: int = 9) -> tuple[Interest, Overlay]:
    """A small interest and an overlay from empty to complete on its nodes."""
    n = draw(st.integers(1, max_nodes))
    sets = draw(st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=n, max_size=n))
    pairs = [(a, b) for a in range(n) for b in range(a)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=2 * n)) if pairs else []
    interest = interest_of(sets)
    return interest, overlay_on(interest, edges)


def random_interest(n_nodes: int, n_topics: int, size: int, seed: int = 0) -> Interest:
    rng = np.random.default_rng(seed)
    topics = np.concatenate([rng.choice(n_topics, size, replace=False) for _ in range(n_nodes)])
    nodes = np.repeat(np.arange(n_nodes), size)
    return Interest.from_codes(numbered_ids("n", n_nodes), numbered_ids("t", n_topics), nodes, topics)


def random_overlay(interest: Interest, n_edges: int, seed: int = 0) -> Overlay:
    """A random tree, so that everything is reachable, and random edges on top."""
    rng = np.random.default_rng(seed)
    n = interest.n_nodes
    tree = [(node, int(rng.integers(node))) for node in range(1, n)]
    more = [(int(a), int(b)) for a, b in rng.integers(n, size=(n_edges, 2)) if a != b]
    return overlay_on(interest, tree + more)


def ring_per_topic(interest: Interest) -> Overlay:
    members = [interest.nodes_of(topic).tolist() for topic in range(interest.n_topics)]
    return overlay_on(
        interest, [(a, own[i - 1]) for own in members for i, a in enumerate(own) if a != own[i - 1]]
    )


def star_per_topic(interest: Interest) -> Overlay:
    members = [interest.nodes_of(topic).tolist() for topic in range(interest.n_topics)]
    return overlay_on(interest, [(own[0], node) for own in members for node in own[1:]])
