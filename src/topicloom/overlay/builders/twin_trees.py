"""Twins, nodes with identical topic sets, as trees: what a greedy linked into a path is linked anew.

Twins are exchangeable: which of them has an edge to somebody outside makes no difference to any contribution,
and between themselves every spanning tree has the same number of edges. So a greedy chooses as ever, with its
twins on a path of hundreds of hops, and afterwards the path becomes a binary tree in the order of a heap. The
edges to the outside go to the member of the lowest degree, the one nearest to the root of several.

No maximum rises above 3 that way. A member gets an edge beyond its third only when all members have as many,
and the path has the same sum of degrees: some member had as many there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Annotated

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.parameters import Parameter
from topicloom.overlay.model.interest import Interest

ARITY = 2
LEAST_TWINS = 4  # up to three twins are the same tree either way
TREE_DEGREE = 1 + ARITY  # of an inner node

Twins = Annotated[str, Parameter("how identical nodes are linked to each other", choices=("tree", "path"))]


def plant_twins(interest: Interest, u: Ints, v: Ints, twins: str = "tree") -> tuple[Ints, Ints]:
    """Return the edges with the twins in trees, in the same order; with `twins="path"` as they are.

    Only for edges that link the twins of a set with as many edges as a path has, and two sets at most once:
    so do all greedies that fold twins.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcdef"])
    >>> u, v = plant_twins(interest, np.array([0, 2, 4, 0, 1]), np.array([1, 3, 5, 2, 4]))
    >>> list(zip(u.tolist(), v.tolist()))
    [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)]
    """
    if twins == "path":
        return u, v
    classes = interest.twin_classes()
    members = large_classes(interest, classes)
    if not members:
        return u, v
    class_u, class_v = classes[u], classes[v]
    planted = np.isin(np.arange(int(classes.max()) + 1), list(members))
    ends = np.stack((u, v)).astype(np.int32)
    inner = {number: heap_links(nodes) for number, nodes in members.items()}
    outer = {number: _takers(nodes) for number, nodes in members.items()}
    touched = planted[class_u] | planted[class_v]
    for place in np.flatnonzero(touched).tolist():
        own, other = int(class_u[place]), int(class_v[place])
        if own == other:
            ends[:, place] = next(inner[own])
            continue
        for side, number in enumerate((own, other)):
            if planted[number]:
                ends[side, place] = next(outer[number])
    return ends.min(axis=0), ends.max(axis=0)


def large_classes(interest: Interest, classes: Ints) -> dict[int, list[int]]:
    """Return the members of each set of `LEAST_TWINS` twins or more that want something, ascending."""
    sizes = np.bincount(classes)
    order = np.argsort(classes, kind="stable")
    stops = np.cumsum(sizes)
    wants: Longs = interest.subscription_sizes()
    return {
        number: order[stops[number] - sizes[number] : stops[number]].tolist()
        for number in np.flatnonzero(sizes >= LEAST_TWINS).tolist()
        if wants[order[stops[number] - 1]] > 0
    }


def heap_links(members: list[int], arity: int = ARITY) -> Iterator[tuple[int, int]]:
    """Yield the links of a tree in which the i-th member follows the one at (i - 1) / arity, rounded down."""
    return ((members[(i - 1) // arity], members[i]) for i in range(1, len(members)))


def _takers(members: list[int]) -> Iterator[int]:
    """Yield the members in the order in which they take edges: the lowest degree, then the first."""
    degree = np.ones(len(members), np.int64)
    np.add.at(degree, (np.arange(1, len(members)) - 1) // ARITY, 1)
    degree[0] -= 1  # the root follows nobody
    for level in count(1):
        for place in np.flatnonzero(degree <= level).tolist():
            yield members[place]
