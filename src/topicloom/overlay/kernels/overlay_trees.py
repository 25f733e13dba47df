"""A mutable overlay that keeps one spanning tree per topic, so the loss of an edge is judged locally.

That an edge is part of the tree of one topic (it *carries* the topic) is stored as a pair p of arcs, 2p and
2p + 1, one in the list of each end's subscription (*slot*). Walking a topic's tree follows arcs from slot to
slot and meets nothing else. An edge that carries no topic is not needed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Bools, Ints, Longs, Words
from topicloom.base.kernels.jit import bare, inlined, kernel
from topicloom.base.kernels.search import first_at_least
from topicloom.base.kernels.union_find import unite
from topicloom.overlay.kernels.edge_lists import N_EDGES, link, unlink
from topicloom.overlay.kernels.shared_topics import topic_words
from topicloom.overlay.model.interest import Interest

N_FREE_EDGES, N_FREE_PAIRS = N_EDGES + 1, N_EDGES + 2  # places in `OverlayTrees.sizes`


class OverlayTrees(NamedTuple):
    """The state; everything from `degree` on changes."""

    node_ptr: Longs
    slot_topic: Ints  # slot -> topic, ascending within a node
    slot_node: Ints
    topic_ptr: Longs
    topic_nodes: Ints
    bits: Words  # node x word: the topics of a node as bits
    near_ptr: Longs  # node -> room for its neighbors
    degree: Ints
    near: Ints  # neighbors of a node, in no order
    near_edge: Ints
    edge_u: Ints
    edge_v: Ints
    load: Ints  # edge -> number of topics whose tree it is part of
    fixed: Bools  # edge -> must stay
    edge_pair: Ints  # edge -> its first pair of arcs
    live: Ints  # the edges there are, in no order
    live_at: Ints  # edge -> its position there
    free_edges: Ints
    slot_arc: Ints  # slot -> its first arc
    arc_slot: Ints  # arc -> the slot it leads to
    arc_next: Ints
    pair_edge: Ints
    pair_next: Ints  # pair -> the next one of the same edge
    free_pairs: Ints
    sizes: Longs


def new_overlay_trees(interest: Interest, room: Ints, most_edges: int) -> OverlayTrees:
    """Return an overlay without edges; node v has room for `room[v]` of them."""
    n_nodes, n_slots = interest.n_nodes, interest.n_subscriptions
    by_node = interest.node_ptr, interest.node_topics, interest.pair_nodes()
    bits = topic_words(*interest.sealed_lists()[:2], interest.n_topics)
    near_ptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(room, dtype=np.int64)))

    def ints(size: int, value: int = 0) -> Ints:
        return np.full(size, value, np.int32)

    def stack(size: int) -> Ints:
        return np.arange(size, dtype=np.int32)[::-1].copy()

    near = (near_ptr, ints(n_nodes), ints(int(near_ptr[-1])), ints(int(near_ptr[-1])))
    ends_and_load = (ints(most_edges), ints(most_edges), ints(most_edges))
    live = (ints(most_edges), ints(most_edges), stack(most_edges))
    edges = (*ends_and_load, np.zeros(most_edges, np.bool_), ints(most_edges, -1), *live)
    arcs = (ints(n_slots, -1), ints(2 * n_slots), ints(2 * n_slots))
    pairs = (ints(n_slots), ints(n_slots), stack(n_slots))
    sizes = np.array([0, most_edges, n_slots], np.int64)
    wanted = (*by_node, interest.topic_ptr, interest.topic_nodes, bits)
    return OverlayTrees(*wanted, *near, *edges, *arcs, *pairs, sizes)


FIRST_CHANGING = OverlayTrees._fields.index("degree")


def copied(trees: OverlayTrees) -> OverlayTrees:
    """Return a copy that changes by itself; what never changes is shared."""
    return OverlayTrees(*trees[:FIRST_CHANGING], *(table.copy() for table in trees[FIRST_CHANGING:]))


def copy_overlay(trees: OverlayTrees, to: OverlayTrees) -> None:
    """Make a copy the same again."""
    for table, other in zip(trees[FIRST_CHANGING:], to[FIRST_CHANGING:], strict=True):
        np.copyto(other, table)


@inlined
def find_slot(node_ptr: Longs, slot_topic: Ints, node: int, topic: int) -> Any:
    """Return the slot of a subscription that exists."""
    return first_at_least(slot_topic, node_ptr[node], node_ptr[node + 1], topic)


@bare
def add_edge(trees: OverlayTrees, u: int, v: int) -> Any:
    """Add an edge that carries no topic; return its number."""
    trees.sizes[N_FREE_EDGES] -= 1
    edge = np.int64(trees.free_edges[trees.sizes[N_FREE_EDGES]])
    place_edge(trees, edge, u, v)
    return edge


@bare
def place_edge(trees: OverlayTrees, edge: int, u: int, v: int) -> None:
    """Enter `edge` into the lists of its ends; it carries no topic."""
    link(trees, edge, u, v)
    trees.load[edge] = 0
    trees.edge_pair[edge] = -1


@bare
def free_edge(trees: OverlayTrees, edge: int) -> None:
    """Give the number of an edge that is taken out back."""
    trees.free_edges[trees.sizes[N_FREE_EDGES]] = edge
    trees.sizes[N_FREE_EDGES] += 1


@bare
def add_tree_edge(trees: OverlayTrees, edge: int, slot_u: int, slot_v: int) -> None:
    """Make `edge` part of the tree of the topic that both slots are of."""
    trees.sizes[N_FREE_PAIRS] -= 1
    pair = trees.free_pairs[trees.sizes[N_FREE_PAIRS]]
    trees.pair_edge[pair] = edge
    trees.pair_next[pair] = trees.edge_pair[edge]
    trees.edge_pair[edge] = pair
    trees.load[edge] += 1
    trees.arc_slot[2 * pair], trees.arc_slot[2 * pair + 1] = slot_v, slot_u
    trees.arc_next[2 * pair], trees.slot_arc[slot_u] = trees.slot_arc[slot_u], 2 * pair
    trees.arc_next[2 * pair + 1], trees.slot_arc[slot_v] = trees.slot_arc[slot_v], 2 * pair + 1


@bare
def _unlist_arc(slot_arc: Ints, arc_next: Ints, slot: int, arc: int) -> None:
    if slot_arc[slot] == arc:
        slot_arc[slot] = arc_next[arc]
        return
    before = slot_arc[slot]
    while arc_next[before] != arc:
        before = arc_next[before]
    arc_next[before] = arc_next[arc]


@bare
def drop_pair(trees: OverlayTrees, pair: int) -> None:
    """Take a pair of arcs out of their slots' lists; the edge's own list is left to the caller."""
    _unlist_arc(trees.slot_arc, trees.arc_next, trees.arc_slot[2 * pair + 1], 2 * pair)
    _unlist_arc(trees.slot_arc, trees.arc_next, trees.arc_slot[2 * pair], 2 * pair + 1)
    trees.free_pairs[trees.sizes[N_FREE_PAIRS]] = pair
    trees.sizes[N_FREE_PAIRS] += 1


@bare
def _look_on(
    arc_slot: Ints, arc_next: Ints, slot_arc: Ints, seen: Ints, came: Ints, side: int, turn: int, found: int
) -> Any:
    """List what lies next to one slot of a tree, but for where it was entered from; how many are listed."""
    slot, source = seen[side, turn], came[side, turn]
    arc = slot_arc[slot]
    while arc >= 0:
        if arc_slot[arc] != source:
            seen[side, found], came[side, found] = arc_slot[arc], slot
            found += 1
        arc = arc_next[arc]
    return found


@bare
def smaller_side(
    arc_slot: Ints, arc_next: Ints, slot_arc: Ints, slot_u: int, slot_v: int, seen: Ints, came: Ints
) -> Any:
    """List the slots of the smaller of two trees, walked in turn; return (which one, how many).

    Tree 0 holds slot_u and is listed in seen[0], tree 1 holds slot_v. `came` remembers where each slot was
    entered from: on a tree that is all it takes not to walk back.
    """
    seen[0, 0], came[0, 0] = slot_u, -1
    seen[1, 0], came[1, 0] = slot_v, -1
    found_0, found_1 = 1, 1
    turn = 0
    while True:
        if turn == found_0:
            return 0, found_0
        found_0 = _look_on(arc_slot, arc_next, slot_arc, seen, came, 0, turn, found_0)
        if turn == found_1:
            return 1, found_1
        found_1 = _look_on(arc_slot, arc_next, slot_arc, seen, came, 1, turn, found_1)
        turn += 1


@kernel
def add_edges(trees: OverlayTrees, u: Ints, v: Ints, n_fixed: int, parent: Ints) -> None:
    """Add all edges; each becomes part of the trees of the topics that no edge before it has joined.

    The first `n_fixed` stay for good. Of the others those that join nothing are left out. `parent` holds
    0, 1, 2, ... and is used up.
    """
    for i in range(len(u)):
        edge = add_edge(trees, np.int64(u[i]), np.int64(v[i]))
        trees.fixed[edge] = i < n_fixed
        a, b = trees.node_ptr[u[i]], trees.node_ptr[v[i]]
        while a < trees.node_ptr[u[i] + 1] and b < trees.node_ptr[v[i] + 1]:
            s, t = trees.slot_topic[a], trees.slot_topic[b]
            if s == t and unite(parent, a, b):
                add_tree_edge(trees, edge, a, b)
            a += s <= t
            b += t <= s
        if trees.load[edge] == 0 and i >= n_fixed:
            unlink(trees, edge)
            free_edge(trees, edge)
