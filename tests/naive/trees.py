"""The objective of trees, the ranking of nodes and single exchanges, read off their definitions."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.mesh.model.topic_trees import TopicTrees
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

Tree = dict[int, int]
"""The parent of each node but the root."""


def tree_of(trees: TopicTrees, topic: int) -> Tree:
    child, parent = trees.edges_of(topic)
    return dict(zip(child.tolist(), parent.tolist(), strict=True))


def depth(tree: Tree, node: int) -> int:
    return 0 if node not in tree else 1 + depth(tree, tree[node])


def costs(interest: Interest, trees: list[Tree]) -> tuple[int, float, int, int]:
    """(hops, crowd, greatest height, greatest load)."""
    depths = [depth(tree, node) for tree in trees for node in tree]
    loads = [0] * interest.n_nodes
    least = [0] * interest.n_nodes
    for topic, tree in enumerate(trees):
        members = interest.nodes_of(topic).tolist()
        for node in members:
            least[node] += len(members) > 1
        for child, parent in tree.items():
            loads[child] += 1
            loads[parent] += 1
    excess = [load - own for load, own in zip(loads, least, strict=True)]
    average = sum(excess) / len(excess)
    crowd = sum(e * e for e in excess) / (2 * average + 1)
    return sum(depths), crowd, max(depths, default=0), max(loads)


def against(trees: list[Tree], rank: list[int]) -> int:
    return sum(rank[parent] > rank[child] for tree in trees for child, parent in tree.items())


def ranking(interest: Interest, overlay: Overlay) -> list[int]:
    """The greedy ranking, everything counted anew for every place."""
    topics = [set(interest.topics_of(node).tolist()) for node in range(interest.n_nodes)]
    near: list[set[int]] = [set() for _ in topics]
    for a, b in zip(overlay.u.tolist(), overlay.v.tolist(), strict=True):
        near[a].add(b)
        near[b].add(a)
    order: list[int] = []
    while len(order) < len(topics):
        started = set().union(*(topics[node] for node in order))

        def key(node: int, started: set[int] = started) -> tuple[int, ...]:
            covered = set().union(*(topics[w] & topics[node] for w in near[node] if w in order))
            lacking = (topics[node] & started) - covered
            return len(lacking), -len(covered), -len(topics[node]), -len(near[node]), node

        order.append(min((node for node in range(len(topics)) if node not in order), key=key))
    return [order.index(node) for node in range(len(topics))]


def exchanges(interest: Interest, overlay: Overlay, trees: list[Tree]) -> Iterator[list[Tree]]:
    """All trees that one exchange of a parent, or the move of a root to a child, makes of these."""
    edges = set(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))
    for topic, tree in enumerate(trees):
        members = interest.nodes_of(topic).tolist()
        for child in tree:
            if tree[child] not in tree:
                turned = {**tree, tree[child]: child}
                del turned[child]
                yield [*trees[:topic], turned, *trees[topic + 1 :]]
            for other in members:
                if (min(child, other), max(child, other)) in edges and not below(tree, other, child):
                    yield [*trees[:topic], {**tree, child: other}, *trees[topic + 1 :]]


def below(tree: Tree, node: int, top: int) -> bool:
    while node != top and node in tree:
        node = tree[node]
    return node == top
