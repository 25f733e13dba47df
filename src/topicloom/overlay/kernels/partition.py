"""The partition of a topic's subscribers that a fractional overlay violates most.

An overlay connects the n subscribers of a topic exactly if, for every partition of them into p blocks, at
least p - 1 edges run between blocks. Such partition inequalities are much stronger than cuts (two blocks),
and the most violated one is found in polynomial time: minimise x(edges between blocks) - p over all
partitions. With g(S) = x(cut around S) / 2 - 1 that is the sum of g over the blocks, and the greedy algorithm
of Dilworth truncation finds it (Frank and Tardos 1988; Barahona 1992 for spanning trees): give node after
node the largest value y that keeps y(S) <= g(S) for all S of the nodes seen, one minimum cut each, and
merge the sets that become tight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.kernels.jit import kernel, part
from topicloom.base.kernels.union_find import root

EPSILON = 1e-9
UNSEEN, FROM_SOURCE, SOURCE = -3, -2, -1  # besides arcs, how a node was reached


@part
def _saturate(
    v: Any, start: Any, ptr: Any, to: Any, twin: Any, room: Any, gift: Any, sink: Any, via: Any, queue: Any
) -> None:
    """Find a maximum flow from v to the sink; via[i] is UNSEEN where v does not reach any more.

    `room` belongs to the arcs, `gift[i]` to an arc from v straight to i, `sink[i]` to one from i to the sink.
    Only the nodes start..v take part. Shortest augmenting paths by breadth-first search.
    """
    while True:
        for i in range(start, v + 1):
            via[i] = UNSEEN
        via[v] = SOURCE
        queue[0] = v
        head, tail, end = 0, 1, -1
        while head < tail:
            i = queue[head]
            head += 1
            if sink[i] > EPSILON:
                end = i
                break
            for arc in range(ptr[i], ptr[i + 1]):
                j = to[arc]
                if room[arc] > EPSILON and via[j] == UNSEEN:
                    via[j] = arc
                    queue[tail] = j
                    tail += 1
            if i == v:
                for j in range(start, v):
                    if gift[j] > EPSILON and via[j] == UNSEEN:
                        via[j] = FROM_SOURCE
                        queue[tail] = j
                        tail += 1
        if end < 0:
            return
        amount = sink[end]
        i = end
        while via[i] >= 0:
            amount = min(amount, room[via[i]])
            i = to[twin[via[i]]]
        if via[i] == FROM_SOURCE:
            amount = min(amount, gift[i])
            gift[i] -= amount
        i = end
        sink[end] -= amount
        while via[i] >= 0:
            room[via[i]] -= amount
            room[twin[via[i]]] += amount
            i = to[twin[via[i]]]


@kernel
def truncate(
    begin: Any, end: Any, first: Any, ptr: Any, to: Any, twin: Any, weight: Any, y: Any, parent: Any
) -> None:
    """Run the greedy over the nodes begin..end-1, whole components; `parent` is the union-find of the blocks.

    The arcs of node v are ptr[v]..ptr[v+1], each with its `twin` the other way and a weight below 1 (nodes
    joined by more never part). Components lie side by side, `first[v]` is the smallest node of v's; no block
    spans two of them. `y` is the value given to each node.
    """
    gift, sink, room = np.zeros(end), np.zeros(end), np.zeros(len(to))
    via, queue = np.zeros(end, np.int32), np.zeros(end, np.int32)
    for v in range(begin, end):
        start = first[v]
        for i in range(start, v + 1):
            gift[i] = max(y[i], 0.0) if i < v else 0.0
            sink[i] = max(-y[i], 0.0) if i < v else 0.0
            for arc in range(ptr[i], ptr[i + 1]):
                if to[arc] <= v:
                    room[arc] = weight[arc] / 2
                else:
                    room[arc] = 0.0
                    sink[i] += weight[arc] / 2
        _saturate(v, start, ptr, to, twin, room, gift, sink, via, queue)
        y[v] = -1.0
        for i in range(start, v + 1):
            if via[i] == UNSEEN:
                continue
            if i < v:
                y[v] -= y[i]
                a, b = root(parent, i), root(parent, v)
                parent[max(a, b)] = min(a, b)
            for arc in range(ptr[i], ptr[i + 1]):
                if to[arc] > v or via[to[arc]] == UNSEEN:
                    y[v] += weight[arc] / 2
