"""What single nodes need, and what they can share: the figures under the cheap lower bounds."""

from __future__ import annotations

from threading import Lock

import numpy as np

from topicloom.base.arrays import Longs
from topicloom.base.kernels.parallel import cut_by_work, for_bounds
from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.kernels.cover_bound import cover_needs
from topicloom.overlay.kernels.shared_topics import largest_overlaps, topic_words
from topicloom.overlay.measures.price_bound import SLICE_WORK, pass_work
from topicloom.overlay.model.interest import Interest


def find_needs(
    interest: Interest, *, most_work: float, most_sets: int, threads: int, progress: Progress = SILENT
) -> Longs:
    """Return for each node a number of neighbors that it needs in any topic-connected overlay.

    Nodes with the most topics come first, since they are the likely ones to need many, until their lists
    have `most_work` entries; of the others only is known that they need one. `most_sets` are looked at for
    each node.
    """
    shared = (interest.topic_sizes() > 1)[interest.node_topics]
    wanted = np.bincount(interest.pair_nodes()[shared], minlength=interest.n_nodes)
    needs = np.minimum(wanted, 1).astype(np.int64)
    order = np.lexsort((np.arange(interest.n_nodes), -wanted))
    work = pass_work(interest)
    order = order[: int(np.searchsorted(np.cumsum(work[order]), most_work, side="right"))]
    nodes = order[wanted[order] > 0].astype(np.int32)
    lists = interest.sealed_lists()
    sizes = interest.subscription_sizes()
    room = int(work.max(initial=0.0)) + 1

    def search(start: int, stop: int) -> None:
        words = int(sizes[nodes[start:stop]].max() + 63) // 64
        found = np.zeros(stop - start, np.int64)
        cover_needs(nodes[start:stop], lists, words, room, most_sets, found)
        needs[nodes[start:stop]] = found

    bounds = cut_by_work(work[nodes] + most_sets / 4, most=SLICE_WORK / 8, slices=8 * threads)
    for_bounds(search, bounds, threads=threads, progress=progress)
    return needs


def overlaps(interest: Interest, *, threads: int, progress: Progress = SILENT) -> Longs:
    """Return for each node the most topics it shares with any other node."""
    n_nodes = interest.n_nodes
    words = topic_words(*interest.sealed_lists()[:2], interest.n_topics)
    work = words.shape[1] * np.arange(n_nodes, 0, -1, dtype=np.float64)

    largest = np.zeros(n_nodes, np.int64)
    lock = Lock()

    def compare(start: int, stop: int) -> None:
        found = np.zeros(n_nodes, np.int64)
        largest_overlaps(start, stop, words, found)
        with lock:  # a maximum is the same in any order
            np.maximum(largest, found, out=largest)

    bounds = cut_by_work(work, most=2 * SLICE_WORK, slices=4 * threads)
    for_bounds(compare, bounds, threads=threads, progress=progress)
    return largest
