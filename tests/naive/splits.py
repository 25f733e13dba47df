"""What one death splits, by trying: take every node and every edge away, count components again."""

from __future__ import annotations

import networkx as nx

from naive.measures import topic_graph
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def naive_splits(interest: Interest, overlay: Overlay) -> list[int]:
    """The topics that each node splits: those whose other subscribers are in more components without it."""
    splits = [0] * interest.n_nodes
    for topic in range(interest.n_topics):
        graph = nx.Graph(topic_graph(interest, overlay, topic))
        before = list(nx.connected_components(graph))
        for node in list(graph):
            others = sum(1 for part in before if part != {node})  # components with somebody else
            without = graph.subgraph(set(graph) - {node})
            splits[node] += nx.number_connected_components(without) > others
    return splits


def naive_bridges(interest: Interest, overlay: Overlay) -> list[int]:
    """The edges of each topic without which it has more components."""
    bridges = [0] * interest.n_topics
    for topic in range(interest.n_topics):
        graph = nx.Graph(topic_graph(interest, overlay, topic))
        before = nx.number_connected_components(graph)
        for edge in list(graph.edges):
            graph.remove_edge(*edge)
            bridges[topic] += nx.number_connected_components(graph) > before
            graph.add_edge(*edge)
    return bridges
