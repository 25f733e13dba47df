"""Edges that join nothing: those with which MinMax-ODA fills up a degree before it allows a higher one."""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Lists, Longs
from topicloom.base.kernels.jit import kernel, part
from topicloom.base.kernels.search import first_at_least


@part
def _partner(lists: Lists, room: Ints, seen: Ints, u: int) -> int:
    """Return the smallest node above `u` in one of its lists with room that is no neighbor; -1 if none."""
    node_ptr, node_lists, list_ptr, listed = lists
    best = -1
    for i in range(node_ptr[u], node_ptr[u + 1]):
        stop = list_ptr[node_lists[i] + 1]
        low = first_at_least(listed, list_ptr[node_lists[i]], stop, u + 1)
        while low < stop and (best < 0 or listed[low] < best):
            v = listed[low]
            if room[v] > 0 and seen[v] != u:
                best = v
                break
            low += 1
    return best


@kernel
def fill_up(
    lists: Lists, neighbors: tuple[Longs, Ints], room: Ints, seen: Ints, first: int, last: int
) -> Ints:
    """Link each node from `first` to before `last` with the smallest later nodes that share a list.

    `lists` hold the lists of each node and the nodes of each list. `room` says how many edges each node may
    still take and is kept up to date; `seen` is scratch, at first -1 everywhere. Returns (edges x 2) nodes.
    """
    neighbor_ptr, neighbor = neighbors
    space = 0
    for u in range(first, last):
        space += room[u]
    edges = np.empty((space, 2), np.int32)
    n = 0
    for u in range(first, last):
        if room[u] == 0:
            continue
        for i in range(neighbor_ptr[u], neighbor_ptr[u + 1]):
            seen[neighbor[i]] = u
        while room[u] > 0:
            v = _partner(lists, room, seen, u)
            if v < 0:
                break
            edges[n, 0], edges[n, 1] = u, v
            n += 1
            seen[v] = u
            room[u] -= 1
            room[v] -= 1
    return edges[:n].copy()
