"""Weights the slow way: figures by plain all-pairs paths, and the best of all overlays there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

from naive.greedy import Pair
from topicloom.overlay.model.constraints import Constraints
from topicloom.overlay.model.interest import Interest

FAR = float("inf")


def times_of(constraints: Constraints) -> dict[Pair, float]:
    """The milliseconds of the pairs that have any."""
    return dict(
        zip(
            zip(constraints.timed.u.tolist(), constraints.timed.v.tolist(), strict=True),
            constraints.times.tolist(),
            strict=True,
        )
    )


def costs_of(constraints: Constraints) -> dict[Pair, float]:
    """The costs of the pairs that do not cost 1."""
    ends = zip(constraints.priced.u.tolist(), constraints.priced.v.tolist(), strict=True)
    return dict(zip(ends, constraints.costs.tolist(), strict=True))


def all_pairs(nodes: list[int], edges: Iterable[Pair], length: Callable[[Pair], float]) -> dict[Pair, float]:
    """Shortest paths among nodes over edges inside them (Floyd and Warshall)."""
    far = {(a, b): 0.0 if a == b else FAR for a in nodes for b in nodes}
    for u, v in edges:
        if u in nodes and v in nodes:
            far[u, v] = far[v, u] = length((u, v))
    for k in nodes:
        for a in nodes:
            for b in nodes:
                far[a, b] = min(far[a, b], far[a, k] + far[k, b])
    return far


def one_hop(pair: Pair) -> float:
    return 1.0


def naive_delivery(
    interest: Interest, edges: set[Pair], rates: list[float], length: Callable[[Pair], float] = one_hop
) -> float:
    """The mean path of a delivery: publishers are any subscribers, messages go to all others."""
    total = deliveries = 0.0
    for topic in range(interest.n_topics):
        nodes = interest.nodes_of(topic).tolist()
        for (a, b), path in all_pairs(nodes, edges, length).items():
            if a != b and path < FAR:
                total += rates[topic] / len(nodes) * path
                deliveries += rates[topic] / len(nodes)
    return total / deliveries if deliveries else 0.0


def naive_loads(interest: Interest, edges: set[Pair], rates: list[float]) -> list[float]:
    """What each node forwards: for each edge the rates of the topics that both ends want."""
    loads = [0.0] * interest.n_nodes
    for u, v in edges:
        shared = set(interest.topics_of(u).tolist()) & set(interest.topics_of(v).tolist())
        for node in (u, v):
            loads[node] += sum(rates[topic] for topic in shared)
    return loads


def whole(interest: Interest, edges: set[Pair]) -> bool:
    """Is every topic connected?"""
    return all(
        max(all_pairs(nodes, edges, one_hop).values(), default=0.0) < FAR
        for nodes in (interest.nodes_of(topic).tolist() for topic in range(interest.n_topics))
    )


def all_overlays(interest: Interest, most_edges: int, most_degree: int) -> Iterator[set[Pair]]:
    """Every overlay within these bounds that connects all topics; edges join nodes that share a topic."""
    topics = [set(interest.nodes_of(topic).tolist()) for topic in range(interest.n_topics)]
    pairs = [p for p in combinations(range(interest.n_nodes), 2) if any(set(p) <= own for own in topics)]
    for size in range(min(most_edges, len(pairs)) + 1):
        for chosen in combinations(pairs, size):
            degree = [sum(v in pair for pair in chosen) for v in range(interest.n_nodes)]
            if max(degree, default=0) <= most_degree and whole(interest, set(chosen)):
                yield set(chosen)
