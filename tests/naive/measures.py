"""Measures by their definitions: plain loops over sets and networkx graphs, slow and obvious."""

from __future__ import annotations

from itertools import combinations

import networkx as nx

from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def graph_of(overlay: Overlay) -> nx.Graph:
    """The overlay over node numbers."""
    graph = nx.Graph()
    graph.add_nodes_from(range(overlay.n_nodes))
    graph.add_edges_from(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))
    return graph


def topics_by_node(interest: Interest) -> list[set[int]]:
    return [set(interest.topics_of(node).tolist()) for node in range(interest.n_nodes)]


def topic_graph(interest: Interest, overlay: Overlay, topic: int) -> nx.Graph:
    """The subscribers of a topic and the edges among them."""
    return graph_of(overlay).subgraph(interest.nodes_of(topic).tolist())


def topic_component_counts(interest: Interest, overlay: Overlay) -> list[int]:
    return [
        nx.number_connected_components(topic_graph(interest, overlay, topic))
        for topic in range(interest.n_topics)
    ]


def topic_diameters(interest: Interest, overlay: Overlay) -> list[int]:
    """-1 where the topic is partitioned."""
    graphs = [topic_graph(interest, overlay, topic) for topic in range(interest.n_topics)]
    return [nx.diameter(graph) if nx.is_connected(graph) else -1 for graph in graphs]


def overlay_diameter(overlay: Overlay) -> tuple[int, list[int]]:
    """(number of components, diameters of all largest components)."""
    graph = graph_of(overlay)
    parts = list(nx.connected_components(graph))
    size = max(len(part) for part in parts)
    return len(parts), [nx.diameter(graph.subgraph(part)) for part in parts if len(part) == size]


def shared_topics(interest: Interest, overlay: Overlay) -> list[set[int]]:
    wanted = topics_by_node(interest)
    return [wanted[a] & wanted[b] for a, b in zip(overlay.u.tolist(), overlay.v.tolist(), strict=True)]


def filtering_cost(interest: Interest, overlay: Overlay, topic: int) -> int | None:
    """The fewest nodes not interested whose company connects the topic; None if all together do not."""
    graph = graph_of(overlay)
    wanted = set(interest.nodes_of(topic).tolist())
    others = sorted(set(graph.nodes) - wanted)
    for count in range(len(others) + 1):
        for chosen in combinations(others, count):
            if nx.is_connected(graph.subgraph(wanted | set(chosen))):
                return count
    return None


def node_loads(interest: Interest, overlay: Overlay, weights: list[float]) -> list[float]:
    loads = [0.0] * interest.n_nodes
    for a, b, shared in zip(
        overlay.u.tolist(), overlay.v.tolist(), shared_topics(interest, overlay), strict=True
    ):
        for node in (a, b):
            loads[node] += sum(weights[topic] for topic in shared)
    return loads


def top_d_intersection(interest: Interest, d: int) -> float:
    """tdi(d) of [Chockler2007b, 3.4], in percent."""
    wanted = topics_by_node(interest)
    total = 0.0
    for node, own in enumerate(wanted):
        values = [
            100 * len(own & other) / min(len(own), len(other))
            for place, other in enumerate(wanted)
            if place != node
        ]
        total += sum(sorted(values, reverse=True)[:d]) / d
    return total / len(wanted)


def interest_groups(interest: Interest) -> int:
    """Groups of nodes linked by shared topics."""
    graph = nx.Graph()
    graph.add_nodes_from(range(interest.n_nodes))
    wanted = topics_by_node(interest)
    graph.add_edges_from((a, b) for a, b in combinations(range(interest.n_nodes), 2) if wanted[a] & wanted[b])
    return nx.number_connected_components(graph)


def identical_share(interest: Interest) -> float:
    wanted = topics_by_node(interest)
    return sum(wanted.count(own) > 1 for own in wanted) / len(wanted)
