"""Who dies, by trying: take every set of up to K nodes away, and look whether each topic is connected."""

from __future__ import annotations

from itertools import combinations

import networkx as nx

from naive.measures import topic_graph
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def naive_fragile(interest: Interest, overlay: Overlay, deaths: int) -> set[int]:
    """The topics that some set of up to so many dead nodes splits."""
    return {
        topic
        for topic in range(interest.n_topics)
        if any(
            is_split(topic_graph(interest, overlay, topic), dead)
            for count in range(deaths + 1)
            for dead in combinations(interest.nodes_of(topic).tolist(), count)
        )
    }


def is_split(graph: nx.Graph, dead: tuple[int, ...]) -> bool:
    """Are those that live in several components?"""
    return nx.number_connected_components(graph.subgraph(set(graph) - set(dead))) > 1


def naive_parts(interest: Interest, overlay: Overlay) -> int:
    """How many components more than one the deaths of single nodes leave, summed over nodes and topics."""
    total = 0
    for topic in range(interest.n_topics):
        graph = topic_graph(interest, overlay, topic)
        for node in graph:
            left = nx.number_connected_components(graph.subgraph(set(graph) - {node}))
            total += max(left - 1, 0)
    return total
