"""Twins, nodes with identical topic sets: found, and linked into one path in the order of the greedy.

All pairs of a unit of k unlinked twins contribute the size of their set, as long as they are not connected.
By lowest larger degree, then smallest nodes, the greedy first pairs neighbors in the list (1-2, 3-4, ...),
then ties the pairs into one path. No node gets more than two of these edges.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.kernels.jit import kernel
from topicloom.overlay.kernels.greedy_state import GreedyState


def twin_classes(node_ptr: Longs, node_topics: Ints) -> Ints:
    """Return for each node the number of its set of topics; sets are numbered by their smallest node."""
    numbers: dict[bytes, int] = {}
    sets = (node_topics[start:stop].tobytes() for start, stop in pairwise(node_ptr.tolist()))
    return np.array([numbers.setdefault(own, len(numbers)) for own in sets], np.int32)


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
