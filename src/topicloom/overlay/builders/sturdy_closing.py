"""Add edges until every topic survives so many deaths; the cap rises only where nothing else helps."""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Longs, sealed
from topicloom.base.progress import Progress, check_stop
from topicloom.overlay.builders.constrained import ConstrainedTask, Edges, joined_edges, node_caps, rising
from topicloom.overlay.builders.local_search import pair_prices
from topicloom.overlay.kernels.sturdy_greedy import (
    SturdyOverlay,
    close_fragments,
    fragment_topics,
    new_sturdy,
)

SLICE = 500  # nodes per call of a kernel: the user may stop in between


class Closing:
    """An overlay that gets edges until every topic survives `deaths` deaths."""

    def __init__(self, task: ConstrainedTask, deaths: int, progress: Progress) -> None:
        self._task, self._deaths, self._progress = task, deaths, progress
        self._prices = pair_prices(task.constraints, task.interest.n_nodes)

    def close(self, edges: Edges, cap: int, *, firm: bool = False) -> tuple[Edges, int]:
        """Return the edges with those that were added, and the cap that it took.

        A `firm` cap does not rise. Nodes above the cap stay above it. Where caps of the task or forbidden
        pairs leave topics open, the edges are those that could be had.
        """
        interest = self._task.interest
        given = node_caps(self._task.constraints, interest.n_nodes)
        highest = cap if firm else max(interest.n_nodes - 1, cap)
        for limit in (cap, *rising(cap, highest)):
            edges, open_ = self._run(edges, np.minimum(given, np.int32(limit)))
            cap = limit
            degree = np.bincount(np.concatenate(edges), minlength=interest.n_nodes)
            if not open_ or (degree < limit).all() or (given <= limit).all():
                break
        return edges, cap

    def _run(self, edges: Edges, caps: Ints) -> tuple[Edges, int]:
        """Add what can be added under these caps; return all edges and the fragments that stay open."""
        interest = self._task.interest
        u, v = (np.ascontiguousarray(end, np.int32) for end in edges)
        degree = np.bincount(np.concatenate((u, v)), minlength=interest.n_nodes).astype(np.int32)
        partners = np.minimum(caps, np.int32(max(interest.n_nodes - 1, 0)))
        room = np.maximum(degree, partners)
        overlay = new_sturdy(interest.sealed_lists(), u, v, room, self._prices)
        self._look(overlay)
        weigh = self._task.costs == "weight" and len(self._task.constraints.priced) > 0
        threshold = 2 * int(interest.subscription_sizes().max(initial=0))
        while threshold > 0 and overlay.fragments.counts.sum():
            for start in range(0, interest.n_nodes, SLICE):
                check_stop(self._progress)
                stop = min(start + SLICE, interest.n_nodes)
                close_fragments(overlay, caps, self._deaths, threshold, start, stop, weigh)
            below = overlay.most[(overlay.degree < caps) & (overlay.most < threshold)]
            again = (overlay.most[overlay.degree < caps] >= threshold).any()
            threshold = threshold if again else int(below.max(initial=0))
        n = int(overlay.n_added[0])
        added = overlay.added_u[:n], overlay.added_v[:n]
        return joined_edges((u, v), added), int(overlay.fragments.counts.sum())

    def _look(self, overlay: SturdyOverlay) -> None:
        """Find the fragments of all topics."""
        topics = np.arange(self._task.interest.n_topics, dtype=np.int32)
        for start in range(0, len(topics), 16):
            check_stop(self._progress)
            fragment_topics(overlay, sealed(topics[start : start + 16]), self._deaths)


def open_fragments(task: ConstrainedTask, edges: Edges, deaths: int, progress: Progress) -> Longs:
    """Return how many fragments each topic has: 0 where it survives so many deaths."""
    u, v = (np.ascontiguousarray(end, np.int32) for end in edges)
    n_nodes = task.interest.n_nodes
    degree = np.bincount(np.concatenate((u, v)), minlength=n_nodes).astype(np.int32)
    prices = pair_prices(task.constraints, n_nodes)
    overlay = new_sturdy(task.interest.sealed_lists(), u, v, degree, prices)
    topics = np.arange(task.interest.n_topics, dtype=np.int32)
    fragment_topics(overlay, sealed(topics), deaths)
    return overlay.fragments.counts
