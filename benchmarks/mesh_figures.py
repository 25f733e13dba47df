"""Figures about topic trees, forests and backups that only benchmarks and tests ask for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from topicloom.mesh.model.topic_trees import PlannedLink, TopicTrees
from topicloom.mesh.topic_trees.backups import join_ends
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

Edge = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TreeCost:
    """The objective of some trees and its parts."""

    hops: int
    crowd: float
    height_max: int
    load_max: int

    @property
    def cost(self) -> float:
        return self.hops + self.crowd


def tree_cost(trees: TopicTrees) -> TreeCost:
    """The objective at the top of this file; the height and load of the worst tree and node beside it."""
    interest = trees.interest
    sizes = np.diff(trees.starts)
    n = max(interest.n_nodes, 1)
    topic = np.repeat(np.arange(trees.n_topics), sizes)
    keys = topic * n + trees.child
    order = np.argsort(keys)
    keys = keys[order]
    above = topic * n + trees.parent
    hops, depth = 0, 0
    while len(above):  # each round climbs one hop, all that are not at their root yet
        hops += len(above)
        depth += 1
        place = np.searchsorted(keys, above)
        found = (place < len(keys)) & (keys[np.minimum(place, len(keys) - 1)] == above)
        edge = order[place[found]]
        above = topic[edge] * n + trees.parent[edge]
    load = np.bincount(np.concatenate((trees.child, trees.parent)), minlength=n)
    shared = interest.topic_sizes()[interest.node_topics] > 1
    excess = load - np.bincount(interest.pair_nodes()[shared], minlength=n)
    crowd = float((excess.astype(np.float64) ** 2).sum()) / (2 * float(excess.mean()) + 1)
    return TreeCost(hops, crowd, depth, int(load.max(initial=0)))


@dataclass(frozen=True, slots=True)
class Healing:
    """Counts of (node, topic of it) pairs, of topics with two other subscribers or more.

    When the node dies, the others are connected at once (`whole`), or once every dialer of the dead node has
    turned to its first backup that lives (`healed`), or not even then (`broken`).
    """

    whole: int
    healed: int
    broken: int

    @property
    def share(self) -> float:
        """The share that is healed of those in need of it; 1 if none is."""
        need = self.healed + self.broken
        return self.healed / need if need else 1.0


def measure_healing(interest: Interest, links: Sequence[PlannedLink]) -> Healing:
    """Let each node die in turn and see which of its topics the others still get, or get again.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abc"])
    >>> measure_healing(interest, [PlannedLink(1, 0, (0,)), PlannedLink(2, 0, (0,), backups=(1,))])
    Healing(whole=2, healed=1, broken=0)
    """
    own: dict[int, list[PlannedLink]] = defaultdict(list)
    for link in links:
        for topic in link.topics:
            own[topic].append(link)
    whole = healed = broken = 0
    for topic in range(interest.n_topics):
        members = interest.nodes_of(topic).tolist()
        for dead in members if len(members) > 2 else ():
            left = [node for node in members if node != dead]
            kept = [
                (link.dialer, link.acceptor)
                for link in own[topic]
                if dead not in (link.dialer, link.acceptor)
            ]
            if len(kept) == len(left) - 1:
                whole += 1
                continue
            orphans = [link for link in own[topic] if link.acceptor == dead]
            turned = [(link.dialer, backup) for link in orphans for backup in link.backups[:1]]
            if len(set(join_ends(left, kept + turned).values())) == 1:
                healed += 1
            else:
                broken += 1
    return Healing(whole, healed, broken)


def links_bound(interest: Interest, overlay: Overlay) -> int:
    """Return a lower bound on the links of any forest packing of these topics.

    Let topics s and t be in one class, with trees A and B, and let D be the subscribers they share, at
    least one. A and B together hold no cycle, so they have at most |S| + |T| - |D| - 1 edges, hence they
    share |D| - 1 or more of their |S| - 1 + |T| - 1, all inside D: the overlay is connected inside D. Where
    it is not, s and t exclude each other. So of the topics of which an edge is a bridge (it is in all their
    trees), those that exclude each other pairwise need a link each over this edge; and a set of topics that
    exclude each other pairwise needs a tree each. Such sets are found greedily: any will do for a bound. At
    last, all links together join all nodes that topics join.

    >>> topics = {"x": "abcd", "y": "abce"}
    >>> interest = Interest.from_pairs([(node, topic) for topic, nodes in topics.items() for node in nodes])
    >>> links_bound(interest, Overlay.from_edges(interest.node_ids, [0, 1, 1, 2, 2], [1, 3, 4, 3, 4]))
    6
    """
    around: list[int] = [0] * interest.n_nodes
    for a, b in zip(overlay.u.tolist(), overlay.v.tolist(), strict=True):
        around[a] |= 1 << b
        around[b] |= 1 << a
    members = [interest.nodes_of(topic).tolist() for topic in range(interest.n_topics)]
    masks = [sum(1 << node for node in own) for own in members]

    @cache
    def exclude(s: int, t: int) -> bool:
        both = masks[s] & masks[t]
        return both != 0 and not _is_connected(both, around)

    def apart(topics: list[int]) -> list[int]:
        chosen: list[int] = []
        for t in topics:
            if all(exclude(min(s, t), max(s, t)) for s in chosen):
                chosen.append(t)
        return chosen

    large = sorted(range(interest.n_topics), key=lambda topic: (-len(members[topic]), topic))
    by_topics = sum(len(members[topic]) - 1 for topic in apart([t for t in large if members[t]]))
    needed: dict[Edge, list[int]] = defaultdict(list)
    for topic in large:
        for edge in _bridges(members[topic], around):
            needed[edge].append(topic)
    by_edges = sum(len(apart(topics)) for topics in needed.values())
    return max(by_topics, by_edges, _joined(masks))


def _joined(masks: list[int]) -> int:
    """Nodes less components, where the nodes of a topic are joined."""
    parts: list[int] = []
    for mask in masks:
        apart = [part for part in parts if not part & mask]
        for part in parts:
            mask |= part if part & mask else 0
        parts = [*apart, mask] if mask else apart
    return sum(part.bit_count() - 1 for part in parts)


def _is_connected(nodes: int, around: list[int]) -> bool:
    """Whether the overlay is connected inside a set of nodes, given as the bits of a number."""
    reached = fresh = nodes & -nodes
    while fresh:
        found = 0
        while fresh:
            bit = fresh & -fresh
            fresh ^= bit
            found |= around[bit.bit_length() - 1]
        fresh = found & nodes & ~reached
        reached |= fresh
    return reached == nodes


def _bridges(members: list[int], around: list[int]) -> list[Edge]:
    """The edges of a topic's subgraph, which is connected, without which it would not be.

    Each edge outside a breadth-first tree covers the tree's edges between its ends: bridges are the rest.
    """
    if not members:
        return []
    inside = set(members)
    over, depth, queue = {members[0]: members[0]}, {members[0]: 0}, [members[0]]
    others = {node: [w for w in members if around[node] >> w & 1] for node in inside}
    for node in queue:
        for other in others[node]:
            if other not in over:
                over[other], depth[other] = node, depth[node] + 1
                queue.append(other)
    covered: set[int] = set()  # by the child
    for a in members:
        for b in others[a]:
            if a < b and over[a] != b and over[b] != a:
                x, y = a, b
                while x != y:
                    if depth[x] < depth[y]:
                        x, y = y, x
                    covered.add(x)
                    x = over[x]
    return [(min(v, over[v]), max(v, over[v])) for v in queue[1:] if v not in covered]
