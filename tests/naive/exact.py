"""The optimum by trying all sets of edges: a few nodes only, and nothing to be clever about."""

from __future__ import annotations

from itertools import combinations

import networkx as nx

from topicloom.overlay.model.interest import Interest

Edge = tuple[int, int]


def topic_connected(interest: Interest, edges: tuple[Edge, ...]) -> bool:
    """Does every topic induce a connected graph on its subscribers?"""
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(interest.n_nodes))
    topics = [interest.nodes_of(topic).tolist() for topic in range(interest.n_topics)]
    return all(not nodes or nx.is_connected(graph.subgraph(nodes)) for nodes in topics)


def degree_max(edges: tuple[Edge, ...]) -> int:
    return max((degree for _, degree in nx.Graph(edges).degree()), default=0)


def candidates(interest: Interest) -> list[Edge]:
    """The pairs that share a topic; an edge between others connects nothing."""
    wanted = [set(interest.topics_of(node).tolist()) for node in range(interest.n_nodes)]
    return [(a, b) for a, b in combinations(range(interest.n_nodes), 2) if wanted[a] & wanted[b]]


def fewest_edges(interest: Interest, most_degree: int | None = None) -> int | None:
    """The smallest number of edges of a topic-connected overlay; None if the degree makes it impossible."""
    pairs = candidates(interest)
    for size in range(len(pairs) + 1):
        for edges in combinations(pairs, size):
            fits = most_degree is None or degree_max(edges) <= most_degree
            if fits and topic_connected(interest, edges):
                return size
    return None


def lowest_degree(interest: Interest) -> tuple[int, int]:
    """The lowest maximum degree, and the fewest edges at that degree."""
    degree = 0
    while (edges := fewest_edges(interest, degree)) is None:
        degree += 1
    return degree, edges


def tree_weights(interest: Interest) -> tuple[int, int]:
    """The weight of a maximum spanning forest by shared topics, and what one that serves all would weigh."""
    graph = nx.Graph()
    for a, b in candidates(interest):
        shared = set(interest.topics_of(a).tolist()) & set(interest.topics_of(b).tolist())
        graph.add_edge(a, b, weight=len(shared))
    forest = nx.maximum_spanning_tree(graph)
    sizes = [len(interest.nodes_of(topic)) for topic in range(interest.n_topics)]
    return int(forest.size(weight="weight")), sum(size - 1 for size in sizes if size)
