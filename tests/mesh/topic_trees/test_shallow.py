"""The shortest trees: no spanning tree of a topic has a smaller diameter, tried on all of them."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given

from drawing import examples
from naive.overlays import interest_of, overlay_on
from naive.tree_cases import served
from topicloom.errors import InputError
from topicloom.mesh.kernels import shallow_trees
from topicloom.mesh.topic_trees import spanning
from topicloom.mesh.topic_trees.check import check_topic_trees
from topicloom.mesh.topic_trees.shallow import build_shallow_trees
from topicloom.overlay.builders.cd_oda import build_2d_oda
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options


def inside(interest, overlay, topic):
    graph = nx.Graph()
    graph.add_nodes_from(interest.nodes_of(topic).tolist())
    members = set(graph)
    edges = zip(overlay.u.tolist(), overlay.v.tolist(), strict=True)
    graph.add_edges_from((a, b) for a, b in edges if a in members and b in members)
    return graph


def tree_hops(interest, trees, topic):
    graph = nx.Graph(zip(*(side.tolist() for side in trees.edges_of(topic)), strict=True))
    return nx.diameter(graph) if len(graph) > 1 else 0


def least_hops(graph):
    """The smallest diameter of a spanning tree: every set of edges is tried."""
    if len(graph) < 2:
        return 0
    found = (nx.Graph(edges) for edges in combinations(graph.edges, len(graph) - 1))
    return min(nx.diameter(tree) for tree in found if len(tree) == len(graph) and nx.is_connected(tree))


@examples(60)
@given(case=served(max_nodes=6, max_topics=4))
def test_no_spanning_tree_has_fewer_hops(case):
    interest, overlay = case
    assume(overlay.n_edges <= 10)
    trees = build_shallow_trees(interest, overlay)
    assert check_topic_trees(interest, overlay, trees) == []
    for topic in range(interest.n_topics):
        assert tree_hops(interest, trees, topic) == least_hops(inside(interest, overlay, topic))


def test_a_diameter_of_two_stays_two():
    """Spreading the load made seven hops of the stars of 2d-oda."""
    interest = generate_interest(workload_from_options(60, 30, "4:9", "zipf:1", 3))
    trees = build_shallow_trees(interest, build_2d_oda(interest).overlay)
    assert max(tree_hops(interest, trees, topic) for topic in range(interest.n_topics)) <= 2


def test_an_edge_in_the_middle_is_found():
    """A path of six has its middle on an edge: five hops, where a node as the middle would allow six."""
    interest = interest_of([{0}] * 6)
    ring = overlay_on(interest, [(i, (i + 1) % 6) for i in range(6)])
    assert tree_hops(interest, build_shallow_trees(interest, ring), 0) == 5


def test_large_topics_try_roots_near_the_middle(monkeypatch):
    """With few candidates a path is still hung up at its middle; the kernel has its limits compiled in."""
    interest = interest_of([{0}] * 41)
    overlay = overlay_on(interest, [(i, i + 1) for i in range(40)])
    trees = build_shallow_trees(interest, overlay)
    assert trees.roots.tolist() == [20] and shallow_trees.CANDIDATES < 100


def test_the_load_is_spread_over_equal_trees():
    interest = interest_of([set(range(6))] * 12)
    overlay = overlay_on(interest, [(a, b) for a in range(12) for b in range(a)])
    trees = build_shallow_trees(interest, overlay)
    assert max(tree_hops(interest, trees, topic) for topic in range(6)) == 2


def test_split_topics_are_named_and_slices_change_nothing(monkeypatch):
    interest = generate_interest(workload_from_options(60, 30, "4:9", "zipf:1", 3))
    overlay = build_2d_oda(interest).overlay
    whole = build_shallow_trees(interest, overlay)
    monkeypatch.setattr(spanning, "SLICE", 40)
    assert len(spanning.topic_slices(interest)) > 3
    assert np.array_equal(whole.parent, build_shallow_trees(interest, overlay).parent)
    with pytest.raises(InputError, match="is not connected"):
        build_shallow_trees(interest, overlay_on(interest, [(0, 1)]))
