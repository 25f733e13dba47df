"""A smaller radius for one topic: whoever is beyond it is held, or taken nearer to the root with others."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import bare
from topicloom.base.kernels.random import draw
from topicloom.overlay.kernels.hop_depths import put_edge
from topicloom.overlay.kernels.hop_edges import list_edge_at
from topicloom.overlay.kernels.hop_overlay import (
    ADDED,
    LOOSE,
    N_LOOSE,
    N_NODES,
    REMOVED,
    STALE,
    HopOverlay,
    change_depth,
    slot_of,
    wants,
)
from topicloom.overlay.kernels.hop_repair import MOST_LOOSE, keep, pair_price, repair, take_out, undo

MOST_SQUEEZED = 512  # nodes that may come loose, each of which may take an edge
LIFTS = 8  # nodes with the most loose ones below them that are tried


@bare
def _weigh(overlay: HopOverlay, topic: int) -> Any:
    """Count for each node how many loose subscribers hang below it, along one path each; list such nodes."""
    weight, queue, listed = overlay.weight, overlay.queue, 0
    for i in range(overlay.sizes[N_NODES]):
        x = np.int64(overlay.nodes[i])
        depth = np.int64(overlay.radius[topic]) + 1
        if (overlay.loose[x, topic >> 6] >> np.uint64(topic & 63)) & np.uint64(1) == 0:
            continue
        while depth > 2:
            parent = np.int64(-1)
            for place in range(overlay.near_ptr[x], overlay.near_ptr[x] + overlay.degree[x]):
                y = np.int64(overlay.near[place])
                if wants(overlay, y, topic) and overlay.depth[slot_of(overlay, y, topic)] == depth - 1:
                    parent = y
                    break
            if parent < 0:
                break
            if weight[parent] == 0:
                queue[listed] = parent
                listed += 1
            weight[parent] += 1
            x = parent
            depth -= 1
    return listed


@bare
def _partner(overlay: HopOverlay, cap: Ints, topic: int, node: int) -> Any:
    """Return who could take a subscriber nearer to the root, who shares most with it; -1 if nobody."""
    best, most = np.int64(-1), 0
    highest = overlay.depth[slot_of(overlay, node, topic)] - 2
    for place in range(overlay.topic_ptr[topic], overlay.topic_ptr[topic + 1]):
        other = np.int64(overlay.topic_nodes[place])
        if overlay.degree[other] >= cap[other] or overlay.depth[slot_of(overlay, other, topic)] > highest:
            continue
        shared = 0
        for word in range(overlay.bits.shape[1]):
            shared += ones(overlay.bits[node, word] & overlay.bits[other, word])
        if shared > most and pair_price(overlay, node, other) < np.inf:
            best, most = other, shared
    return best


@bare
def _lift(overlay: HopOverlay, cap: Ints, topic: int) -> bool:
    """Add the edge that takes most loose subscribers nearer to the root, two or more; False if there is none.

    An edge from a node farther up takes all below it along.
    """
    listed = _weigh(overlay, topic)
    a, b = np.int64(-1), np.int64(-1)
    for _ in range(LIFTS):
        best = -1
        for i in range(listed):
            node = overlay.queue[i]
            room = overlay.weight[node] > 1 and overlay.degree[node] < cap[node]
            if room and (best < 0 or overlay.weight[node] > overlay.weight[best]):
                best = node
        if best < 0:
            break
        a, b = np.int64(best), _partner(overlay, cap, topic, np.int64(best))
        if b >= 0:
            break
        overlay.weight[best] = 1
    for i in range(listed):
        overlay.weight[overlay.queue[i]] = 0
    if b < 0:
        return False
    overlay.added[overlay.sizes[ADDED]] = put_edge(overlay, a, b)
    overlay.sizes[ADDED] += 1
    return True


@bare
def _make_room(overlay: HopOverlay, cap: Ints, topic: int, attempt: int) -> None:
    """List edges of full nodes: of those that came loose, and of some that could hold them."""
    start, size = overlay.topic_ptr[topic], overlay.topic_ptr[topic + 1] - overlay.topic_ptr[topic]
    for i in range(overlay.sizes[N_NODES]):
        node = np.int64(overlay.nodes[i])
        if overlay.degree[node] >= cap[node] and (attempt == 1 or draw(overlay.random, 2) == 0):
            list_edge_at(overlay, node, 2)
    before = overlay.sizes[REMOVED]
    for _ in range(3 * attempt):
        node = np.int64(overlay.topic_nodes[start + draw(overlay.random, size)])
        held = overlay.depth[slot_of(overlay, node, topic)] < overlay.radius[topic]
        if held and overlay.degree[node] >= cap[node] and overlay.sizes[REMOVED] < before + attempt:
            list_edge_at(overlay, node, 2)


@bare
def squeeze(overlay: HopOverlay, cap: Ints, topic: int, radius: int, attempt: int, topics: Ints) -> bool:
    """Make the radius of a topic smaller and hold whoever is beyond it; all is as before if that fails.

    From the second attempt on edges of full nodes are taken out to make room.
    """
    old = overlay.radius[topic]
    overlay.radius[topic] = radius
    overlay.sizes[REMOVED] = 0
    for place in range(overlay.topic_ptr[topic], overlay.topic_ptr[topic + 1]):
        node = np.int64(overlay.topic_nodes[place])
        depth = np.int64(overlay.depth[slot_of(overlay, node, topic)])
        change_depth(overlay, node, topic, depth if depth <= radius else LOOSE)
    n_loose = overlay.sizes[N_NODES]
    if n_loose <= MOST_SQUEEZED:
        if attempt > 0:
            overlay.load[:] = STALE  # depths are in flux
            _make_room(overlay, cap, topic, attempt)
        take_out(overlay)
        if overlay.sizes[N_NODES] <= n_loose + MOST_LOOSE:
            most = overlay.sizes[REMOVED] + n_loose
            while overlay.sizes[N_LOOSE] > 0 and overlay.sizes[ADDED] < most and _lift(overlay, cap, topic):
                pass
            if repair(overlay, cap, most, np.int64(-1), np.int64(-1), topics):
                keep(overlay)
                overlay.load[:] = STALE
                return True
    overlay.radius[topic] = old
    undo(overlay)
    overlay.load[:] = STALE  # some were counted while depths were in flux
    return False
