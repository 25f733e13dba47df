"""Weights of the trees among brokers that carry a channel, under every core model [Zhao2011, IV].

For a channel with member brokers S (those with a subscriber) and a publisher on broker p, the tree joins S
and p. `fill_weights` computes its weight for all p at once, since a change of S concerns every publisher.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from topicloom.base.kernels.jit import kernel, part

FREE, SHARED, UNICAST, STEINER = 0, 1, 2, 3


class CoreArrays(namedtuple("CoreArrays", "code links order parent step table")):
    """A core model as plain arrays.

    `links` are prices between brokers. `order`, `parent` and `step` describe the shared tree from its root
    on; `table` holds the weights of the Steiner trees of all sets of brokers, by bit mask.
    """

    __slots__ = ()


@kernel
def grow_spanning(core: Any, members: Any, n: int, above: Any, edge: Any) -> Any:
    """Grow Prim's tree over `members[:n]`, which are put in the order they join, and return its weight.

    `above[k]` is the place of member k's parent, `edge[k]` the price of the edge between them.
    """
    total = 0.0
    for k in range(1, n):
        above[k], edge[k] = 0, core[members[k], members[0]]
    for joined in range(1, n):
        best = joined
        for k in range(joined + 1, n):
            if edge[k] < edge[best] or (edge[k] == edge[best] and members[k] < members[best]):
                best = k
        members[joined], members[best] = members[best], members[joined]
        above[joined], above[best] = above[best], above[joined]
        edge[joined], edge[best] = edge[best], edge[joined]
        total += edge[joined]
        row = core[members[joined]]
        for k in range(joined + 1, n):
            price = row[members[k]]
            if price < edge[k]:
                above[k], edge[k] = joined, price
    return total


@part
def _free(core: Any, members: Any, n: int, above: Any, edge: Any, offer: Any, out: Any) -> None:
    """Weigh the minimum spanning tree of the members and p, for every p.

    A tree extended by p keeps only edges of the old tree and edges of p. From the leaves to the root, the
    cheaper of the edge to the parent and the best offer to reach p from below stays; the other is passed up.
    """
    total = grow_spanning(core, members, n, above, edge)
    out[:] = 0.0
    for k in range(n):
        out[members[k]] = total
    for p in range(len(out)):
        if out[p] > 0.0:
            continue
        row = core[p]
        weight = 0.0
        for k in range(n):
            offer[k] = row[members[k]]
        for k in range(n - 1, 0, -1):
            up = above[k]
            if edge[k] < offer[k]:
                weight += edge[k]
                offer[up] = min(offer[up], offer[k])
            else:
                weight += offer[k]
                offer[up] = min(offer[up], edge[k])
        out[p] = weight + offer[0]


@part
def _shared(order: Any, parent: Any, step: Any, members: Any, n: int, below: Any, out: Any) -> None:
    """Weigh the part of the shared tree that joins the members and p, for every p."""
    below[:] = 0
    for k in range(n):
        below[members[k]] = 1
    for k in range(len(order)):
        out[k] = 0.0 if below[k] else np.inf
    for k in range(len(order) - 1, 0, -1):
        below[parent[order[k]]] += below[order[k]]
    total = 0.0
    for k in range(len(order) - 1, 0, -1):
        v = order[k]
        if 0 < below[v] < n:  # members on both sides: the edge is part of the tree
            total += step[v]
            out[v] = 0.0
            out[parent[v]] = 0.0
    for k in range(len(order) - 1, 0, -1):
        v = order[k]
        out[parent[v]] = min(out[parent[v]], out[v] + step[v])
    for k in range(1, len(order)):
        v = order[k]
        out[v] = min(out[v], out[parent[v]] + step[v])
    for v in range(len(out)):
        out[v] += total


@kernel
def fill_weights(core: Any, members: Any, n: int, ints: Any, floats: Any, out: Any) -> None:
    """Set `out[p]` to the weight of the tree of a publisher on p; `members[:n]` may be reordered.

    `core` are CoreArrays; `ints` and `floats` are two rows of scratch each, one entry per broker.
    """
    if n == 0:
        out[:] = 0.0
    elif core.code == SHARED:
        _shared(core.order, core.parent, core.step, members, n, ints[0], out)
    elif core.code == UNICAST:
        out[:] = 0.0
        for k in range(n):
            row = core.links[members[k]]
            for p in range(len(out)):
                out[p] += row[p]
    elif core.code == STEINER:
        mask = 0
        for k in range(n):
            mask |= 1 << members[k]
        for p in range(len(out)):
            out[p] = core.table[mask | (1 << p)]
    elif n == 1:
        out[:] = core.links[members[0]]
    else:
        _free(core.links, members, n, ints[0], floats[0], floats[1], out)
