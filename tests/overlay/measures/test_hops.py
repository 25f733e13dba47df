"""Mean and percentile of hops against a plain search, the sample against the whole, Moore's bound."""

from __future__ import annotations

from unittest.mock import patch

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom.overlay.measures.hops as hops
from drawing import examples
from naive.hops import naive_all_hops
from strategies import interests
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.measures.hops import measure_hops, moore_bound
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options


@examples(100)
@given(interests(max_nodes=16), st.integers(0, 3))
def test_mean_and_percentile_are_those_of_a_plain_search(interest, missing):
    """Also of an overlay with split topics: pairs that do not reach each other are left out."""
    built = build_gm(interest).overlay
    kept = max(built.n_edges - missing, 0)
    overlay = Overlay.from_edges(interest.node_ids, built.u[:kept], built.v[:kept])
    found = measure_hops(view_of(interest, overlay))
    all_hops = sorted(naive_all_hops(interest, overlay))
    assert found["hops_mean"] == pytest.approx(np.mean(all_hops) if all_hops else 0.0)
    place = -(-95 * len(all_hops) // 100) - 1
    assert found["hops_p95"] == (all_hops[place] if all_hops else 0)


def test_a_sample_is_close_to_the_whole_and_always_the_same():
    workload = workload_from_options(500, topics=20, subscriptions="6", popularity="zipf:0.5", seed=2)
    interest = generate_interest(workload)
    view = view_of(interest, build_gm(interest).overlay)
    with patch.object(hops, "EXACT_SUBSCRIBERS", 10**6):
        whole = measure_hops(view)
    with patch.object(hops, "EXACT_SUBSCRIBERS", 64):
        sample = measure_hops(view)
        assert sample == measure_hops(view)
    assert whole["hops_sampled_topics"] == 0 < sample["hops_sampled_topics"]
    assert sample["hops_mean"] == pytest.approx(whole["hops_mean"], rel=0.05)
    assert abs(sample["hops_p95"] - whole["hops_p95"]) <= 1


@pytest.mark.parametrize(
    ("graph", "degree"),
    [(nx.petersen_graph(), 3), (nx.complete_graph(6), 5), (nx.cycle_graph(9), 2), (nx.star_graph(7), 7)],
)
def test_no_graph_beats_the_bound_and_moore_graphs_reach_it(graph, degree):
    assert moore_bound(len(graph), degree) == (1 if degree == 7 else nx.diameter(graph))


@examples(60)
@given(st.integers(2, 40), st.integers(2, 6), st.integers(0, 5))
def test_the_bound_holds_for_random_graphs(nodes, degree, seed):
    graph = nx.gnp_random_graph(nodes, min(1.0, degree / nodes), seed=seed)
    if nx.is_connected(graph):
        most = max(d for _, d in graph.degree())
        assert moore_bound(nodes, most) <= nx.diameter(graph)
