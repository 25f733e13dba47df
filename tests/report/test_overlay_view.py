"""What a report measures, against a slow version by networkx."""

from __future__ import annotations

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom
from drawing import examples
from topicloom import Interest, Overlay
from topicloom.overlay.measures import hops as measured
from topicloom.report.sources import overlay_view
from topicloom.report.sources.overlay_view import measure_for_report

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
    found = measure_for_report(interest, overlay)
    assert found.hops_exact
    assert {far: count for far, count in enumerate(found.hops.tolist()) if count} == {
        far: count for far, count in hops.items() if count
    }
    assert found.topic_edges.tolist() == carried


@pytest.mark.parametrize("largest", [256, 3], ids=["all", "sampled"])
def test_a_report_and_measure_tell_the_same_mean(monkeypatch, largest) -> None:
    """A report that samples in its own way says 9.16 hops where `measure` says 9.0."""
    monkeypatch.setattr(measured, "EXACT_SUBSCRIBERS", largest)
    monkeypatch.setattr(overlay_view, "EXACT_SUBSCRIBERS", largest)
    interest = topicloom.generate(80, topics=9, subscriptions="1:5", popularity="zipf:1", seed=4)
    overlay = topicloom.build(interest, "gm").overlay
    found = measure_for_report(interest, overlay)
    assert found.hops_avg == topicloom.measure(interest, overlay)["hops_mean"]
    assert found.hops_exact == (largest == 256)
