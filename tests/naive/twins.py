"""Twins as trees, step by step: slow, obvious, plain Python."""

from __future__ import annotations

from collections.abc import Iterable

from naive.greedy import Step
from topicloom.overlay.model.interest import Interest


def naive_planted(interest: Interest, steps: list[Step], nodes: Iterable[int] | None = None) -> list[Step]:
    """The steps of a greedy over `nodes` (None: all), each set of four twins or more as a heap, not a path.

    A set's own links come in the order of the heap. An edge to the outside goes to the member that has the
    fewest edges then, counting all links of the heap; of several to the first.
    """
    wanted = [frozenset(interest.topics_of(node).tolist()) for node in range(interest.n_nodes)]
    members = sorted(range(interest.n_nodes) if nodes is None else nodes)
    classes = {own: [node for node in members if wanted[node] == own] for own in wanted}
    trees = {own: members for own, members in classes.items() if len(members) >= 4 and own}
    heap = {own: [(m[(i - 1) // 2], m[i]) for i in range(1, len(m))] for own, m in trees.items()}
    degree = {m: sum(m in link for link in heap[own]) for own, members in trees.items() for m in members}
    planted = []
    for u, v, contribution in steps:
        ends = [u, v]
        if wanted[u] == wanted[v] and wanted[u] in trees:
            ends = list(heap[wanted[u]].pop(0))
        else:
            for side, node in enumerate((u, v)):
                if wanted[node] in trees:
                    ends[side] = min(trees[wanted[node]], key=lambda member: (degree[member], member))
                    degree[ends[side]] += 1
        planted.append((min(ends), max(ends), contribution))
    return planted
