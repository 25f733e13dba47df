"""Depths in topics after an edge has come or gone: only what hangs on it is renewed, and exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import bare
from topicloom.overlay.kernels.edge_lists import link, unlink
from topicloom.overlay.kernels.hop_overlay import (
    LOOSE,
    N_FREE,
    HopOverlay,
    change_depth,
    slot_of,
    wants,
)


@bare
def has_parent(overlay: HopOverlay, node: int, topic: int, depth: int) -> bool:
    """Has a subscriber of this depth a neighbor one hop nearer to the root?"""
    for place in range(overlay.near_ptr[node], overlay.near_ptr[node] + overlay.degree[node]):
        other = overlay.near[place]
        if wants(overlay, other, topic) and overlay.depth[slot_of(overlay, other, topic)] == depth - 1:
            return True
    return False


@bare
def _push(overlay: HopOverlay, n: int, node: int, depth: int) -> Any:
    """Enter a node into the bucket of its depth; return the number of entries."""
    overlay.bucket_node[n], overlay.bucket_next[n] = node, overlay.bucket[depth]
    overlay.bucket[depth] = n
    return n + 1


@bare
def cut_off(overlay: HopOverlay, topic: int, node: int) -> None:
    """Renew the depths below a subscriber that has lost its last neighbor nearer to the root.

    First all whose shortest paths are gone come loose, level by level; then those that others still reach
    within the radius get their new depths, nearest first.
    """
    queue, old, best, radius = overlay.queue, overlay.old, overlay.best, overlay.radius[topic]
    queue[0], old[0] = node, overlay.depth[slot_of(overlay, node, topic)]
    change_depth(overlay, node, topic, LOOSE)
    head, tail = 0, 1
    while head < tail:
        x, below = queue[head], old[head] + 1
        head += 1
        for place in range(overlay.near_ptr[x], overlay.near_ptr[x] + overlay.degree[x]):
            y = overlay.near[place]
            if (
                wants(overlay, y, topic)
                and overlay.depth[slot_of(overlay, y, topic)] == below
                and not has_parent(overlay, y, topic, below)
            ):
                change_depth(overlay, y, topic, LOOSE)
                queue[tail], old[tail] = y, below
                tail += 1
    entries, lowest = 0, radius + 1
    for i in range(tail):
        x = queue[i]
        nearest = np.int64(LOOSE)
        for place in range(overlay.near_ptr[x], overlay.near_ptr[x] + overlay.degree[x]):
            y = overlay.near[place]
            if wants(overlay, y, topic):
                nearest = min(nearest, np.int64(overlay.depth[slot_of(overlay, y, topic)]) + 1)
        best[x] = nearest
        if nearest <= radius:
            entries = _push(overlay, entries, x, nearest)
            lowest = min(lowest, nearest)
    for depth in range(lowest, radius + 1):
        entry = overlay.bucket[depth]
        overlay.bucket[depth] = -1
        while entry >= 0:
            x = overlay.bucket_node[entry]
            entry = overlay.bucket_next[entry]
            if best[x] != depth or overlay.depth[slot_of(overlay, x, topic)] != LOOSE:
                continue
            change_depth(overlay, x, topic, depth)
            if depth == radius:
                continue
            for place in range(overlay.near_ptr[x], overlay.near_ptr[x] + overlay.degree[x]):
                y = overlay.near[place]
                if (
                    wants(overlay, y, topic)
                    and overlay.depth[slot_of(overlay, y, topic)] == LOOSE
                    and depth + 1 < best[y]
                ):
                    best[y] = depth + 1
                    entries = _push(overlay, entries, y, depth + 1)
    for i in range(tail):
        best[queue[i]] = LOOSE


@bare
def drop_edge(overlay: HopOverlay, edge: int) -> None:
    """Take an edge out and renew what hangs on it; its number stays taken."""
    u, v = np.int64(overlay.edge_u[edge]), np.int64(overlay.edge_v[edge])
    unlink(overlay, edge)
    for word in range(overlay.bits.shape[1]):
        rest = overlay.bits[u, word] & overlay.bits[v, word]
        while rest != 0:
            lowest = rest & (~rest + np.uint64(1))
            rest ^= lowest
            topic = 64 * word + ones(lowest - np.uint64(1))
            depth_u = overlay.depth[slot_of(overlay, u, topic)]
            depth_v = overlay.depth[slot_of(overlay, v, topic)]
            if depth_u == depth_v or max(depth_u, depth_v) == LOOSE:
                continue
            lower, depth = (u, depth_u) if depth_u > depth_v else (v, depth_v)
            if not has_parent(overlay, lower, topic, depth):
                cut_off(overlay, topic, lower)


@bare
def _rise(overlay: HopOverlay, topic: int, node: int, depth: int) -> None:
    """Give a subscriber a smaller depth, and all that come nearer to the root through it."""
    queue = overlay.queue
    change_depth(overlay, node, topic, depth)
    queue[0] = node
    head, tail = 0, 1
    while head < tail:
        x = queue[head]
        head += 1
        below = overlay.depth[slot_of(overlay, x, topic)] + 1
        if below > overlay.radius[topic]:
            continue
        for place in range(overlay.near_ptr[x], overlay.near_ptr[x] + overlay.degree[x]):
            y = overlay.near[place]
            if wants(overlay, y, topic) and overlay.depth[slot_of(overlay, y, topic)] > below:
                change_depth(overlay, y, topic, below)
                queue[tail] = y
                tail += 1


@bare
def put_edge(overlay: HopOverlay, u: int, v: int) -> Any:
    """Add an edge and renew what comes nearer to a root by it; return its number."""
    overlay.sizes[N_FREE] -= 1
    edge = np.int64(overlay.free[overlay.sizes[N_FREE]])
    overlay.fixed[edge] = False
    link(overlay, edge, u, v)
    for word in range(overlay.bits.shape[1]):
        rest = overlay.bits[u, word] & overlay.bits[v, word]
        while rest != 0:
            lowest = rest & (~rest + np.uint64(1))
            rest ^= lowest
            topic = 64 * word + ones(lowest - np.uint64(1))
            depth_u = np.int64(overlay.depth[slot_of(overlay, u, topic)])
            depth_v = np.int64(overlay.depth[slot_of(overlay, v, topic)])
            below = min(depth_u, depth_v) + 1
            if below < max(depth_u, depth_v) and below <= overlay.radius[topic]:
                _rise(overlay, topic, u if depth_u > depth_v else v, below)
    return edge
