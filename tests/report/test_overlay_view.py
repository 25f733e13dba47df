"""What a report measures, against a slow version by networkx."""

from __future__ import annotations

import networkx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from topicloom import Interest, Overlay
from topicloom.report.sources import overlay_view
from topicloom.report.sources.overlay_view import count_hops, count_topic_edges

PAIRS = st.sets(st.tuples(st.integers(0, 8), st.integers(0, 3)), min_size=1)
EDGES = st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)))


def naive(interest: Interest, overlay: Overlay) -> tuple[dict[int, int], list[int]]:
    """Return how many ordered pairs are so many hops apart, and the edges that carry each topic."""
    graph = networkx.Graph(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))
    graph.add_nodes_from(range(interest.n_nodes))
    hops: dict[int, int] = {}
    carried = []
    for topic in range(interest.n_topics):
        inside = graph.subgraph(interest.nodes_of(topic).tolist())
        carried.append(inside.number_of_edges())
        for _, found in networkx.all_pairs_shortest_path_length(inside):
            for far in found.values():
                hops[far] = hops.get(far, 0) + (far > 0)
    return hops, carried


@given(PAIRS, EDGES)
@examples(40)
def test_hops_and_load_are_those_of_the_subgraphs(pairs, edges) -> None:
    interest = Interest.from_pairs((f"n{node}", f"t{topic}") for node, topic in sorted(pairs))
    n = interest.n_nodes
    kept = [(a % n, b % n) for a, b in sorted(edges) if a % n != b % n]
    overlay = Overlay.from_edges(interest.node_ids, [a for a, _ in kept], [b for _, b in kept])
    hops, carried = naive(interest, overlay)
    found, exact = count_hops(interest, overlay)
    assert exact
    assert {far: count for far, count in enumerate(found.tolist()) if count} == {
        far: count for far, count in hops.items() if count
    }
    assert count_topic_edges(interest, overlay).tolist() == carried


def test_large_topics_are_sampled_evenly(monkeypatch) -> None:
    monkeypatch.setattr(overlay_view, "SOURCES", 3)
    interest = Interest.from_pairs((f"n{node}", "t") for node in range(9))
    ring = Overlay.from_edges(interest.node_ids, range(9), [*range(1, 9), 0])
    found, exact = count_hops(interest, ring)
    assert not exact and np.array_equal(found, [0, 6, 6, 6, 6])
