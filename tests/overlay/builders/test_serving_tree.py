"""The tree test against networkx, and the degrees of the trees it finds."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.exact import topic_connected, tree_weights
from strategies import interests
from topicloom.overlay.builders.serving_tree import serving_tree
from topicloom.overlay.model.interest import Interest


@st.composite
def grown(draw: st.DrawFn, max_nodes: int = 12, spokes: int = 0) -> Interest:
    """Topics are pieces of a hidden tree, so one tree serves them all; node numbers are shuffled.

    Each of the `spokes` is an edge of the first node with a topic of its two ends alone: every tree has it.
    """
    n = draw(st.integers(max(2, spokes + 1), max_nodes))
    names = draw(st.permutations(range(n)))
    parents = [0 if node <= spokes else draw(st.integers(0, node - 1)) for node in range(1, n)]
    tree = nx.Graph(enumerate(parents, start=1))
    pairs = [(f"n{names[node]:02}", f"s{spoke}") for spoke in range(1, spokes + 1) for node in (0, spoke)]
    for topic in range(draw(st.integers(1, 8))):
        piece = {draw(st.integers(0, n - 1))}
        for _ in range(draw(st.integers(1, n))):
            piece |= {draw(st.sampled_from(sorted(tree[draw(st.sampled_from(sorted(piece)))])))}
        pairs += [(f"n{names[node]:02}", f"t{topic}") for node in piece]
    return Interest.from_pairs(pairs)


def edges_of(tree) -> tuple[tuple[int, int], ...]:
    return tuple(zip(tree[0].tolist(), tree[1].tolist(), strict=True))


@examples(200)
@given(st.one_of(interests(max_nodes=8), grown()))
def test_there_is_a_tree_exactly_if_the_maximum_spanning_tree_weighs_enough(interest):
    """Otherwise the early end of the growth, or the weight it stands for, is wrong."""
    tree = serving_tree(interest)
    weight, needed = tree_weights(interest)
    assert (tree is not None) == (weight == needed)
    if tree is not None:
        edges = edges_of(tree)
        assert topic_connected(interest, edges)
        assert all(a < b for a, b in edges) and list(edges) == sorted(edges)
        assert not edges or nx.is_forest(nx.Graph(edges))


@examples(60)
@given(grown(spokes=3))
def test_no_swap_of_equal_weight_helps_the_node_of_highest_degree(interest):
    """Otherwise relief overlooks swaps: every one at that node is tried here."""
    graph = nx.Graph(edges_of(serving_tree(interest)))
    degree = dict(graph.degree())
    most = max(degree.values())
    assert most > 2, "the spokes make a hub in every tree"
    hub = min(node for node in graph if degree[node] == most)
    wanted = [set(interest.topics_of(node).tolist()) for node in range(interest.n_nodes)]
    for b in list(graph[hub]):
        shared = wanted[hub] & wanted[b]
        graph.remove_edge(hub, b)
        beyond = nx.node_connected_component(graph, b)
        able = [node for node in graph if shared <= wanted[node] and node != hub]
        low = [node for node in able if degree[node] <= most - 2]
        ends = {b, *(node for node in low if node in beyond)}
        assert not ([node for node in low if node not in beyond] and ends)
        graph.add_edge(hub, b)


@pytest.mark.parametrize("extra", [0, 1])
def test_one_topic_gives_a_path(extra):
    """A star serves one topic as well; with a topic of its own for each node there are no twins to fold."""
    pairs = [(f"n{node:02}", "x") for node in range(50)]
    pairs += [(f"n{node:02}", f"t{node}") for node in range(50 * extra)]
    graph = nx.Graph(edges_of(serving_tree(Interest.from_pairs(pairs), twins="path")))
    assert graph.number_of_edges() == 49 and max(dict(graph.degree()).values()) == 2


def test_several_parts_give_a_forest_and_lonely_nodes_stay_alone():
    """Nodes that want nothing are all alike, yet share nothing: they must not be linked as twins."""
    from scipy.sparse import csr_array

    rows = [[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    tree = serving_tree(Interest.from_scipy(csr_array(rows)))
    assert edges_of(tree) == ((0, 1), (0, 2), (3, 4))


def test_a_ring_of_topics_has_no_tree():
    """The smallest interest that needs a cycle."""
    ring = [(f"n{i}", f"t{(i + k) % 4}") for i in range(4) for k in range(2)]
    assert serving_tree(Interest.from_pairs(ring)) is None
