"""Add edges where they save the most splits: a node splits a topic when its death does.

An edge between two subscribers passes the cut nodes between them: those on the way from one to the other in
the tree of blocks. The death of each of them leaves one part less then, in every topic that both want; a node
is no cut any more when two parts become one. What a pair saves, counted in parts, never grows while edges are
added, since blocks only merge; so a node whose best pair is known to save less is passed over, and falling
thresholds give exactly the greedy choice. (Counted in cut nodes it would stop at stars, where only the last
of many edges saves one.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.kernels.jit import kernel, part
from topicloom.overlay.kernels.hop_repair import pair_price
from topicloom.overlay.kernels.sturdy_greedy import SturdyOverlay, place_of
from topicloom.overlay.kernels.topic_fragments import find_blocks, topic_graph


class BlockTrees(NamedTuple):
    """The blocks of all topics, beside their nodes; `saved` and `rank` are scratch of the largest topic."""

    sequence: Ints  # the places of a topic's nodes in the order of the search
    block: Ints
    top: Ints  # the place of the highest node of the block, -1 at roots
    cuts: Ints  # topic -> whether any node cuts it
    saved: Ints
    rank: Ints  # of those above the node that is looked at, itself 0; -1: not above it


def new_block_trees(n_subscriptions: int, n_topics: int, largest: int) -> BlockTrees:
    """Return trees that are not known yet."""
    sequence, block, top = (np.full(n_subscriptions, -1, np.int32) for _ in range(3))
    saved, rank = (np.full(largest + 1, -1, np.int32) for _ in range(2))
    return BlockTrees(sequence, block, top, np.zeros(n_topics, np.int32), saved, rank)


@part
def _grow(overlay: SturdyOverlay, trees: BlockTrees, topic: int) -> None:
    """Find the blocks of a topic."""
    start, stop = overlay.topic_ptr[topic], overlay.topic_ptr[topic + 1]
    blocks = overlay.blocks
    ptr, nbr = topic_graph(overlay, topic, overlay.place)
    find_blocks(ptr, nbr, -1, blocks)
    trees.cuts[topic] = 0
    for i in range(stop - start):
        trees.sequence[start + i] = blocks.sequence[i]
        trees.block[start + i] = blocks.block[i]
        trees.top[start + i] = blocks.top[i]
        trees.cuts[topic] += blocks.cut[i]


@part
def _count_between(overlay: SturdyOverlay, trees: BlockTrees, topic: int, own: int) -> None:
    """Write into `saved` how many cut nodes lie between the node at place `own` and each other one.

    -1 for nodes of other components. The way up to a node of rank i passes i - 1; who hangs below it passes
    one more, unless in the very block by which the way came up.
    """
    start, stop = overlay.topic_ptr[topic], overlay.topic_ptr[topic + 1]
    n = stop - start
    for i in range(n):
        trees.rank[i] = trees.saved[i] = -1
    x, rank = np.int64(own), np.int64(0)
    while x >= 0:
        trees.rank[x] = rank
        trees.saved[x] = rank - 1 if rank > 0 else 0
        rank += 1
        x = np.int64(trees.top[start + x])
    came = np.full(rank, -1, np.int32)  # by rank: the block by which the way came up
    x = np.int64(own)
    for i in range(1, rank):
        came[i] = trees.block[start + x]
        x = np.int64(trees.top[start + x])
    for i in range(n):
        y = np.int64(trees.sequence[start + i])
        above = np.int64(trees.top[start + y])
        if trees.rank[y] >= 0 or above < 0:
            continue
        rank = np.int64(trees.rank[above])
        if rank < 0:
            if trees.saved[above] >= 0:
                trees.saved[y] = trees.saved[above] + 1
        elif rank == 0:
            trees.saved[y] = 0
        else:
            trees.saved[y] = rank - (came[rank] == trees.block[start + y])


@part
def _best_saver(overlay: SturdyOverlay, trees: BlockTrees, a: int, cap: Ints) -> Any:
    """Return the partner of a node below its cap that saves most, -1 if there is none, and what they save."""
    score, n = overlay.score, 0
    for slot in range(overlay.node_ptr[a], overlay.node_ptr[a + 1]):
        topic = np.int64(overlay.node_topics[slot])
        if trees.cuts[topic] == 0:
            continue
        start = overlay.topic_ptr[topic]
        _count_between(overlay, trees, topic, overlay.node_places[slot] - start)
        for j in range(start, overlay.topic_ptr[topic + 1]):
            b = overlay.topic_nodes[j]
            if trees.saved[j - start] > 0 and overlay.degree[b] < cap[b]:
                if score[b] == 0:
                    overlay.touched[n] = b
                    n += 1
                score[b] += trees.saved[j - start]
    best, most = np.int64(-1), np.int64(0)
    for t in range(n):
        b = np.int64(overlay.touched[t])
        saved, score[b] = score[b], 0
        if saved < most or pair_price(overlay, a, b) == np.inf:
            continue
        if best >= 0 and saved == most:
            lower = overlay.degree[b] < overlay.degree[best]
            if not lower and (overlay.degree[b] > overlay.degree[best] or b > best):
                continue
        best, most = b, saved
    return best, most


@kernel
def grow_trees(overlay: SturdyOverlay, trees: BlockTrees, topics: Ints) -> None:
    """Find the blocks of some topics."""
    for topic in topics:
        _grow(overlay, trees, np.int64(topic))


@kernel
def save_splits(
    overlay: SturdyOverlay, trees: BlockTrees, cap: Ints, budget: int, threshold: int, start: int, stop: int
) -> None:
    """Add pairs with an end among the nodes `start` to `stop` that save at least `threshold` splits.

    No more than `budget` edges are added to the overlay in all.
    """
    for node in range(start, stop):
        a = np.int64(node)
        while overlay.degree[a] < cap[a] and overlay.most[a] >= threshold and overlay.n_added[0] < budget:
            best, saved = _best_saver(overlay, trees, a, cap)
            overlay.most[a] = saved
            if best < 0 or saved < threshold:
                break
            n = overlay.n_added[0]
            overlay.added_u[n], overlay.added_v[n] = a, best
            overlay.n_added[0] += 1
            for x, y in ((a, best), (best, a)):
                overlay.near[overlay.near_ptr[x] + overlay.degree[x]] = y
                overlay.degree[x] += 1
            for slot in range(overlay.node_ptr[a], overlay.node_ptr[a + 1]):
                topic = np.int64(overlay.node_topics[slot])
                if trees.cuts[topic] > 0 and place_of(overlay, best, topic) >= 0:
                    _grow(overlay, trees, topic)
