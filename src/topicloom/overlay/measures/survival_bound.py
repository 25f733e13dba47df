"""Lower bounds for overlays in which every topic survives K deaths: what each node needs many times over.

Whoever of a topic's n subscribers dies, up to K of them, no other may be alone: so a node has at least
min(K + 1, n - 1) neighbors in each of its topics. One neighbor serves as many of these demands as topics it
shares with the node. So the k neighbors that share most must share as many as are demanded, and half the sum
of the smallest such k over all nodes bounds the edges. All of it is counted in whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Longs
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.overlay.model.interest import Interest

MOST_WORK = 1e9  # list entries that are read; further nodes need their largest demand only


@dataclass(frozen=True, slots=True)
class SurvivalBounds:
    """No overlay that survives has fewer edges, and none a smaller maximum degree."""

    edges_bound: int
    degree_max_bound: int


def bound_survival(interest: Interest, deaths: int, *, progress: Progress = SILENT) -> SurvivalBounds:
    """Bound every overlay in which each topic stays connected when any `deaths` nodes die.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcde"])
    >>> bound_survival(interest, 1)
    SurvivalBounds(edges_bound=5, degree_max_bound=2)
    """
    needs = neighbor_needs(interest, deaths, progress=progress)
    return SurvivalBounds(-(-int(needs.sum()) // 2), int(needs.max(initial=0)))


def neighbor_needs(interest: Interest, deaths: int, *, progress: Progress = SILENT) -> Longs:
    """Return how many neighbors each node needs at least."""
    sizes = interest.topic_sizes()
    demands = np.clip(sizes - 1, 0, deaths + 1)
    needs = np.zeros(interest.n_nodes, np.int64)
    work = 0.0
    for node in range(interest.n_nodes):
        topics = interest.topics_of(node)
        wanted = int(demands[topics].sum())
        if wanted == 0:
            continue
        needs[node] = demands[topics].max()
        work += float(sizes[topics].sum())
        if work > MOST_WORK:
            continue
        if node % 256 == 0:
            check_stop(progress)
        counts = np.bincount(np.concatenate([interest.nodes_of(topic) for topic in topics.tolist()]))
        counts[node] = 0
        served = np.cumsum(np.sort(counts[counts > 0])[::-1])
        needs[node] = max(int(np.searchsorted(served, wanted)) + 1, needs[node])
    return needs
