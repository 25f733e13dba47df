"""Baselines that every other builder is compared with: a ring, a star or a full mesh per topic."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import numpy as np

from topicloom.base.arrays import Ints, sealed
from topicloom.base.kernels.parallel import cut_by_work, default_threads, for_bounds
from topicloom.base.kernels.random import scatter
from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.errors import UsageError
from topicloom.overlay.kernels.hubs import count_neighbors, counting_work, list_later_neighbors, topic_sets
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def build_ring_pt(
    interest: Interest,
    *,
    order: Annotated[str, Parameter("order of the nodes on each ring", choices=("id", "random"))] = "id",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Build:
    """Build a ring through the subscribers of every topic, by `order="id"` or `"random"` for each ring.

    Rings by node id share edges between topics; random ones hardly do, which is what the papers' claim
    of twice the subscription size needs.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    >>> build_ring_pt(interest).overlay.degrees().tolist()
    [2, 2, 2, 2]
    """
    watch = Stopwatch(progress)
    with watch.phase("close rings", interest.n_topics):
        topics = np.repeat(np.arange(interest.n_topics, dtype=np.int32), interest.topic_sizes())
        overlay = Overlay.from_edges(
            interest.node_ids, *close_rings(topics, interest.topic_nodes, order, seed)
        )
        progress.advance(interest.n_topics)
    return Build(overlay, "ring-pt", {"order": order}, seed, watch.seconds)


def close_rings(topics: Ints, nodes: Ints, order: str, seed: int) -> tuple[Ints, Ints]:
    """Return the edges of rings through subscriptions (topics[i], nodes[i]) of whole topics, in any order.

    A ring depends on its own topic only, so any engine may close the rings of any topics by themselves.
    """
    keys = topics.astype(np.int64) << 32 | nodes
    if not (keys[1:] > keys[:-1]).all():
        keys = np.sort(keys)
    topics, nodes = (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)
    if order == "random":
        nodes = nodes[np.lexsort((scatter(keys, seed), topics))]
    ends = np.concatenate((topics[1:] != topics[:-1], [True])) if len(topics) else np.zeros(0, np.bool_)
    last = np.flatnonzero(ends)
    following = np.arange(1, len(nodes) + 1)
    following[last] = np.concatenate(([0], last[:-1] + 1))[: len(last)]
    u, v = nodes, nodes[following]
    return u[u != v], v[u != v]


def build_star(
    interest: Interest, *, seed: int = 0, threads: int | None = None, progress: Progress = SILENT
) -> Build:
    """Link each topic's smallest subscriber (by identifier) to all others of the topic.

    The same few nodes are the smallest of many topics, so stars share many edges, and those few nodes get
    nearly everybody as a neighbor: what a central broker would be. The seed is not used.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"] + [("b", "y"), ("c", "y")])
    >>> build_star(interest).overlay.to_pandas().values.tolist()
    [['a', 'b'], ['a', 'c'], ['a', 'd'], ['b', 'c']]
    """
    watch = Stopwatch(progress)
    with watch.phase("draw stars", interest.n_topics):
        sizes = interest.topic_sizes()
        centre = interest.topic_nodes[interest.topic_ptr[:-1][sizes > 0]]
        u, v = np.repeat(centre, sizes[sizes > 0]), interest.topic_nodes
        overlay = Overlay.from_edges(interest.node_ids, u[u != v], v[u != v])
        progress.advance(interest.n_topics)
    return Build(overlay, "star", seed=seed, seconds=watch.seconds)


# What an edge takes while an overlay is made, written and proved: two numbers, two identifiers, copies.
EDGE_BYTES = 64

UNKNOWN = 2**62  # the free memory of a machine that does not tell: nothing is refused

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
    """Return the bytes that are free: what Linux calls available, elsewhere all the memory."""
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return UNKNOWN
