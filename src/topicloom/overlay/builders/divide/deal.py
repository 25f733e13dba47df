"""Who goes to which group: pure arithmetic on ranks and clumps, the same on every engine.

At level 0 the light nodes are dealt out in hashed order. At later levels the representatives of a group stay
together (a clump): they are joined already, so a group of whole clumps needs as few edges as one big group.
Only the bulk nodes, which come in at level 1, are dealt out one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from topicloom.base.arrays import Ints, Longs
from topicloom.base.kernels.hashing import hash_number, hash_strings

KERNEL_NODES = 40_000
"""The most nodes that one kernel call gets unless a number of groups is asked for. A constant: what a machine
could hold must not change the overlay."""

SINGLE = -1
"""The clump of a node that belongs to none."""


def count_groups(n_nodes: int, kernel_nodes: int = KERNEL_NODES) -> int:
    """The fewest groups of at most `kernel_nodes` nodes: the fewer, the lower the degrees.

    >>> count_groups(40_000), count_groups(40_001), count_groups(0)
    (1, 2, 0)
    """
    return -(-n_nodes // kernel_nodes)


def hash_ranks(node_ids: pa.StringArray, seed: int) -> Longs:
    """The place of each node in hashed order: by xxhash64 of (identifier, seed), ties by identifier.

    The hash is Spark's `xxhash64(node, cast(seed as bigint))`, ordered as signed numbers. `node_ids` are in
    byte order.
    """
    hashes = hash_number(seed, hash_strings(node_ids)).view(np.int64)
    rank = np.empty(len(hashes), dtype=np.int64)
    rank[np.argsort(hashes, kind="stable")] = np.arange(len(hashes))
    return rank


def group_of(node_ids: pa.StringArray, n_groups: int, seed: int) -> Ints:
    """The group of each node: hashed order, cut into equal blocks, which differ in size by at most one.

    >>> group_of(pa.array(["a", "b", "c", "d", "e"]), 2, seed=0).tolist()
    [0, 1, 0, 1, 0]
    """
    return (hash_ranks(node_ids, seed) * n_groups // max(len(node_ids), 1)).astype(np.int32)


def deal_members(clump: NDArray[Any], rank: NDArray[Any], n_clumps: int, n_groups: int) -> Ints:
    """The group of each member of a level: clumps whole and in order, single nodes by their `rank`.

    >>> clump, rank = np.array([0, 0, 1, 2, -1, -1]), np.array([0, 0, 0, 0, 1, 0])
    >>> deal_members(clump, rank, 3, 2).tolist()
    [0, 0, 0, 1, 1, 0]
    """
    n_singles = int((clump == SINGLE).sum())
    by_clump = clump.astype(np.int64) * n_groups // max(n_clumps, 1)
    by_rank = rank.astype(np.int64) * n_groups // max(n_singles, 1)
    return np.where(clump == SINGLE, by_rank, by_clump).astype(np.int32)


def clump_groups(n_clumps: int, n_groups: int) -> Longs:
    """The group that each clump goes to."""
    return np.arange(n_clumps, dtype=np.int64) * n_groups // max(n_clumps, 1)


def group_sizes(clumps: Sequence[int], n_singles: int, n_groups: int) -> Longs:
    """How many members each group gets when clumps of these sizes and `n_singles` nodes are dealt out.

    >>> group_sizes([5, 3, 3], 4, 2).tolist()
    [10, 5]
    """
    sizes = np.bincount(clump_groups(len(clumps), n_groups), np.array(clumps, np.float64), n_groups)
    # Single node number r goes to group r * n_groups // n_singles.
    starts = -(-np.arange(n_groups + 1, dtype=np.int64) * n_singles // n_groups)
    return sizes.astype(np.int64) + np.diff(starts)


def fewest_groups(clumps: Sequence[int], n_singles: int, kernel_nodes: int) -> int:
    """The fewest groups none of which gets more than `kernel_nodes` members, if such a number is found.

    There is one while every clump is smaller than that.

    >>> fewest_groups([5, 5, 5], 0, 10), fewest_groups([9, 9, 2], 0, 10), fewest_groups([], 25, 10)
    (2, 3, 3)
    >>> fewest_groups([9, 9], 8, 10), fewest_groups([11], 0, 10)
    (8, 2)
    """
    least = count_groups(sum(clumps) + n_singles, kernel_nodes)
    room = kernel_nodes - max(clumps, default=0)  # for single nodes beside the largest clump
    most = max(len(clumps), 2 * least)
    tries = [*range(least, most + 1), *([max(most, -(-n_singles // room))] if room > 0 else [])]
    fits = (n for n in tries if group_sizes(clumps, n_singles, n).max(initial=0) <= kernel_nodes)
    return next(fits, least)
