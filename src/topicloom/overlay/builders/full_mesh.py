"""A full mesh per topic: everybody linked to everybody who shares a topic, for comparison.

Guarantee: each topic's subgraph has diameter at most 1. The number of edges grows with the square of the
nodes, so they are counted first, and what would not fit in memory is refused.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import numpy as np

from topicloom.base.arrays import sealed
from topicloom.base.kernels.parallel import cut_by_work, default_threads, for_bounds
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.errors import UsageError
from topicloom.overlay.kernels.hubs import (
    count_neighbors,
    counting_work,
    list_later_neighbors,
    topic_sets,
)
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

EDGE_BYTES = 64
"""What an edge takes while an overlay is made, written and proved: two numbers, two identifiers, copies."""

UNKNOWN = 2**62
"""The free memory of a machine that does not tell: nothing is refused."""

SLICE_WORK = 1e8  # words that one call reads before the user may stop us: a fraction of a second


def build_full_mesh(
    interest: Interest, *, seed: int = 0, threads: int | None = None, progress: Progress = SILENT
) -> Build:
    """Link every pair of nodes that share a topic; a UsageError if so many edges do not fit in memory.

    The seed is not used.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    >>> build_full_mesh(interest).overlay.n_edges
    6
    """
    watch = Stopwatch(progress)
    threads = threads or default_threads()
    largest = int(interest.topic_sizes().max(initial=0))
    _check_room(largest * (largest - 1) // 2)  # this many at least: no need to count further
    sets, work = topic_sets(interest), counting_work(interest)
    bounds = cut_by_work(work, most=SLICE_WORK, slices=4 * threads)
    counts = np.zeros(interest.n_nodes, np.int64)
    nodes = np.arange(interest.n_nodes, dtype=np.int32)

    def count(first: int, last: int) -> None:
        count_neighbors(sets, sealed(nodes[first:last]), True, counts)

    with watch.phase("count edges", interest.n_nodes):
        for_bounds(count, bounds, threads=threads, progress=progress)
    _check_room(int(counts.sum()))
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    u, v = np.empty(int(starts[-1]), np.int32), np.empty(int(starts[-1]), np.int32)

    def fill(first: int, last: int) -> None:
        list_later_neighbors(sets, first, last, starts, u, v)

    with watch.phase("link all", interest.n_nodes):
        for_bounds(fill, bounds, threads=threads, progress=progress)
    return Build(Overlay(interest.node_ids, u, v), "full-mesh", seed=seed, seconds=watch.seconds)


def _check_room(n_edges: int) -> None:
    """Refuse so many edges if the free memory cannot hold them."""
    needed, free = n_edges * EDGE_BYTES, free_memory()
    if needed > free:
        raise UsageError(
            f"full-mesh would make at least {n_edges:,} edges, which take {needed / 1e9:,.1f} GB, and "
            f"{free / 1e9:,.1f} GB of memory are free: take star or ring-pt, or fewer nodes"
        )


def free_memory() -> int:
    """Bytes that this machine could still give: what Linux calls available, elsewhere all the memory."""
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return UNKNOWN
