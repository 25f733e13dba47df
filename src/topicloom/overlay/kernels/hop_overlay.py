"""A mutable overlay that knows every subscriber's hops to the root of each of its topics, exactly.

Each topic has a root and a radius. A subscriber farther from the root than the radius, or cut off from it, is
*loose* there; all others know their depth, the length of a shortest path inside the topic. No two
subscribers that are not loose are more than two radii apart. Where an odd number of hops is asked for, the
root is an edge that stays: both its ends have depth 0, and two radii and one hop are the most.

A subscriber may take others below it where it is *open*: not loose, and above the radius. Both are kept as
bits, so that what an edge would hold is counted in words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Bools, Floats, Ints, Longs, Words
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import bare, kernel
from topicloom.overlay.kernels.edge_lists import N_EDGES, link

LOOSE = 1 << 20  # the depth of who is loose
STALE = -1  # the load of an edge that is not known
# Places in `HopOverlay.sizes`, after the number of edges: free edge numbers, loose subscriptions, the sum of
# all other depths, weighed, changes of depth written down, nodes that came loose, edges removed and added by
# a move.
N_FREE, N_LOOSE, DEPTHS, N_LOG, N_NODES, REMOVED, ADDED = range(N_EDGES + 1, 8)


class HopOverlay(NamedTuple):
    """The state; everything from `depth` on changes. Slots are subscriptions, node by node."""

    node_ptr: Longs
    topic_ptr: Longs
    topic_nodes: Ints
    bits: Words  # node x word: the topics of a node
    before: Ints  # node x word: how many of them lie in the words before
    near_ptr: Longs  # node -> room for its neighbors
    price_ptr: Longs  # node -> its pairs that do not cost 1
    price_other: Ints
    price: Floats  # infinite: no edge allowed
    weight_of: Longs  # topic -> what a hop of depth counts in it
    depth: Ints  # by slot
    open: Words  # node x word
    loose: Words  # node x word
    root: Ints  # topic -> node
    root_edge: Ints  # topic -> the edge to a second root, -1
    radius: Ints  # topic -> the largest depth allowed
    degree: Ints
    near: Ints
    near_edge: Ints
    edge_u: Ints
    edge_v: Ints
    fixed: Bools  # edge -> must stay
    roots: Ints  # edge -> topics of which it is the root: it stays as long
    load: Ints  # edge -> how many topics hang on it, STALE where that must be counted anew
    live: Ints  # the edges there are, in no order
    live_at: Ints
    free: Ints
    log_node: Ints  # who changed depth, in order
    log_topic: Ints
    log_depth: Ints  # and what it was
    queue: Ints  # scratch: nodes
    old: Ints  # scratch: depths
    best: Ints  # scratch by node: LOOSE
    weight: Ints  # scratch by node: 0
    bucket: Ints  # scratch by depth: -1
    bucket_next: Ints
    bucket_node: Ints
    nodes: Ints  # nodes that came loose in this move
    node_at: Ints  # node -> its position there, -1
    off: Ints  # scratch, by position there
    removed: Ints
    added: Ints
    random: Words
    sizes: Longs


@bare
def slot_of(overlay: HopOverlay, node: int, topic: int) -> Any:
    """Return the slot of a subscription that exists."""
    word = topic >> 6
    below = (np.uint64(1) << np.uint64(topic & 63)) - np.uint64(1)
    return overlay.node_ptr[node] + overlay.before[node, word] + ones(overlay.bits[node, word] & below)


@bare
def wants(overlay: Any, node: int, topic: int) -> bool:
    """Does the node subscribe to the topic?"""
    return (overlay.bits[node, topic >> 6] >> np.uint64(topic & 63)) & np.uint64(1) != np.uint64(0)


@bare
def set_depth(overlay: HopOverlay, node: int, topic: int, depth: int) -> None:
    """Change the depth of a subscriber, LOOSE for none; bits and sums follow."""
    slot = slot_of(overlay, node, topic)
    old = overlay.depth[slot]
    overlay.depth[slot] = depth
    word, flag = topic >> 6, np.uint64(1) << np.uint64(topic & 63)
    if depth == LOOSE:
        overlay.loose[node, word] |= flag
        overlay.sizes[N_LOOSE] += old != LOOSE
    else:
        overlay.loose[node, word] &= ~flag
        overlay.sizes[N_LOOSE] -= old == LOOSE
        overlay.sizes[DEPTHS] += depth * overlay.weight_of[topic]
    if old != LOOSE:
        overlay.sizes[DEPTHS] -= old * overlay.weight_of[topic]
    if depth < overlay.radius[topic]:
        overlay.open[node, word] |= flag
    else:
        overlay.open[node, word] &= ~flag


@bare
def change_depth(overlay: HopOverlay, node: int, topic: int, depth: int) -> None:
    """Change a depth so that it can be undone; remember nodes that come loose."""
    n = overlay.sizes[N_LOG]
    overlay.log_node[n], overlay.log_topic[n] = node, topic
    overlay.log_depth[n] = overlay.depth[slot_of(overlay, node, topic)]
    overlay.sizes[N_LOG] += 1
    set_depth(overlay, node, topic, depth)
    if depth == LOOSE and overlay.node_at[node] < 0:
        overlay.node_at[node] = overlay.sizes[N_NODES]
        overlay.nodes[overlay.sizes[N_NODES]] = node
        overlay.sizes[N_NODES] += 1


@bare
def free_edge(overlay: HopOverlay, edge: int) -> None:
    """Give the number of an edge that is taken out back."""
    overlay.free[overlay.sizes[N_FREE]] = edge
    overlay.sizes[N_FREE] += 1


@kernel
def search_topic(overlay: HopOverlay, topic: int, root: int, levels: Ints) -> int:
    """Write the depths of a topic's subscribers from `root` into `levels`, by place there; LOOSE: none.

    Returns the largest. Plain search, nothing else changes.
    """
    start, stop = overlay.topic_ptr[topic], overlay.topic_ptr[topic + 1]
    best, queue = overlay.best, overlay.queue
    queue[0], best[root] = root, 0
    head, tail = 0, 1
    while head < tail:
        x = queue[head]
        head += 1
        for place in range(overlay.near_ptr[x], overlay.near_ptr[x] + overlay.degree[x]):
            y = overlay.near[place]
            if best[y] == LOOSE and wants(overlay, y, topic):
                best[y] = best[x] + 1
                queue[tail] = y
                tail += 1
    deepest = best[queue[tail - 1]]
    for place in range(start, stop):
        levels[place - start] = best[overlay.topic_nodes[place]]
    for i in range(tail):
        best[queue[i]] = LOOSE
    return deepest


@kernel
def root_topic(overlay: HopOverlay, topic: int, root: int, second: int, radius: int, levels: Ints) -> None:
    """Make `root` the root of a topic, with `second` a neighbor of it if not -1.

    `levels` are the depths from there: loose where beyond `radius`.
    """
    start = overlay.topic_ptr[topic]
    if overlay.root_edge[topic] >= 0:
        overlay.roots[overlay.root_edge[topic]] -= 1
    overlay.root_edge[topic] = -1
    for place in range(overlay.near_ptr[root], overlay.near_ptr[root] + overlay.degree[root]):
        if overlay.near[place] == second:
            overlay.root_edge[topic] = overlay.near_edge[place]
            overlay.roots[overlay.near_edge[place]] += 1
    overlay.root[topic], overlay.radius[topic] = root, radius
    overlay.load[:] = STALE
    for place in range(start, overlay.topic_ptr[topic + 1]):
        level = levels[place - start]
        set_depth(overlay, np.int64(overlay.topic_nodes[place]), topic, level if level <= radius else LOOSE)


@kernel
def put_edges(overlay: HopOverlay, u: Ints, v: Ints, n_fixed: int) -> None:
    """Add edges while no depth is known yet; the first `n_fixed` stay for good."""
    for i in range(len(u)):
        overlay.sizes[N_FREE] -= 1
        edge = np.int64(overlay.free[overlay.sizes[N_FREE]])
        overlay.fixed[edge] = i < n_fixed
        link(overlay, edge, np.int64(u[i]), np.int64(v[i]))


def new_hop_overlay(
    interest_lists: tuple[Longs, Ints, Longs, Ints],
    room: Ints,
    prices: tuple[Longs, Ints, Floats],
    most_edges: int,
    seed: int,
    weights: Longs | None = None,
) -> HopOverlay:
    """Return an overlay without edges in which everybody is loose; node v has room for `room[v]` edges.

    A hop of depth counts `weights[topic]` (1 without).
    """
    node_ptr, node_topics, topic_ptr, topic_nodes = interest_lists
    n_nodes, n_topics, n_slots = len(node_ptr) - 1, len(topic_ptr) - 1, len(node_topics)
    words = max((n_topics + 63) // 64, 1)
    slot_node = np.repeat(np.arange(n_nodes, dtype=np.int32), np.diff(node_ptr))
    bits = np.zeros((n_nodes, words), np.uint64)
    flags = np.uint64(1) << (node_topics.astype(np.uint64) & np.uint64(63))
    np.bitwise_or.at(bits, (slot_node, node_topics >> 6), flags)
    counts = np.zeros((n_nodes, words), np.int32)
    np.add.at(counts, (slot_node, node_topics >> 6), 1)
    near_ptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(room, dtype=np.int64)))
    largest = int(np.diff(topic_ptr).max(initial=1)) + 1

    def ints(size: int, value: int = 0) -> Ints:
        return np.full(size, value, np.int32)

    return HopOverlay(
        node_ptr=node_ptr,
        topic_ptr=topic_ptr,
        topic_nodes=topic_nodes,
        bits=bits,
        before=(np.cumsum(counts, axis=1) - counts).astype(np.int32),
        near_ptr=near_ptr,
        price_ptr=prices[0],
        price_other=prices[1],
        price=prices[2],
        weight_of=np.ones(n_topics, np.int64) if weights is None else weights,
        depth=ints(n_slots, LOOSE),
        open=np.zeros((n_nodes, words), np.uint64),
        loose=bits.copy(),
        root=ints(n_topics, -1),
        root_edge=ints(n_topics, -1),
        radius=ints(n_topics),
        degree=ints(n_nodes),
        near=ints(int(near_ptr[-1])),
        near_edge=ints(int(near_ptr[-1])),
        edge_u=ints(most_edges),
        edge_v=ints(most_edges),
        fixed=np.zeros(most_edges, np.bool_),
        roots=ints(most_edges),
        load=ints(most_edges, STALE),
        live=ints(most_edges),
        live_at=ints(most_edges),
        free=np.arange(most_edges, dtype=np.int32)[::-1].copy(),
        log_node=ints(4 * n_slots + 4),
        log_topic=ints(4 * n_slots + 4),
        log_depth=ints(4 * n_slots + 4),
        queue=ints(largest),
        old=ints(largest),
        best=ints(n_nodes, LOOSE),
        weight=ints(n_nodes),
        bucket=ints(largest + 2, -1),
        bucket_next=ints(2 * largest + 2),
        bucket_node=ints(2 * largest + 2),
        nodes=ints(n_nodes),
        node_at=ints(n_nodes, -1),
        off=ints(n_nodes),
        removed=ints(16),
        added=ints(max(most_edges, 64)),
        random=np.array([seed], np.uint64),
        sizes=np.array([0, most_edges, n_slots, 0, 0, 0, 0, 0], np.int64),
    )
