"""Spanning trees of topics in which no two subscribers are farther apart than they must be.

Of all spanning trees of a graph those of shortest paths from its middle have the smallest diameter. The
middle is a node, or an edge with both ends at depth 0 (Hassin and Tamir 1995). A slot is one subscription in
topic order; parent[slot] is a node, or ROOT at the root. Which of several neighbors one hop nearer becomes
the parent goes by rank and excess, as in `spanning_trees.py`; that changes no depth.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.kernels.jit import kernel, part
from topicloom.overlay.kernels.distance import search, sweep
from topicloom.overlay.kernels.topic_subgraphs import induced_subgraph

ROOT = -1
MOST_VISITS = 20_000_000  # subscribers x edge ends of a topic up to which every subscriber is tried as root
CANDIDATES = 64  # that are tried in a larger topic, nearest to the middle of a long path


class ShallowWork(NamedTuple):
    """The instance, what parents cost, and the trees in progress."""

    topic_ptr: Longs
    topic_nodes: Ints
    ptr: Longs
    nbr: Ints
    rank: Ints
    against: int
    crowd: int
    excess: Longs
    depth: Ints  # by slot: hops to the middle
    parent: Ints


@part
def _deepest_of_two(own_ptr: Longs, own_nbr: Ints, a: int, b: int, level: Ints, queue: Ints) -> Any:
    """Write the hops to the nearer of two places into `level`; return the largest."""
    n = len(level)
    level[:] = -1
    level[a] = level[b] = 0
    queue[0], queue[1] = a, b
    head, tail = 0, 2
    while head < tail:
        i = queue[head]
        head += 1
        for at in range(own_ptr[i], own_ptr[i + 1]):
            other = own_nbr[at]
            if level[other] < 0:
                level[other] = level[i] + 1
                queue[tail] = other
                tail += 1
    return level[queue[n - 1]]


@part
def _middle(own_ptr: Longs, own_nbr: Ints, level: Ints, queue: Ints) -> tuple[Any, Any]:
    """Return the middle of a connected graph: a place and -1, or two neighbors.

    Of several the one of fewest hops in all, then the first. Exact up to MOST_VISITS.
    """
    n = len(level)
    tried = np.zeros(n, np.int64)
    n_tried = n
    if n * len(own_nbr) <= MOST_VISITS:
        tried[:] = np.arange(n)
    else:
        sweep(own_ptr, own_nbr, level, queue)
        n_tried = min(n, CANDIDATES)
        tried[:n_tried] = queue[:n_tried]
    farthest = np.full(n, n, np.int32)
    root, best = np.int64(-1), np.int64(0)
    for k in range(n_tried):
        level[:] = -1
        search(own_ptr, own_nbr, tried[k], level, queue, 0)
        far = level[queue[n - 1]]
        farthest[tried[k]] = far
        total = level.sum()
        if root < 0 or far < farthest[root] or (far == farthest[root] and total < best):
            root, best = tried[k], total
    radius, second = farthest[root], np.int64(-1)
    if radius < 2:
        return root, second
    first, best = root, np.int64(0)
    for k in range(n_tried):
        a = tried[k]
        if farthest[a] != radius:
            continue
        for at in range(own_ptr[a], own_ptr[a + 1]):
            b = np.int64(own_nbr[at])
            if b < a or farthest[b] != radius:
                continue
            if _deepest_of_two(own_ptr, own_nbr, a, b, level, queue) < radius:
                total = level.sum()
                if second < 0 or total < best:
                    first, second, best = a, b, total
    return first, second


@kernel
def plant_shallow(topics: Ints, work: Any) -> int:
    """Plant the trees of these topics; return the first topic that is split, or -1."""
    place = np.full(len(work.ptr) - 1, -1, np.int32)
    for topic in topics:
        base = work.topic_ptr[topic]
        members = work.topic_nodes[base : work.topic_ptr[topic + 1]]
        n = len(members)
        if n == 0:
            continue
        own_ptr, own_nbr = induced_subgraph(members, work.ptr, work.nbr, place)
        level, queue = np.full(n, -1, np.int32), np.empty(n, np.int32)
        if search(own_ptr, own_nbr, 0, level, queue, 0) < n:
            return topic
        root, second = _middle(own_ptr, own_nbr, level, queue)
        if second < 0:
            level[:] = -1
            search(own_ptr, own_nbr, root, level, queue, 0)
        else:
            _deepest_of_two(own_ptr, own_nbr, root, second, level, queue)
        work.depth[base : base + n] = level
        work.parent[base + root] = ROOT
        if n > 1:
            work.excess[members[root]] -= 1  # it has no parent of its own
        if second >= 0:
            work.parent[base + second] = members[root]
            work.excess[members[root]] += 1
        for i in range(n):
            place[members[i]] = i
        for k in range(n):
            i = queue[k]
            if level[i] > 0:
                host = _best_parent(work, members, place, base, i, np.int64(-1))
                work.parent[base + i] = host
                work.excess[host] += 1
        for i in range(n):
            place[members[i]] = -1
    return -1


@part
def _best_parent(work: Any, members: Ints, place: Ints, base: int, i: int, old: int) -> Any:
    """Return the cheapest neighbor one hop nearer to the middle; `old` already has this child."""
    node = members[i]
    best, host = np.int64(0), np.int64(-1)
    for at in range(work.ptr[node], work.ptr[node + 1]):
        other = np.int64(work.nbr[at])
        if place[other] < 0 or work.depth[base + place[other]] != work.depth[base + i] - 1:
            continue
        excess = work.excess[other] - (other == old)
        cost = work.crowd * (2 * excess + 1)
        cost += work.against if work.rank[other] > work.rank[node] else 0
        if host < 0 or cost < best or (cost == best and other == old):
            best, host = cost, other
    return host


@kernel
def exchange_shallow(topics: Ints, work: Any) -> int:
    """Move nodes below cheaper parents of the same depth; count the moves."""
    place = np.full(len(work.ptr) - 1, -1, np.int32)
    moves = 0
    for topic in topics:
        base = work.topic_ptr[topic]
        members = work.topic_nodes[base : work.topic_ptr[topic + 1]]
        for i in range(len(members)):
            place[members[i]] = i
        for i in range(len(members)):
            if work.depth[base + i] == 0:
                continue
            old = np.int64(work.parent[base + i])
            host = _best_parent(work, members, place, base, i, old)
            if host != old:
                work.excess[old] -= 1
                work.excess[host] += 1
                work.parent[base + i] = host
                moves += 1
        for i in range(len(members)):
            place[members[i]] = -1
    return moves
