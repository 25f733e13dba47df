"""The hop-aware greedy under a fixed bound, as it is defined: slow, obvious, plain Python.

For interests without twins. Every topic component is a tree of the edges that joined it; distances are
counted by walking it.
"""

from __future__ import annotations

from itertools import combinations

from naive.greedy import Pair, Step
from topicloom.overlay.model.interest import Interest


class Trees:
    """Per topic the forest of joining edges."""

    def __init__(self, interest: Interest) -> None:
        self.wanted = [frozenset(interest.topics_of(node).tolist()) for node in range(interest.n_nodes)]
        self.links = {(node, t): set() for node, own in enumerate(self.wanted) for t in own}

    def distances(self, node: int, topic: int) -> dict[int, int]:
        """From a node to all others of its component of a topic."""
        found, queue = {node: 0}, [node]
        for here in queue:
            for there in self.links[here, topic] - found.keys():
                found[there] = found[here] + 1
                queue.append(there)
        return found

    def counted(self, u: int, v: int, bound: int) -> list[tuple[int, int]]:
        """The topics that an edge would join within the bound, each with the sum of both eccentricities."""
        topics = []
        for topic in sorted(self.wanted[u] & self.wanted[v]):
            near, far = self.distances(u, topic), self.distances(v, topic)
            total = max(near.values()) + max(far.values())
            if v not in near and total + 1 <= bound:
                topics.append((topic, total))
        return topics


def naive_short_gm(interest: Interest, bound: int, limit: int) -> list[Step]:
    """Most topics first; then the smallest sum of eccentricities; then the smallest nodes."""
    trees, steps = Trees(interest), []
    degree = [0] * interest.n_nodes

    def key(pair: Pair) -> tuple[int, int, int, int]:
        topics = trees.counted(*pair, bound)
        return -len(topics), sum(total for _, total in topics), *pair

    while True:
        pairs = [
            p for p in combinations(range(interest.n_nodes), 2) if max(degree[p[0]], degree[p[1]]) < limit
        ]
        best = min(map(key, pairs), default=(0,))
        if best[0] == 0:
            return steps
        u, v = best[2:]
        for topic, _ in trees.counted(u, v, bound):
            trees.links[u, topic].add(v)
            trees.links[v, topic].add(u)
        degree[u] += 1
        degree[v] += 1
        steps.append((u, v, -best[0]))
