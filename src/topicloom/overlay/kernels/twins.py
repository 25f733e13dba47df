"""Twins, nodes with identical topic sets: found by hashing, linked into one path in the order of the greedy.

All pairs of a unit of k unlinked twins contribute the size of their set, as long as they are not connected.
By lowest larger degree, then smallest nodes, the greedy first pairs neighbors in the list (1-2, 3-4, ...),
then ties the pairs into one path. No node gets more than two of these edges.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Bools, Ints, Longs, sealed
from topicloom.base.kernels.jit import kernel
from topicloom.overlay.kernels.greedy_state import GreedyState


@kernel
def same_sets(order: Longs, node_ptr: Longs, node_topics: Ints) -> Bools:
    """Tell for consecutive nodes in `order` whether each has exactly the topics of the one before it."""
    same = np.zeros(len(order), dtype=np.bool_)
    for i in range(1, len(order)):
        a, b = order[i - 1], order[i]
        size = node_ptr[a + 1] - node_ptr[a]
        if node_ptr[b + 1] - node_ptr[b] != size:
            continue
        equal = True
        for j in range(size):
            if node_topics[node_ptr[a] + j] != node_topics[node_ptr[b] + j]:
                equal = False
                break
        same[i] = equal
    return same


def twin_classes(node_ptr: Longs, node_topics: Ints) -> Ints:
    """Return for each node the number of its set of topics; sets are numbered by their smallest node.

    Sets are brought side by side by two hashes and then compared in full: a hash clash could only part
    twins, never join strangers.
    """
    n_nodes = len(node_ptr) - 1
    n_topics = int(node_topics.max()) + 1 if len(node_topics) else 0
    random = np.random.Generator(np.random.PCG64(0x7457))
    hashes = []
    for _ in range(2):
        keys = random.integers(0, 2**63, n_topics, dtype=np.uint64)
        sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(keys[node_topics], dtype=np.uint64)))
        hashes.append(sums[node_ptr[1:]] - sums[node_ptr[:-1]])
    order = np.lexsort((np.arange(n_nodes), hashes[1], hashes[0], np.diff(node_ptr))).astype(np.int64)
    group = np.cumsum(~same_sets(order, sealed(node_ptr), sealed(node_topics))) - 1
    # The order is stable, so the first node of each group is its smallest one.
    firsts = order[np.unique(group, return_index=True)[1]] if n_nodes else order
    rank = np.empty(len(firsts), dtype=np.int32)
    rank[np.argsort(firsts)] = np.arange(len(firsts), dtype=np.int32)
    classes = np.empty(n_nodes, dtype=np.int32)
    classes[order] = rank[group]
    return classes


@kernel
def pair_twins(state: GreedyState, unit: int) -> Ints:
    """Link consecutive members, the first step; return (edges x 2) nodes. All have degree 0 before."""
    start, stop = state.member_ptr[unit], state.member_ptr[unit + 1]
    edges = np.empty(((stop - start) // 2, 2), np.int32)
    for i in range(len(edges)):
        for side in range(2):
            edges[i, side] = state.member[start + 2 * i + side]
            state.degree[edges[i, side]] += 1
    return edges


@kernel
def chain_twins(state: GreedyState, unit: int) -> Ints:
    """Tie the pairs (and an odd one left over) into one path, the second step.

    The growing path always owns the smallest node with room, and its other end is the only one that
    must be passed over when looking for the next.
    """
    start, stop = state.member_ptr[unit], state.member_ptr[unit + 1]
    n_edges = max((stop - start + 1) // 2 - 1, 0)
    edges = np.empty((n_edges, 2), np.int32)
    low = start  # the path's end that is linked next
    far = start + 1  # its other end, next in turn
    for i in range(n_edges):
        new = start + 2 * (i + 1)
        last = min(new + 1, stop - 1)  # the new pair's other end; the odd one is both ends itself
        edges[i, 0], edges[i, 1] = state.member[low], state.member[new]
        state.degree[edges[i, 0]] += 1
        state.degree[edges[i, 1]] += 1
        low, far = far, last
    return edges
