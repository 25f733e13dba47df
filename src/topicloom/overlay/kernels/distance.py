"""Longest shortest paths of a graph given as adjacency arrays: exact, or certified from both sides.

Sweeps find a long path and a root in its middle; then the nodes farthest from the root are used
as sources, level by level from the outside in, 64 breadth-first searches at a time in the bits of one
word. Two nodes at most i hops from the root are at most 2i apart, so once every node beyond level i was a
source, max(longest found, 2i) is an upper bound, and the search ends when both bounds meet.
`measures/diameter.py` drives the same pieces for one large graph on several threads.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Longs, Words
from topicloom.base.kernels.jit import kernel, part
from topicloom.overlay.kernels.topic_subgraphs import induced_subgraph

BATCH = 64


@part
def search(ptr: Longs, nbr: Ints, source: int, level: Ints, queue: Ints, tail: int) -> int:
    """Search breadth-first from `source` over nodes of level -1; append to `queue` from `tail` on.

    Gives the new tail; `queue[tail - 1]` is then a farthest node.
    """
    head = tail
    level[source] = 0
    queue[tail] = source
    tail += 1
    while head < tail:
        node = queue[head]
        head += 1
        for slot in range(ptr[node], ptr[node + 1]):
            other = nbr[slot]
            if level[other] < 0:
                level[other] = level[node] + 1
                queue[tail] = other
                tail += 1
    return tail


@kernel
def sweep(ptr: Longs, nbr: Ints, level: Ints, queue: Ints) -> tuple[int, int]:
    """Return (longest path found, root in the middle of it) of a connected graph.

    On return `level` and `queue` belong to the search from that root. Exact for trees.
    """
    n = len(ptr) - 1
    root = 0
    for node in range(n):
        if ptr[node + 1] - ptr[node] > ptr[root + 1] - ptr[root]:
            root = node
    longest = 0
    for _ in range(2):
        level[:] = -1
        search(ptr, nbr, root, level, queue, 0)
        end = int(queue[n - 1])
        level[:] = -1
        search(ptr, nbr, end, level, queue, 0)
        node = int(queue[n - 1])
        longest = max(longest, level[node])
        half = level[node] // 2
        while level[node] > half:
            for slot in range(ptr[node], ptr[node + 1]):
                if level[nbr[slot]] == level[node] - 1:
                    node = nbr[slot]
                    break
        root = node
    level[:] = -1
    search(ptr, nbr, root, level, queue, 0)
    return max(longest, level[queue[n - 1]]), root


@part
def longest_from(ptr: Longs, nbr: Ints, sources: Ints, bits: Words, lists: Ints) -> tuple[int, int]:
    """Return (largest distance from any of at most 64 sources, edge visits) in a connected graph.

    `bits` is uint64[3, n]: which sources have seen a node, have reached it in this level, reach it in the
    next; the last is zero before and after. `lists` is int32[2, n].
    """
    seen, now, soon = bits[0], bits[1], bits[2]
    seen[:] = 0
    width = len(sources)
    for i in range(width):
        seen[sources[i]] = np.uint64(1) << np.uint64(i)
        now[sources[i]] = seen[sources[i]]
        lists[0, i] = sources[i]
    depth, visits, side = 0, 0, 0
    while True:
        following = 0
        for i in range(width):
            node = lists[side, i]
            reached = now[node]
            visits += ptr[node + 1] - ptr[node]
            for slot in range(ptr[node], ptr[node + 1]):
                other = nbr[slot]
                fresh = reached & ~seen[other]
                if fresh != 0:
                    if soon[other] == 0:
                        lists[1 - side, following] = other
                        following += 1
                    soon[other] |= fresh
        if following == 0:
            return depth, visits
        depth += 1
        side = 1 - side
        width = following
        for i in range(width):
            node = lists[side, i]
            now[node] = soon[node]
            seen[node] |= soon[node]
            soon[node] = 0


@kernel
def longest_from_each(ptr: Longs, nbr: Ints, sources: Ints) -> tuple[int, int]:
    """Run `longest_from` over any number of sources, in batches."""
    n = len(ptr) - 1
    bits = np.zeros((3, n), np.uint64)
    lists = np.empty((2, n), np.int32)
    longest, work = 0, 0
    for start in range(0, len(sources), BATCH):
        far, visits = longest_from(ptr, nbr, sources[start : start + BATCH], bits, lists)
        longest = max(longest, far)
        work += visits
    return longest, work


@part
def refine(ptr: Longs, nbr: Ints, level: Ints, queue: Ints, longest: int, budget: int) -> tuple[int, int]:
    """Return (lower, upper) bounds of the diameter of a connected graph after `sweep`, in `budget` visits."""
    n = len(ptr) - 1
    bits = np.zeros((3, n), np.uint64)
    lists = np.empty((2, n), np.int32)
    stop = n
    work = 0
    while stop > 0:
        depth = level[queue[stop - 1]]
        if longest >= 2 * depth:
            break
        if work > budget:
            return longest, 2 * depth
        start = max(stop - BATCH, 0)
        while level[queue[start]] != depth:
            start += 1
        far, visits = longest_from(ptr, nbr, queue[start:stop], bits, lists)
        longest = max(longest, far)
        work += visits
        stop = start
    return longest, longest


@kernel
def topic_diameters(
    topics: Ints,
    topic_ptr: Longs,
    topic_nodes: Ints,
    ptr: Longs,
    nbr: Ints,
    budgets: Longs,
    lower: Longs,
    upper: Longs,
) -> None:
    """Bound the diameter inside each of `topics`; both bounds are -1 where it is split or empty."""
    place = np.full(len(ptr) - 1, -1, np.int32)
    for topic in topics:
        members = topic_nodes[topic_ptr[topic] : topic_ptr[topic + 1]]
        n = len(members)
        lower[topic], upper[topic] = -1, -1
        if n == 0:
            continue
        own_ptr, own_nbr = induced_subgraph(members, ptr, nbr, place)
        level = np.full(n, -1, np.int32)
        queue = np.empty(n, np.int32)
        if search(own_ptr, own_nbr, 0, level, queue, 0) < n:
            continue
        longest, _ = sweep(own_ptr, own_nbr, level, queue)
        ends = len(own_nbr)
        if ends == 2 * (n - 1):  # a tree: two sweeps are exact
            lower[topic], upper[topic] = longest, longest
            continue
        widest = 0
        for i in range(n):
            widest = max(widest, own_ptr[i + 1] - own_ptr[i])
        if ends == 2 * n and widest == 2:  # a plain ring: every node sees the same
            lower[topic], upper[topic] = n // 2, n // 2
            continue
        low, high = refine(own_ptr, own_nbr, level, queue, longest, budgets[topic])
        lower[topic], upper[topic] = low, high
