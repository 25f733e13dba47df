"""Spend a few edges more where they save the most splits: topics that the death of one node splits."""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import sealed
from topicloom.base.progress import Progress, check_stop
from topicloom.overlay.builders.constrained import ConstrainedTask, Edges, joined_edges, node_caps, rising
from topicloom.overlay.builders.local_search import pair_prices
from topicloom.overlay.kernels.split_savings import grow_trees, new_block_trees, save_splits
from topicloom.overlay.kernels.sturdy_greedy import UNKNOWN, new_sturdy

SLICE = 200  # nodes per call of a kernel: the user may stop in between


def spend_edges(
    task: ConstrainedTask, edges: Edges, budget: int, cap: int, progress: Progress, *, firm: bool = False
) -> tuple[Edges, int]:
    """Return the edges with up to `budget` more, always the pair that saves the most.

    That is counted in parts: into how many more components the deaths of single nodes leave all topics.

    Nodes keep to `cap`, which rises while nothing below it saves anything, unless it is `firm`; those of the
    task hold. Fewer are added where nothing is left to save. With the edges comes the cap that it took.
    """
    interest = task.interest
    given = node_caps(task.constraints, interest.n_nodes)
    u, v = (np.ascontiguousarray(end, np.int32) for end in edges)
    degree = np.bincount(np.concatenate((u, v)), minlength=interest.n_nodes).astype(np.int32)
    partners = np.minimum(np.minimum(given, np.int32(max(interest.n_nodes - 1, 0))), degree + budget)
    room = np.maximum(degree, partners).astype(np.int32)
    overlay = new_sturdy(interest.sealed_lists(), u, v, room, pair_prices(task.constraints, len(given)))
    largest = int(interest.topic_sizes().max(initial=0))
    trees = new_block_trees(interest.n_subscriptions, interest.n_topics, largest)
    grow_trees(overlay, trees, np.arange(interest.n_topics, dtype=np.int32))
    highest = cap if firm else max(interest.n_nodes - 1, cap)
    for limit in (cap, *rising(cap, highest)):
        cap, caps = limit, sealed(np.minimum(given, np.int32(limit)))
        overlay.most[:] = UNKNOWN
        threshold = UNKNOWN
        while threshold > 0 and overlay.n_added[0] < budget:
            for start in range(0, interest.n_nodes, SLICE):
                check_stop(progress)
                stop = min(start + SLICE, interest.n_nodes)
                save_splits(overlay, trees, caps, budget, threshold, start, stop)
            # What was added may have filled a node: what its partners save is an upper bound all the same.
            open_ = overlay.most[(overlay.degree < caps) & (overlay.most < threshold)]
            threshold = int(open_.max(initial=0))
        if overlay.n_added[0] >= budget or not trees.cuts.any() or (given <= limit).all():
            break
    n = int(overlay.n_added[0])
    return joined_edges((u, v), (overlay.added_u[:n], overlay.added_v[:n])), cap
