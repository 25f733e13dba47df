"""What follows from the links of a mesh: connections, hops and components."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from hand_mesh import INTEREST, LINKS, HandLink, hand_mesh
from topicloom.mesh.model.mesh import components_of, connections_per_node, hops_max, neighbors_by_topic

MESH = hand_mesh(INTEREST, LINKS)


def test_figures_of_the_links_as_configured():
    assert hops_max(MESH) == 2
    assert connections_per_node(MESH) == {"a": 1, "b": 3, "c": 1, "d": 1}
    # A path through a node that does not want the topic is none.
    through = hand_mesh(
        {"a": ("x",), "b": (), "c": ("x",)}, [HandLink("b", "a", ("x",)), HandLink("c", "b", ("x",))]
    )
    assert hops_max(through) == 0


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14))
def test_hops_and_components_of_any_links_are_those_of_the_graph(pairs):
    """Also where links form cycles: the longest of the shortest paths within a component."""
    names = [f"n{index}" for index in range(8)]
    pairs = {(max(pair), min(pair)) for pair in pairs if pair[0] != pair[1]}
    links = [HandLink(names[one], names[other], ("t",)) for one, other in sorted(pairs)]
    mesh = hand_mesh(dict.fromkeys(names, ("t",)), links)
    graph = nx.Graph()
    graph.add_nodes_from(names)
    graph.add_edges_from((one.dialer, one.acceptor) for one in links)
    components = list(nx.connected_components(graph))
    assert hops_max(mesh) == max(nx.diameter(graph.subgraph(part)) for part in components)
    near = neighbors_by_topic((one.dialer, one.acceptor, one.topics) for one in links)
    assert sorted(map(sorted, components_of(names, near.get("t", {})))) == sorted(map(sorted, components))
