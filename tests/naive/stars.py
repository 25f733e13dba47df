"""The diameter-2 builders of [Onus2016, 6] and the per-topic baselines, word by word: slow, obvious.

Counts include the node itself and only the topics that are left; edges are a set; ties go to the smallest
node (then the smallest topic).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

from topicloom.overlay.model.interest import Interest

Pair = tuple[int, int]


class Left:
    """The interest restricted to the topics that are left."""

    def __init__(self, interest: Interest) -> None:
        self.nodes = range(interest.n_nodes)
        self.topics = {t for t in range(interest.n_topics) if len(interest.nodes_of(t))}
        self._wants = [set(interest.topics_of(v).tolist()) for v in self.nodes]

    def wants(self, v: int) -> set[int]:
        return self._wants[v] & self.topics

    def subscribers(self, t: int) -> set[int]:
        return {v for v in self.nodes if t in self._wants[v]}

    def neighbors(self, u: int) -> set[int]:
        """Those that share a topic with u, u among them: n_u of [Onus2016] is their number."""
        return {v for v in self.nodes if self.wants(u) & self.wants(v)}

    def weight(self, u: int) -> int:
        """w_u of [Onus2016]: over the topics of u, the number of subscribers, u among them."""
        return sum(len(self.subscribers(t)) for t in self.wants(u))

    def density(self, u: int) -> Fraction:
        return Fraction(self.weight(u), len(self.neighbors(u)) or 1)


def edge(a: int, b: int) -> Pair:
    return min(a, b), max(a, b)


def _by_hubs(interest: Interest, rank: Callable[[Left, int], Fraction | int]) -> set[Pair]:
    left, edges = Left(interest), set()
    while left.topics:
        u = max(left.nodes, key=lambda v: (rank(left, v), -v))
        edges |= {edge(u, v) for v in left.neighbors(u) if v != u}
        left.topics -= left.wants(u)
    return edges


def naive_cd_oda(interest: Interest) -> set[Pair]:
    return _by_hubs(interest, lambda left, u: len(left.neighbors(u)))


def naive_cd_oda_i(interest: Interest) -> set[Pair]:
    return _by_hubs(interest, Left.weight)


def naive_cd_oda_ii(interest: Interest) -> set[Pair]:
    return _by_hubs(interest, Left.density)


def naive_2d_oda(interest: Interest) -> set[Pair]:
    """[Onus2016, Algorithm 2], with the topic density td(u, t) of section 6.3."""
    left, edges = Left(interest), set()

    def density(u: int, t: int) -> Fraction:
        missing = {v for v in left.subscribers(t) if edge(u, v) not in edges}
        return Fraction(left.weight(u), len(missing))

    while left.topics:
        pairs = [(u, t) for u in left.nodes for t in left.wants(u)]
        hub, topic = max(pairs, key=lambda pair: (density(*pair), -pair[0], -pair[1]))
        edges |= {edge(hub, v) for v in left.subscribers(topic) if v != hub}
        left.topics.remove(topic)
    return edges


def naive_star(interest: Interest) -> set[Pair]:
    """Each topic's smallest subscriber, linked to all others of the topic."""
    members = [interest.nodes_of(t).tolist() for t in range(interest.n_topics)]
    return {(min(own), v) for own in members for v in own if v != min(own)}


def naive_full_mesh(interest: Interest) -> set[Pair]:
    """All pairs that share a topic."""
    members = [sorted(interest.nodes_of(t).tolist()) for t in range(interest.n_topics)]
    return {pair for own in members for pair in combinations(own, 2)}


def topic_diameters(interest: Interest, edges: set[Pair]) -> list[int]:
    """The diameter of each topic's subgraph, by searches from every subscriber; -1 if it is not connected."""
    diameters = []
    for t in range(interest.n_topics):
        own = set(interest.nodes_of(t).tolist())
        farthest = 0
        for start in own:
            reached, rim, steps = {start}, {start}, 0
            while rim := {b for a in rim for b in own if edge(a, b) in edges} - reached:
                reached |= rim
                steps += 1
            farthest = max(farthest, steps) if farthest >= 0 and reached == own else -1
        diameters.append(farthest)
    return diameters
