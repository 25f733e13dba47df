"""Lower bounds by their definitions: covers by trying all sets of nodes, charges and trees pair by pair.

Plain fractions and sets, no index tricks; for a handful of nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import networkx as nx

from topicloom.overlay.model.interest import Interest


def wanted_by(interest: Interest) -> list[set[int]]:
    """The topics of each node."""
    return [set(interest.topics_of(node).tolist()) for node in range(interest.n_nodes)]


def smallest_cover(interest: Interest, node: int) -> int:
    """How few other nodes cover the topics of `node` that somebody else wants too."""
    wanted = wanted_by(interest)
    others = [topics for other, topics in enumerate(wanted) if other != node]
    demanded = wanted[node] & set().union(*others)
    return next(
        size
        for size in range(len(others) + 1)
        if any(demanded <= set().union(*chosen) for chosen in combinations(others, size))
    )


def largest_overlap(interest: Interest, node: int) -> int:
    """The most topics that `node` shares with one other."""
    wanted = wanted_by(interest)
    return max((len(wanted[node] & topics) for o, topics in enumerate(wanted) if o != node), default=0)


def pair_charges(
    interest: Interest, price: Sequence[float], toll: Sequence[float]
) -> dict[tuple[int, int], Fraction]:
    """What each pair that shares a topic is charged: per topic the larger price, and the tolls of both."""
    wanted = wanted_by(interest)
    of = {
        (node, topic): Fraction(price[slot])
        for slot, (node, topic) in enumerate(
            zip(interest.pair_nodes().tolist(), interest.node_topics.tolist(), strict=True)
        )
    }
    return {
        (u, v): sum(
            (max(of[u, t], of[v, t]) for t in wanted[u] & wanted[v]), Fraction(toll[u]) + Fraction(toll[v])
        )
        for u, v in combinations(range(interest.n_nodes), 2)
        if wanted[u] & wanted[v]
    }


def proves(
    interest: Interest, price: Sequence[float], toll: Sequence[float], allowance: Sequence[float]
) -> bool:
    """Is no pair charged more than the allowances of its ends?"""
    charges = pair_charges(interest, price, toll)
    return all(
        charge <= Fraction(allowance[u]) + Fraction(allowance[v]) for (u, v), charge in charges.items()
    )


def proved_value(
    interest: Interest, price: Sequence[float], toll: Sequence[float], needs: Sequence[int]
) -> Fraction:
    """The sum of prices less the lowest of each topic, and of tolls times needs."""
    by_topic: dict[int, list[Fraction]] = {}
    for topic, figure in zip(interest.node_topics.tolist(), price, strict=True):
        by_topic.setdefault(topic, []).append(Fraction(figure))
    prices = sum((sum(figures) - min(figures) for figures in by_topic.values()), Fraction(0))
    return prices + sum((Fraction(t) * int(k) for t, k in zip(toll, needs, strict=True)), Fraction(0))


def tree_weights(interest: Interest, charge: dict[tuple[int, int, int], float]) -> list[Fraction]:
    """For each topic the weight of its cheapest tree; `charge` by (topic, smaller node, larger node)."""
    weights = []
    for topic in range(interest.n_topics):
        graph = nx.Graph()
        for u, v in combinations(sorted(interest.nodes_of(topic).tolist()), 2):
            graph.add_edge(u, v, weight=Fraction(charge[topic, u, v]))
        tree = nx.minimum_spanning_tree(graph)
        weights.append(sum((data["weight"] for *_, data in tree.edges(data=True)), Fraction(0)))
    return weights
