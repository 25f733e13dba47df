"""Twins, nodes with identical topic sets: found, and linked into one path in the order of the greedy.

All pairs of a unit of k unlinked twins contribute the size of their set, as long as they are not connected.
By lowest larger degree, then smallest nodes, the greedy first pairs neighbors in the list (1-2, 3-4, ...),
then ties the pairs into one path. No node gets more than two of these edges.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.overlay.kernels.greedy_state import GreedyState


def twin_classes(node_ptr: Longs, node_topics: Ints) -> Ints:
    """Return for each node the number of its set of topics; sets are numbered by their smallest node."""
    numbers: dict[bytes, int] = {}
    sets = (node_topics[start:stop].tobytes() for start, stop in pairwise(node_ptr.tolist()))
    return np.array([numbers.setdefault(own, len(numbers)) for own in sets], np.int32)


def pair_twins(state: GreedyState, unit: int) -> Ints:
    """Link consecutive members, the first step; return (edges x 2) nodes. All have degree 0 before."""
    members = _members(state, unit)
    return _counted(state, members[: len(members) // 2 * 2].reshape(-1, 2))


def chain_twins(state: GreedyState, unit: int) -> Ints:
    """Tie the pairs (and an odd one left over) into one path, the second step.

    The growing path always owns the smallest node with room: its first node, then the larger one of the pair
    that was tied to it last but one.
    """
    members = _members(state, unit)
    new = np.arange(2, len(members), 2)
    return _counted(state, np.stack((members[np.maximum(new - 3, 0)], members[new]), axis=1))


def _members(state: GreedyState, unit: int) -> Ints:
    return state.member[state.member_ptr[unit] : state.member_ptr[unit + 1]]


def _counted(state: GreedyState, edges: Ints) -> Ints:
    """Return the edges, once the degrees of their ends count them."""
    np.add.at(state.degree, edges, 1)
    return edges
