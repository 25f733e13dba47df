"""The best forest packing of a tiny instance by trying everything: all partitions, all sets of edges."""

from __future__ import annotations

from collections.abc import Iterator

from naive.connectivity import components
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

Edge = tuple[int, int]


def best_packing(interest: Interest, overlay: Overlay) -> tuple[int, int]:
    """(fewest links, fewest classes with so many links). At most some 10 edges and 5 topics."""
    edges = list(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))
    forests = [chosen for chosen in subsets(edges) if is_forest(chosen)]
    good = [
        {i for i, forest in enumerate(forests) if connects(set(interest.nodes_of(topic).tolist()), forest)}
        for topic in range(interest.n_topics)
    ]
    best: list[tuple[int, int]] = []
    for classes in partitions(list(range(interest.n_topics))):
        possible = [set.intersection(*(good[topic] for topic in own)) for own in classes]
        if all(possible):
            links = sum(min(len(forests[i]) for i in own) for own in possible)
            best.append((links, len(classes)))
    return min(best)


def subsets(edges: list[Edge]) -> Iterator[list[Edge]]:
    for bits in range(1 << len(edges)):
        yield [edge for i, edge in enumerate(edges) if bits >> i & 1]


def is_forest(edges: list[Edge]) -> bool:
    """Every component has one node more than edges."""
    nodes = {str(end) for edge in edges for end in edge}
    parts = components(nodes, [(str(a), str(b)) for a, b in edges])
    return len(edges) == len(nodes) - len(parts)


def connects(members: set[int], edges: list[Edge]) -> bool:
    names = {str(node) for node in members}
    return len(components(names, [(str(a), str(b)) for a, b in edges])) <= 1


def partitions(items: list[int]) -> Iterator[list[list[int]]]:
    """All ways to put the items into classes."""
    if not items:
        yield []
        return
    for rest in partitions(items[1:]):
        yield [[items[0]], *rest]
        for at, own in enumerate(rest):
            yield [*rest[:at], [items[0], *own], *rest[at + 1 :]]
