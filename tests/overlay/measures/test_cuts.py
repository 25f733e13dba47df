"""What holds a topic together, against networkx: cut nodes, bridges, components, detours."""

from __future__ import annotations

import networkx
import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from topicloom.overlay.jobs.explain import explain_edge, explain_node, explain_topic
from topicloom.overlay.measures.cuts import TopicGraph
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


@st.composite
def overlays(draw):
    n = draw(st.integers(1, 9))
    wants = [draw(st.sets(st.sampled_from("xyz"), min_size=1)) for _ in range(n)]
    interest = Interest.from_lists({f"n{i}": sorted(own) for i, own in enumerate(wants)})
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    ends = np.array(chosen, np.int64).reshape(-1, 2).T
    return interest, Overlay.from_edges(interest.node_ids, *ends)


def inside(interest: Interest, overlay: Overlay, topic: str) -> networkx.Graph:
    whole = overlay.with_interest(interest).to_networkx()
    return whole.subgraph([name for name, data in whole.nodes(data=True) if topic in data["topics"]])


@examples(30)
@given(overlays())
def test_a_topic_is_cut_where_networkx_says_so(drawn):
    interest, overlay = drawn
    for topic in interest.topic_ids.to_pylist():
        graph = inside(interest, overlay, topic)
        found = explain_topic(interest, overlay, topic, threads=1)
        assert {one.node for one in found.cut_nodes} == set(networkx.articulation_points(graph))
        for one in found.cut_nodes:
            rest = networkx.connected_components(graph.subgraph(set(graph) - {one.node}))
            assert list(one.component_sizes) == sorted(map(len, rest), reverse=True)
        assert {frozenset(one) for one in found.bridges} == {
            frozenset(one) for one in networkx.bridges(graph)
        }
        sizes = sorted(map(len, networkx.connected_components(graph)), reverse=True)
        assert list(found.component_sizes) == sizes
        assert (found.subscribers, found.edges) == (len(graph), graph.number_of_edges())
        assert len(found.drawing) == len(graph)


@examples(30)
@given(overlays())
def test_what_splits_without_a_node_or_an_edge_is_what_splits(drawn):
    interest, overlay = drawn
    for name in interest.node_ids.to_pylist():
        found = explain_node(interest, overlay, name)
        split = {one.topic: list(one.component_sizes) for one in found.splits}
        for topic in found.topics:
            graph = inside(interest, overlay, topic)
            rest = graph.subgraph(set(graph) - {name})
            if name in set(networkx.articulation_points(graph)):
                sizes = sorted(map(len, networkx.connected_components(rest)), reverse=True)
                assert split.pop(topic) == sizes
        assert split == {}
        whole = overlay.to_networkx()
        assert {one.node for one in found.neighbors} == set(whole[name])
    for u, v in zip(overlay.u.tolist(), overlay.v.tolist(), strict=True):
        ends = interest.node_ids[u].as_py(), interest.node_ids[v].as_py()
        about = explain_edge(interest, overlay, *ends)
        assert set(about.topics) == {one.topic for one in (*about.splits, *about.detours)}
        for one in about.detours:
            graph = networkx.Graph(inside(interest, overlay, one.topic))
            graph.remove_edge(*ends)
            assert networkx.shortest_path_length(graph, *ends) == one.hops
        for one in about.splits:
            graph = networkx.Graph(inside(interest, overlay, one.topic))
            graph.remove_edge(*ends)
            sides = [len(networkx.node_connected_component(graph, end)) for end in ends]
            assert sorted(one.component_sizes) == sorted(sides) and not networkx.has_path(graph, *ends)


def test_a_long_path_needs_no_deep_stack():
    names = pa.array([f"n{i:05}" for i in range(5000)])
    interest = Interest.from_pairs([(name, "x") for name in names.to_pylist()])
    graph = TopicGraph.of(interest, Overlay.from_edges(names, range(4999), range(1, 5000)), 0)
    nodes, bridges = graph.cuts()
    assert (len(nodes), len(bridges)) == (4998, 4999)
    assert nodes[1] == (4998, 1) and nodes[2500] == (2500, 2499)
    assert graph.hops(0).tolist() == list(range(5000))
