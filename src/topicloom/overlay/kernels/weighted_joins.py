"""Greedy joins by weight: always the pair whose edge joins components of the most weight, up to a number.

Contributions only fall, so a pair that is still at the top once it is counted anew is the best of all
(Minoux 1978). Ties go to the smallest nodes. All pairs that share a topic are held at once.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs
from topicloom.base.kernels.jit import kernel, part


@part
def _root(parent: Ints, slot: int) -> Any:
    while parent[slot] != slot:
        parent[slot] = parent[parent[slot]]
        slot = parent[slot]
    return slot


@part
def _joins(
    u: int, v: int, node_ptr: Longs, node_topics: Ints, weight: Floats, parent: Ints, join: bool
) -> float:
    """Return the weight of the topics in which two nodes are apart; `join` puts them together."""
    gain = 0.0
    x, y = node_ptr[u], node_ptr[v]
    while x < node_ptr[u + 1] and y < node_ptr[v + 1]:
        if node_topics[x] == node_topics[y]:
            a, b = _root(parent, x), _root(parent, y)
            if a != b:
                gain += weight[node_topics[x]]
                if join:
                    parent[b] = a
            x += 1
            y += 1
        elif node_topics[x] < node_topics[y]:
            x += 1
        else:
            y += 1
    return gain


@kernel
def choose_joins(
    node_ptr: Longs,
    node_topics: Ints,
    topic_ptr: Longs,
    topic_nodes: Ints,
    weight: Floats,
    fixed: tuple[Ints, Ints],
    banned: tuple[Longs, Ints],
    caps: Ints,
    most: int,
) -> tuple[Ints, Ints]:
    """Return up to `most` edges beside the fixed ones, in the order they are chosen."""
    n_nodes = len(node_ptr) - 1
    parent = np.arange(len(node_topics)).astype(np.int32)
    degree = np.zeros(n_nodes, np.int32)
    for i in range(len(fixed[0])):
        _joins(fixed[0][i], fixed[1][i], node_ptr, node_topics, weight, parent, True)
        degree[fixed[0][i]] += 1
        degree[fixed[1][i]] += 1
    mark = np.full(n_nodes, -1, np.int32)
    heap = [(0.0, 0, 0) for _ in range(0)]
    for u in range(n_nodes):
        mark[u] = u
        for at in range(banned[0][u], banned[0][u + 1]):
            mark[banned[1][at]] = u
        for slot in range(node_ptr[u], node_ptr[u + 1]):
            topic = node_topics[slot]
            for place in range(topic_ptr[topic], topic_ptr[topic + 1]):
                v = topic_nodes[place]
                if v > u and mark[v] != u:
                    mark[v] = u
                    gain = _joins(u, v, node_ptr, node_topics, weight, parent, False)
                    if gain > 0.0:
                        heap.append((-gain, u, np.int64(v)))
    heapq.heapify(heap)
    chosen_u, chosen_v = np.empty(most, np.int32), np.empty(most, np.int32)
    n = 0
    while n < most and len(heap):
        known, u, v = heapq.heappop(heap)
        if degree[u] >= caps[u] or degree[v] >= caps[v]:
            continue
        gain = _joins(u, v, node_ptr, node_topics, weight, parent, False)
        if gain == -known:
            _joins(u, v, node_ptr, node_topics, weight, parent, True)
            chosen_u[n], chosen_v[n] = u, v
            degree[u] += 1
            degree[v] += 1
            n += 1
        elif gain > 0.0:
            heapq.heappush(heap, (-gain, u, v))
    return chosen_u[:n].copy(), chosen_v[:n].copy()
