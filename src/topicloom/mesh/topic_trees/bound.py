"""A lower bound on the links of any forest packing, from topics that can never be in one class.

Let topics s and t be in one class, with trees A and B, and let D be the subscribers they share, at least one.
A and B together hold no cycle, so they have at most |S| + |T| - |D| - 1 edges, hence they share |D| - 1 or
more of their |S| - 1 + |T| - 1, all inside D: the overlay is connected inside D. Where it is not, s and t
exclude each other. So of the topics of which an edge is a bridge (it is in all their trees), those that
exclude each other pairwise need a link each over this edge; and a set of topics that exclude each other
pairwise needs a tree each. Such sets are found greedily: any will do for a bound. At last, all links together
join all nodes that topics join.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

Edge = tuple[int, int]


def links_bound(interest: Interest, overlay: Overlay) -> int:
    """No packing of these topics has fewer links.

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
