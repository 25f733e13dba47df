"""Who goes to which group: pure arithmetic on sizes, ranks and clumps, the same on every engine.

A *bulk* node wants so many topics that, in a group of nodes with little in common, it would be linked to most
of them [Chen2010, Lemma 8]. So at level 0 only *light* nodes are dealt out, in hashed order. At later levels
the representatives of a group stay together (a *clump*): they are joined already, so a group of whole clumps
needs as few edges as one big group. Bulk nodes come in at level 1, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from topicloom.base.arrays import Ints, Longs, freeze_fields
from topicloom.base.kernels.hashing import hash_number, hash_strings
from topicloom.overlay.model.interest import Interest

BULK_SHARE = 5  # with `eta="auto"` at most one node in so many is bulk: the 80-20 rule of section V


@dataclass(frozen=True, slots=True, eq=False)
class BulkSplit:
    """Node numbers, ascending: `bulk` want more than `eta` topics, `light` at most that many."""

    eta: int
    bulk: Ints
    light: Ints

    def __post_init__(self) -> None:
        freeze_fields(self)


def split_bulk(interest: Interest, eta: int | str = "auto") -> BulkSplit:
    """Divide the nodes by subscription size; `"auto"` takes the smallest eta with at most 20% bulk nodes.

    >>> interest = Interest.from_pairs([*((node, topic) for node in "abcde" for topic in "xy"), ("c", "z")])
    >>> split = split_bulk(interest)
    >>> split.eta, split.bulk.tolist(), split.light.tolist()
    (2, [2], [0, 1, 3, 4])
    """
    sizes = interest.subscription_sizes()
    threshold = smallest_eta(*np.unique(sizes, return_counts=True)) if isinstance(eta, str) else eta
    bulk, light = (np.flatnonzero(some).astype(np.int32) for some in (sizes > threshold, sizes <= threshold))
    return BulkSplit(threshold, bulk, light)


def smallest_eta(sizes: NDArray[Any], counts: NDArray[Any]) -> int:
    """Return the smallest threshold that at most 20% of nodes exceed; `counts[i]` want `sizes[i]` topics.

    >>> smallest_eta(np.array([1, 2, 3]), np.array([2, 2, 1])), smallest_eta(np.array([7]), np.array([3]))
    (2, 7)
    """
    if not len(sizes):
        return 0
    above = counts.sum() - np.cumsum(counts)  # nodes that want more than sizes[i]
    return int(sizes[np.argmax(above <= counts.sum() // BULK_SHARE)])


# The most nodes that one kernel call gets unless a number of groups is asked for. A constant: what a
# machine could hold must not change the overlay.
KERNEL_NODES = 50_000

SINGLE = -1  # the clump of a node that belongs to none


def count_groups(n_nodes: int, kernel_nodes: int = KERNEL_NODES) -> int:
    """Return the fewest groups of at most `kernel_nodes` nodes: the fewer, the lower the degrees.

    >>> count_groups(50_000), count_groups(50_001), count_groups(0)
    (1, 2, 0)
    """
    return -(-n_nodes // kernel_nodes)


def hash_ranks(node_ids: pa.StringArray, seed: int) -> Longs:
    """Return the place of each node in hashed order: by xxhash64 of (identifier, seed), then identifier.

    The hash is Spark's `xxhash64(node, cast(seed as bigint))`, ordered as signed numbers. `node_ids` are in
    byte order.
    """
    hashes = hash_number(seed, hash_strings(node_ids)).view(np.int64)
    rank = np.empty(len(hashes), dtype=np.int64)
    rank[np.argsort(hashes, kind="stable")] = np.arange(len(hashes))
    return rank


def deal_members(clump: NDArray[Any], rank: NDArray[Any], n_clumps: int, n_groups: int) -> Ints:
    """Return the group of each member of a level: clumps whole and in order, single nodes by `rank`.

    >>> clump, rank = np.array([0, 0, 1, 2, -1, -1]), np.array([0, 0, 0, 0, 1, 0])
    >>> deal_members(clump, rank, 3, 2).tolist()
    [0, 0, 0, 1, 1, 0]
    """
    n_singles = int((clump == SINGLE).sum())
    by_clump = clump.astype(np.int64) * n_groups // max(n_clumps, 1)
    by_rank = rank.astype(np.int64) * n_groups // max(n_singles, 1)
    return np.where(clump == SINGLE, by_rank, by_clump).astype(np.int32)


def clump_groups(n_clumps: int, n_groups: int) -> Longs:
    """Return the group that each clump goes to."""
    return np.arange(n_clumps, dtype=np.int64) * n_groups // max(n_clumps, 1)


def group_sizes(clumps: Sequence[int], n_singles: int, n_groups: int) -> Longs:
    """Return the size of each group when clumps of these sizes and `n_singles` nodes are dealt out.

    >>> group_sizes([5, 3, 3], 4, 2).tolist()
    [10, 5]
    """
    sizes = np.bincount(clump_groups(len(clumps), n_groups), np.array(clumps, np.float64), n_groups)
    # Single node number r goes to group r * n_groups // n_singles.
    starts = -(-np.arange(n_groups + 1, dtype=np.int64) * n_singles // n_groups)
    return sizes.astype(np.int64) + np.diff(starts)


def fewest_groups(clumps: Sequence[int], n_singles: int, kernel_nodes: int) -> int:
    """Return the fewest groups of which none gets more than `kernel_nodes` members, if that is found.

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


FINE = 16  # the search ends when p is known to one part in so many: the cost is flat around its minimum


def cheapest_group_count(n_light: int, fewest: int, n_outer: Callable[[int], int]) -> int:
    """Return the p from `fewest` on of least cost |T| ((|B| + |R|)^2 + |L|^2 / p) [Chen2010, V].

    That is the running time of the two greedy phases by Lemma 7. `n_outer(p)` is |B| + |R|, for which
    representatives have to be chosen but nothing has to be built.

    >>> cheapest_group_count(1000, 1, lambda p: 50 * p)
    6
    """

    @cache
    def cost(p: int) -> tuple[float, float]:
        """Return the whole cost and the outer phase's, without the constant factor |T|."""
        outer = float(n_outer(p) ** 2)
        return outer + n_light**2 / p, outer

    best = p = fewest
    while p <= n_light:
        if cost(p)[0] < cost(best)[0]:
            best = p
        if cost(p)[1] > cost(best)[0]:
            break  # more groups have more representatives
        p *= 2
    step = best // 2
    while step > 0 and step * FINE >= best:
        for p in (best - step, best + step):
            if fewest <= p <= n_light and cost(p)[0] < cost(best)[0]:
                best = p
        step //= 2
    return best
