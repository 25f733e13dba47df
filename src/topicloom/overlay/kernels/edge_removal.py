"""Removing edges from an overlay: others carry their topics from then on, or what breaks is recorded.

Losing an edge cuts off a small side of each topic that cannot replace it: mostly a node or two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs, Words
from topicloom.base.kernels.jit import bare
from topicloom.overlay.kernels.edge_lists import unlink
from topicloom.overlay.kernels.overlay_trees import (
    OverlayTrees,
    add_tree_edge,
    drop_pair,
    find_slot,
    free_edge,
    place_edge,
    smaller_side,
)
from topicloom.overlay.model.interest import Interest

MOST_REMOVED = 7  # edges in one move: the numbers of the components have three bits
PLANES = 3
ALIKE_SETS = 1.5  # nodes are alike where none wants more than this times the average number of topics
MOST_APART = 4096  # nodes that a move may cut off


class Removal(NamedTuple):
    """What broke: one record per topic that no other edge could carry. Scratch, used again and again."""

    counts: Longs  # see the places below
    removed: Ints  # edges
    added: Ints  # edges
    topic_open: Ints  # topic -> its components but one
    topics: Ints  # the broken ones
    word_at: Ints  # word of topic bits -> its position among those in use, -1 if not
    words: Ints  # position -> word of topic bits
    broken: Words  # position -> the broken topics of that word
    records: Ints  # record x (topic, the edge that carried it, its two slots, number of what it cut off)
    walked_ptr: Ints  # record -> start of the nodes that came off
    walked: Ints
    stamp: Longs  # node -> last walk that met it
    seen: Ints
    came: Ints
    apart: Ints  # the nodes that came off somewhere
    apart_at: Ints  # node -> its position there, -1 if none
    planes: Words  # plane x position x word position
    off: Ints  # position -> broken topics that the node is off in
    order: Ints  # the positions of those below their caps, those that are off in most topics first
    bound: Ints  # position -> no node that is not apart joins more of them with it
    mask: Words  # scratch: the broken topics that one node is off in
    rarest: Ints  # the same as a list
    random: Words  # the state of the generator
    price_ptr: Longs  # node -> its pairs that do not cost 1
    price_other: Ints  # ascending within a node
    price: Floats  # infinite: no edge allowed


RECORDS, TOPICS, WORDS, WALKED, APART, REMOVED, ADDED, WALKS, ALIKE = range(9)  # places in `Removal.counts`


def new_removal(interest: Interest, seed: int, prices: tuple[Longs, Ints, Floats]) -> Removal:
    """Return scratch for moves on the overlays of an interest."""
    n_nodes, n_topics = interest.n_nodes, interest.n_topics
    largest_topic = int(interest.topic_sizes().max(initial=1))
    largest_set = int(interest.subscription_sizes().max(initial=1))
    most_broken = max(min(n_topics, MOST_REMOVED * largest_set), 1)
    records = max(MOST_REMOVED * largest_set, 1)
    apart = min(n_nodes, MOST_APART)
    words = max(min((n_topics + 63) // 64, most_broken), 1)

    def ints(*shape: int) -> Ints:
        return np.zeros(shape, np.int32)

    counts = np.zeros(9, np.int64)
    counts[ALIKE] = largest_set * n_nodes <= ALIKE_SETS * interest.n_subscriptions
    return Removal(
        counts=counts,
        removed=ints(MOST_REMOVED + 1),
        added=ints(4 * MOST_REMOVED),
        topic_open=ints(n_topics),
        topics=ints(most_broken),
        word_at=np.full((n_topics + 63) // 64, -1, np.int32),
        words=ints(words),
        broken=np.zeros(words, np.uint64),
        records=ints(records, 5),
        walked_ptr=ints(records + 1),
        walked=ints(apart + 2 * largest_topic),
        stamp=np.zeros(n_nodes, np.int64),
        seen=ints(2, largest_topic + 1),
        came=ints(2, largest_topic + 1),
        apart=ints(apart),
        apart_at=np.full(n_nodes, -1, np.int32),
        planes=np.zeros((PLANES, apart, words), np.uint64),
        off=ints(apart),
        order=ints(apart),
        bound=ints(apart),
        mask=np.zeros(words, np.uint64),
        rarest=ints(most_broken),
        random=np.array([seed], np.uint64),
        price_ptr=prices[0],
        price_other=prices[1],
        price=prices[2],
    )


@bare
def _replace(trees: OverlayTrees, removal: Removal, slot_u: int, slot_v: int) -> Any:
    """Let another edge connect the two trees of a topic that hold slot_u and slot_v, if there is one.

    Of several edges out of the smaller tree, whose nodes are listed in `walked`, the one that carries most
    topics is taken. Returns where the nodes are listed, how many they are, and whether there was an edge.
    """
    counts, walked, stamp = removal.counts, removal.walked, removal.stamp
    side, found = smaller_side(
        trees.arc_slot, trees.arc_next, trees.slot_arc, slot_u, slot_v, removal.seen, removal.came
    )
    start = counts[WALKED]
    if start + found > len(walked):
        start = np.int64(0)  # more than fits: the move will be undone
    counts[WALKS] += 1
    for k in range(found):
        walked[start + k] = trees.slot_node[removal.seen[side, k]]
        stamp[walked[start + k]] = counts[WALKS]
    topic = np.int64(trees.slot_topic[slot_u])
    word, bit = topic >> 6, np.uint64(topic & 63)
    best, inner, outer, most = np.int64(-1), np.int64(-1), np.int64(-1), -1
    for i in range(start, start + found):
        node = walked[i]
        for place in range(trees.near_ptr[node], trees.near_ptr[node] + trees.degree[node]):
            other = trees.near[place]
            if stamp[other] != counts[WALKS] and (trees.bits[other, word] >> bit) & np.uint64(1):
                edge = trees.near_edge[place]
                if trees.load[edge] > most:
                    best, inner, outer, most = (
                        np.int64(edge),
                        np.int64(node),
                        np.int64(other),
                        trees.load[edge],
                    )
    if best >= 0:
        a = find_slot(trees.node_ptr, trees.slot_topic, inner, topic)
        b = find_slot(trees.node_ptr, trees.slot_topic, outer, topic)
        if trees.edge_u[best] == inner:
            add_tree_edge(trees, best, a, b)
        else:
            add_tree_edge(trees, best, b, a)
    return start, found, best >= 0


@bare
def remove_if_replaced(trees: OverlayTrees, removal: Removal, edge: int) -> bool:
    """Remove `edge` if others can carry all its topics; those handed over stay there in any case."""
    unlink(trees, edge)
    pair, left = trees.edge_pair[edge], trees.load[edge]
    while pair >= 0:
        following = trees.pair_next[pair]
        slot_u, slot_v = np.int64(trees.arc_slot[2 * pair + 1]), np.int64(trees.arc_slot[2 * pair])
        drop_pair(trees, np.int64(pair))
        _, _, replaced = _replace(trees, removal, slot_u, slot_v)
        if not replaced:
            place_edge(trees, edge, np.int64(trees.edge_u[edge]), np.int64(trees.edge_v[edge]))
            trees.edge_pair[edge], trees.load[edge] = following, left - 1
            add_tree_edge(trees, edge, slot_u, slot_v)
            return False
        pair = following
        left -= 1
    free_edge(trees, edge)
    return True


@bare
def remove_edges(trees: OverlayTrees, removal: Removal) -> bool:
    """Remove the edges listed in `removal.removed` and record what broke; False if that is more than fits."""
    counts = removal.counts
    counts[RECORDS] = counts[TOPICS] = counts[WORDS] = counts[WALKED] = counts[APART] = counts[ADDED] = 0
    for i in range(counts[REMOVED]):
        unlink(trees, np.int64(removal.removed[i]))
    fits = True
    for i in range(counts[REMOVED]):
        edge = removal.removed[i]
        pair = trees.edge_pair[edge]
        trees.edge_pair[edge] = -1
        trees.load[edge] = 0
        while pair >= 0:
            following = trees.pair_next[pair]
            slot_u, slot_v = np.int64(trees.arc_slot[2 * pair + 1]), np.int64(trees.arc_slot[2 * pair])
            drop_pair(trees, np.int64(pair))
            pair = following
            start, found, replaced = _replace(trees, removal, slot_u, slot_v)
            fits = fits and start == counts[WALKED]
            if replaced:
                continue
            record = counts[RECORDS]
            removal.records[record, 0], removal.records[record, 1] = trees.slot_topic[slot_u], edge
            removal.records[record, 2], removal.records[record, 3] = slot_u, slot_v
            removal.walked_ptr[record], removal.walked_ptr[record + 1] = start, start + found
            counts[RECORDS] += 1
            counts[WALKED] = start + found
    return fits


@bare
def undo(trees: OverlayTrees, removal: Removal) -> None:
    """Drop the added edges and put the removed ones back, with the topics that no other edge could carry."""
    counts = removal.counts
    for i in range(counts[ADDED]):
        edge = np.int64(removal.added[i])
        unlink(trees, edge)
        pair = trees.edge_pair[edge]
        while pair >= 0:
            drop_pair(trees, np.int64(pair))
            pair = trees.pair_next[pair]
        free_edge(trees, edge)
    for i in range(counts[REMOVED]):
        edge = np.int64(removal.removed[i])
        place_edge(trees, edge, np.int64(trees.edge_u[edge]), np.int64(trees.edge_v[edge]))
    for record in range(counts[RECORDS]):
        of = removal.records[record]
        add_tree_edge(trees, np.int64(of[1]), np.int64(of[2]), np.int64(of[3]))
    _forget(removal)


@bare
def keep(trees: OverlayTrees, removal: Removal) -> None:
    """Give up the removed edges for good."""
    for i in range(removal.counts[REMOVED]):
        free_edge(trees, np.int64(removal.removed[i]))
    _forget(removal)


@bare
def _forget(removal: Removal) -> None:
    """Wipe what the move wrote into the tables by topic, word and node."""
    for i in range(removal.counts[TOPICS]):
        removal.topic_open[removal.topics[i]] = 0
    for i in range(removal.counts[WORDS]):
        removal.word_at[removal.words[i]] = -1
    for i in range(removal.counts[APART]):
        removal.apart_at[removal.apart[i]] = -1
