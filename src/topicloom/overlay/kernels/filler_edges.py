"""Edges that join nothing: those with which MinMax-ODA fills up a degree before it allows a higher one."""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.kernels.jit import kernel


@kernel
def _partner(
    node_ptr: Longs, node_lists: Ints, list_ptr: Longs, listed: Ints, room: Ints, seen: Ints, u: int
) -> int:
    """Return the smallest node above `u` in one of its lists with room that is no neighbor; -1 if none."""
    best = -1
    for i in range(node_ptr[u], node_ptr[u + 1]):
        low, stop = list_ptr[node_lists[i]], list_ptr[node_lists[i] + 1]
        high = stop
        while low < high:
            half = (low + high) >> 1
            if listed[half] > u:
                high = half
            else:
                low = half + 1
        while low < stop and (best < 0 or listed[low] < best):
            v = listed[low]
            if room[v] > 0 and seen[v] != u:
                best = v
                break
            low += 1
    return best


@kernel
def fill_up(
    node_ptr: Longs,
    node_lists: Ints,
    list_ptr: Longs,
    listed: Ints,
    neighbor_ptr: Longs,
    neighbors: Ints,
    room: Ints,
    seen: Ints,
    first: int,
    last: int,
) -> Ints:
    """Link each node from `first` to before `last` with the smallest later nodes that share a list.

    `room` says how many edges each node may still take and is kept up to date; `seen` is scratch, at first
    -1 everywhere. Gives (edges x 2) nodes.
    """
    space = 0
    for u in range(first, last):
        space += room[u]
    edges = np.empty((space, 2), np.int32)
    n = 0
    for u in range(first, last):
        if room[u] == 0:
            continue
        for i in range(neighbor_ptr[u], neighbor_ptr[u + 1]):
            seen[neighbors[i]] = u
        while room[u] > 0:
            v = _partner(node_ptr, node_lists, list_ptr, listed, room, seen, u)
            if v < 0:
                break
            edges[n, 0], edges[n, 1] = u, v
            n += 1
            seen[v] = u
            room[u] -= 1
            room[v] -= 1
    return edges[:n].copy()
