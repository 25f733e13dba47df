"""The hop-aware greedy: exactly the edges of the slow version, hops and degrees within their limits."""

from __future__ import annotations

from unittest.mock import patch

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom.overlay.builders.short_gm as short_gm
from drawing import examples
from naive.measures import topic_component_counts
from naive.short_gm import Trees, naive_short_gm
from strategies import interests
from topicloom.base.progress import SILENT
from topicloom.overlay.builders.balanced import build_balanced
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.builders.short_gm import ShortGreedy, build_short_gm
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options


def without_twins(interest: Interest) -> Interest:
    wanted = {tuple(interest.topics_of(node).tolist()): node for node in range(interest.n_nodes)}
    return interest.restrict(sorted(wanted.values()))


def plain_hops(interest: Interest, overlay) -> int:
    """The largest diameter inside a topic, by networkx."""
    graph = overlay.to_networkx()
    names = interest.node_ids.to_pylist()
    inside = [graph.subgraph([names[v] for v in interest.nodes_of(t)]) for t in range(interest.n_topics)]
    return max((nx.diameter(topic) for topic in inside if len(topic)), default=0)


@examples(150)
@given(interests(max_nodes=14), st.integers(1, 6), st.integers(1, 5), st.sampled_from([2, 3, 64]))
def test_under_a_fixed_bound_the_edges_are_those_of_the_reference(interest, bound, limit, kept):
    """Lazy rows must stay exact, however few pairs they remember."""
    interest = without_twins(interest)
    with patch.object(short_gm, "KEPT", kept):
        greedy = ShortGreedy(interest, limit, bound, 0.0, progress=SILENT)
    greedy._choose()
    n = int(greedy.chosen.length[0])
    columns = (greedy.chosen.u, greedy.chosen.v, greedy.chosen.contribution)
    found = list(zip(*(column[:n].tolist() for column in columns), strict=True))
    assert found == naive_short_gm(interest, bound, limit)


@examples(100)
@given(interests(max_nodes=20), st.integers(3, 6))
def test_eccentricities_and_spans_are_those_of_the_trees(interest, limit):
    """Told by walks over part of a tree; here every distance is counted anew."""
    interest = without_twins(interest)
    greedy = ShortGreedy(interest, limit, None, 3.0, progress=SILENT)
    greedy._choose()
    state, hops, n = greedy.state, greedy.hops, int(greedy.chosen.length[0])
    trees = Trees(interest)
    arcs = [(p, int(hops.arc_place[a])) for p in range(len(hops.ecc)) for a in _arcs(hops, p)]
    topic_of = [t for t in range(interest.n_topics) for _ in interest.nodes_of(t)]
    for a, b in arcs:
        trees.links[int(state.place_unit[a]), topic_of[a]].add(int(state.place_unit[b]))
    for place, topic in enumerate(topic_of):
        far = trees.distances(int(state.place_unit[place]), topic)
        assert hops.ecc[place] == max(far.values())
        members = [max(trees.distances(other, topic).values()) for other in far]
        assert hops.span[state.place_label[place]] == max(members)
    assert n == len(set(zip(greedy.chosen.u[:n].tolist(), greedy.chosen.v[:n].tolist(), strict=True)))


def _arcs(hops, place):
    arc = int(hops.first_arc[place])
    while arc >= 0:
        yield arc
        arc = int(hops.arc_next[arc])


@examples(100)
@given(interests(max_nodes=25), st.one_of(st.just("auto"), st.just("none"), st.integers(1, 8)))
def test_hops_told_are_those_of_a_plain_search_and_every_topic_is_connected(interest, max_hops):
    build = build_short_gm(interest, max_hops=max_hops)
    assert all(count <= 1 for count in topic_component_counts(interest, build.overlay))
    if max_hops != "none":
        assert build.report["hops_max"] == plain_hops(interest, build.overlay)
        assert build.report["hops_kept"] == (build.report["hops_max"] <= build.report["max_hops"])


@examples(60)
@given(st.integers(2, 60), st.integers(3, 9))
def test_twins_alone_are_a_tree_within_the_limit(n, limit):
    interest = Interest.from_pairs([(f"n{i:02}", topic) for i in range(n) for topic in "xy"])
    overlay = build_short_gm(interest, degree_limit=limit).overlay
    assert overlay.n_edges == n - 1 and overlay.degrees().max() <= limit


@pytest.mark.slow
def test_paths_are_shorter_than_those_of_gm_at_about_as_many_edges():
    workload = workload_from_options(600, topics=50, subscriptions="10", popularity="zipf:0.5", seed=1)
    interest = generate_interest(workload)
    gm, short = build_gm(interest), build_short_gm(interest, max_hops="none", stretch=3.0)
    assert plain_hops(interest, short.overlay) < 0.75 * plain_hops(interest, gm.overlay)
    assert short.n_edges <= 1.05 * gm.n_edges
    bounded = build_short_gm(interest)
    assert bounded.report["hops_max"] <= bounded.report["max_hops"] + 2


def test_a_bound_that_no_overlay_keeps_is_told():
    """Under one hop every pair of a topic needs an edge, which the degree limit does not allow."""
    interest = Interest.from_pairs([(f"n{i}", topic) for i in range(8) for topic in ("x", f"t{i}")])
    report = build_short_gm(interest, max_hops=1, degree_limit=3).report
    assert not report["hops_kept"] and report["topics_beyond"] == ["x"] and report["hops_max"] > 1


def test_ports_that_open_again_near_the_root_bring_no_endless_turns():
    """Once the degree rose a pair of sets of twins came up again and again, because its edge was too deep."""
    workload = workload_from_options(600, topics=8, subscriptions="1:4", popularity="zipf:1", seed=3)
    interest = generate_interest(workload)
    build = build_balanced(interest)
    assert check_overlay(interest, build.overlay).topic_connected
    assert build.report["hops_kept"], "a cap of three leaves no room for 18 hops, so it must rise"
