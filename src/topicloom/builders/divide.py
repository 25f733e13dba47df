"""The divide and conquer phases (paper 000, Algorithm 8): deal the light nodes out, build each group.

`group_of` and `build_inner` are pure: given the same nodes they answer the same in any process, so another
engine may map over them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from topicloom.builders.gm_m import choose_gm_m
from topicloom.kernels.hashing import hash_number, hash_strings
from topicloom.kernels.parallel import default_threads, for_bounds
from topicloom.model.arrays import pointers
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.progress import SILENT, Progress, Stopwatch
from topicloom.model.restrict import restrict_interest

Ints = NDArray[np.int32]

KERNEL_NODES = 40_000
"""The largest group that is made unless a number of groups is asked for. A constant: what a machine could
hold must not change the overlay."""


def count_groups(n_light: int, kernel_nodes: int = KERNEL_NODES) -> int:
    """The fewest groups of at most `kernel_nodes` nodes: the fewer, the lower the degrees.

    >>> count_groups(40_000), count_groups(40_001), count_groups(0)
    (1, 2, 0)
    """
    return -(-n_light // kernel_nodes)


def group_of(node_ids: pa.StringArray, n_groups: int, seed: int) -> Ints:
    """The group of each node: sorted by xxhash64 of (identifier, seed), cut into equal blocks.

    The hash is Spark's `xxhash64(node, cast(seed as bigint))`, ordered as signed numbers; ties go by
    identifier (`node_ids` are in byte order). Blocks differ in size by at most one.

    >>> group_of(pa.array(["a", "b", "c", "d", "e"]), 2, seed=0).tolist()
    [0, 1, 0, 1, 0]
    """
    hashes = hash_number(seed, hash_strings(node_ids)).view(np.int64)
    rank = np.empty(len(hashes), dtype=np.int64)
    rank[np.argsort(hashes, kind="stable")] = np.arange(len(hashes))
    return (rank * n_groups // max(len(rank), 1)).astype(np.int32)


def divide_nodes(interest: Interest, nodes: Ints, n_groups: int, seed: int) -> list[Interest]:
    """The interests of the groups that `nodes` are dealt out to; every group has nodes."""
    group = group_of(interest.node_ids.take(pa.array(nodes)), n_groups, seed)
    dealt = nodes[np.argsort(group, kind="stable")]
    cuts = pointers(group, n_groups)
    return [restrict_interest(interest, dealt[start:stop]) for start, stop in pairwise(cuts)]


def build_inner(group: Interest, *, threads: int | None = None, progress: Progress = SILENT) -> Overlay:
    """A topic-connected overlay of one group, by GM-M."""
    u, v, _ = choose_gm_m(group, threads=threads, watch=Stopwatch(progress))
    return Overlay.from_edges(group.node_ids, u, v)


def build_groups(
    groups: Sequence[Interest], *, threads: int | None = None, progress: Progress = SILENT
) -> list[Overlay]:
    """`build_inner` of every group, several side by side; `progress` advances by 1 in all."""
    threads = threads or default_threads()
    total = max(sum(group.n_subscriptions for group in groups), 1)
    each = max(threads // max(len(groups), 1), 1)
    left = False

    def build(number: int, _: int) -> Overlay:
        group = groups[number]
        share = _Share(progress, group.n_subscriptions / total, lambda: left)
        return build_inner(group, threads=each, progress=share)

    try:
        bounds = [(number, number + 1) for number in range(len(groups))]
        return for_bounds(build, bounds, threads=threads, progress=_Share(progress, 0.0, lambda: left))
    finally:
        left = True  # groups that still run after an interrupt end soon


class _Share:
    """A `Progress` for one of several pieces of work: its 1 is `share` of the whole."""

    def __init__(self, progress: Progress, share: float, left: Callable[[], bool]) -> None:
        self._progress = progress
        self._share = share
        self._left = left
        self.now = progress.now

    def phase(self, name: str, total: float | None = None) -> None:
        """Phases are the affair of the whole."""

    def advance(self, amount: float = 1) -> None:
        self._progress.advance(amount * self._share)

    def should_stop(self) -> bool:
        return self._left() or self._progress.should_stop()
