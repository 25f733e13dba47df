"""Moves on an overlay whose value is known exactly: edges in, edges out, accepted by annealing on the value.

An edge that comes in joins two subscribers of a topic that is drawn by what its paths weigh; half of the time
the best of a few such pairs is taken, by price and time. What goes out is beside it or anywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.arrays import Floats, Ints
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import bare, kernel
from topicloom.base.kernels.random import draw, odds
from topicloom.overlay.kernels.edge_lists import N_EDGES, link, unlink
from topicloom.overlay.kernels.path_overlay import (
    ADDED,
    MOST,
    N_FREE,
    N_TOUCHED,
    REMOVED,
    PathOverlay,
    pair_price,
    pair_time,
    put_in,
    shared_word,
    topic_value,
)

CHOICES = 4  # pairs of which the best comes in, half of the time


@bare
def _touch(overlay: PathOverlay, a: int, b: int) -> None:
    """List the topics that both want: their values are counted anew."""
    for word in range(overlay.bits.shape[1]):
        rest = shared_word(overlay, a, b, word)
        while rest != 0:
            lowest = rest & (~rest + np.uint64(1))
            rest ^= lowest
            topic = 64 * word + ones(lowest - np.uint64(1))
            if not overlay.is_touched[topic]:
                overlay.is_touched[topic] = True
                overlay.touched[overlay.sizes[N_TOUCHED]] = topic
                overlay.old_value[overlay.sizes[N_TOUCHED]] = overlay.value[topic]
                overlay.sizes[N_TOUCHED] += 1


@bare
def _take(overlay: PathOverlay, edge: int) -> None:
    """Take an edge out."""
    u, v = np.int64(overlay.edge_u[edge]), np.int64(overlay.edge_v[edge])
    overlay.removed[overlay.sizes[REMOVED]] = edge
    overlay.sizes[REMOVED] += 1
    unlink(overlay, edge)
    overlay.load[u] -= overlay.edge_load[edge]
    overlay.load[v] -= overlay.edge_load[edge]
    _touch(overlay, u, v)


@bare
def _put(overlay: PathOverlay, a: int, b: int) -> bool:
    """Put an edge in, unless there is one, or it is forbidden, or nobody wants a topic with it."""
    if a == b or overlay.sizes[ADDED] == MOST or overlay.sizes[N_FREE] == 0:
        return False
    shared = False
    for word in range(overlay.bits.shape[1]):
        shared = shared or shared_word(overlay, a, b, word) != 0
    if not shared or pair_price(overlay, a, b) == np.inf:
        return False
    room = overlay.near_ptr[a + 1] - overlay.near_ptr[a] > overlay.degree[a]
    if not room or overlay.near_ptr[b + 1] - overlay.near_ptr[b] <= overlay.degree[b]:
        return False
    for place in range(overlay.near_ptr[a], overlay.near_ptr[a] + overlay.degree[a]):
        if overlay.near[place] == b:
            return False
    edge = put_in(overlay, a, b)
    overlay.added[overlay.sizes[ADDED]] = edge
    overlay.sizes[ADDED] += 1
    _touch(overlay, a, b)
    return True


@bare
def _drawn_topic(overlay: PathOverlay) -> int:
    """Draw a topic by what its paths weigh."""
    lot = (draw(overlay.random, 1 << 30) + 0.5) / (1 << 30)
    low, high = 0, len(overlay.chance) - 1
    while low < high:
        middle = (low + high) // 2
        if overlay.chance[middle] < lot:
            low = middle + 1
        else:
            high = middle
    return low


@bare
def _drawn_member(overlay: PathOverlay, topic: int) -> Any:
    start = overlay.topic_ptr[topic]
    return np.int64(overlay.topic_nodes[start + draw(overlay.random, overlay.topic_ptr[topic + 1] - start)])


@bare
def _put_pair(overlay: PathOverlay, node: int) -> bool:
    """Put an edge between two subscribers of a topic in, from `node` on if it is one (else -1)."""
    topic = _drawn_topic(overlay)
    choices = CHOICES if draw(overlay.random, 2) == 0 else 1
    best_a, best_b, best = np.int64(0), np.int64(0), np.inf
    for _ in range(choices):
        a = np.int64(node) if node >= 0 else _drawn_member(overlay, topic)
        b = _drawn_member(overlay, topic)
        spent = pair_price(overlay, a, b) + pair_time(overlay, a, b)
        if best_a == best_b or spent < best:
            best_a, best_b, best = a, b, spent
    return _put(overlay, best_a, best_b)


@bare
def _edge_anywhere(overlay: PathOverlay) -> Any:
    """Return a random edge that may go; -1 if that one must stay."""
    n = overlay.sizes[N_EDGES]
    edge = np.int64(overlay.live[draw(overlay.random, n)]) if n else np.int64(-1)
    return np.int64(-1) if edge < 0 or overlay.fixed[edge] else edge


@bare
def _edge_at(overlay: PathOverlay, node: int) -> Any:
    """Return a random edge of a node that may go; -1 if that one must stay."""
    n = overlay.degree[node]
    edge = np.int64(-1)
    if n:
        edge = np.int64(overlay.near_edge[overlay.near_ptr[node] + draw(overlay.random, n)])
    return np.int64(-1) if edge < 0 or overlay.fixed[edge] else edge


@bare
def _exchange(overlay: PathOverlay) -> bool:
    """Take an edge out and put another one in: beside it, or anywhere."""
    edge = _edge_anywhere(overlay)
    if edge < 0:
        return False
    node = np.int64(overlay.edge_u[edge] if draw(overlay.random, 2) == 0 else overlay.edge_v[edge])
    _take(overlay, edge)
    if draw(overlay.random, 3) == 0:
        another = _edge_at(overlay, node)  # two out, two in: a node may keep its degree
        if another >= 0:
            _take(overlay, another)
            if not _put_pair(overlay, np.int64(-1)):
                return False
    return _put_pair(overlay, node if draw(overlay.random, 2) == 0 else np.int64(-1))


@bare
def _cross(overlay: PathOverlay) -> bool:
    """Exchange the ends of two edges: no degree changes."""
    one, other = _edge_anywhere(overlay), _edge_anywhere(overlay)
    if one < 0 or other < 0 or one == other:
        return False
    a, b = np.int64(overlay.edge_u[one]), np.int64(overlay.edge_v[one])
    c, d = np.int64(overlay.edge_u[other]), np.int64(overlay.edge_v[other])
    if draw(overlay.random, 2) == 0:
        c, d = d, c
    _take(overlay, one)
    _take(overlay, other)
    return _put(overlay, a, c) and _put(overlay, b, d)


@bare
def _over(overlay: PathOverlay, node: int) -> float:
    return max(overlay.load[node] - overlay.load_cap[node], 0.0)


@bare
def _keeps_caps(overlay: PathOverlay, cap: Ints) -> bool:
    """Has no end of a new edge more edges than its cap, unless it had as many before?"""
    for i in range(overlay.sizes[ADDED]):
        edge = overlay.added[i]
        for node in (overlay.edge_u[edge], overlay.edge_v[edge]):
            before = overlay.degree[node]
            for j in range(overlay.sizes[ADDED]):
                other = overlay.added[j]
                before -= overlay.edge_u[other] == node or overlay.edge_v[other] == node
            for j in range(overlay.sizes[REMOVED]):
                other = overlay.removed[j]
                before += overlay.edge_u[other] == node or overlay.edge_v[other] == node
            if overlay.degree[node] > max(cap[node], before):
                return False
    return True


@bare
def _gained(overlay: PathOverlay, most_hops: int) -> float:
    """Count the touched topics anew; return by how much the value grows."""
    grown = 0.0
    for i in range(overlay.sizes[ADDED]):
        grown += overlay.edge_price[overlay.added[i]]
    for i in range(overlay.sizes[REMOVED]):
        grown -= overlay.edge_price[overlay.removed[i]]
    for i in range(overlay.sizes[N_TOUCHED]):
        topic = np.int64(overlay.touched[i])
        overlay.value[topic] = topic_value(overlay, topic, most_hops)
        grown += overlay.value[topic] - overlay.old_value[i]
        if grown == np.inf:
            return np.inf
    return grown


@bare
def _undo(overlay: PathOverlay) -> None:
    """Put everything back as it was before the move."""
    for i in range(overlay.sizes[ADDED]):
        edge = np.int64(overlay.added[i])
        unlink(overlay, edge)
        overlay.load[overlay.edge_u[edge]] -= overlay.edge_load[edge]
        overlay.load[overlay.edge_v[edge]] -= overlay.edge_load[edge]
        overlay.free[overlay.sizes[N_FREE]] = edge
        overlay.sizes[N_FREE] += 1
    for i in range(overlay.sizes[REMOVED]):
        edge = np.int64(overlay.removed[i])
        link(overlay, edge, np.int64(overlay.edge_u[edge]), np.int64(overlay.edge_v[edge]))
        overlay.load[overlay.edge_u[edge]] += overlay.edge_load[edge]
        overlay.load[overlay.edge_v[edge]] += overlay.edge_load[edge]
    for i in range(overlay.sizes[N_TOUCHED]):
        overlay.value[overlay.touched[i]] = overlay.old_value[i]


@bare
def _keep(overlay: PathOverlay) -> None:
    """Give the numbers of the edges that went back."""
    for i in range(overlay.sizes[REMOVED]):
        overlay.free[overlay.sizes[N_FREE]] = overlay.removed[i]
        overlay.sizes[N_FREE] += 1


@bare
def _forget(overlay: PathOverlay) -> None:
    for i in range(overlay.sizes[N_TOUCHED]):
        overlay.is_touched[overlay.touched[i]] = False
    overlay.sizes[N_TOUCHED] = overlay.sizes[REMOVED] = overlay.sizes[ADDED] = 0


@bare
def _made(overlay: PathOverlay, most_edges: int) -> bool:
    """Change some edges at random; False if that came to nothing."""
    lot = draw(overlay.random, 8)
    if lot == 0 and overlay.sizes[N_EDGES] < most_edges:
        return _put_pair(overlay, np.int64(-1))
    if lot <= 1:
        edge = _edge_anywhere(overlay)
        if edge >= 0:
            _take(overlay, edge)
        return edge >= 0
    return _cross(overlay) if lot == 2 else _exchange(overlay)


@bare
def _spared(overlay: PathOverlay, before: Floats, ends: Ints) -> float:
    """Return by how much less the ends of this move's edges forward above their caps now."""
    n = 0
    for i in range(overlay.sizes[REMOVED]):
        ends[n] = overlay.removed[i]
        n += 1
    for i in range(overlay.sizes[ADDED]):
        ends[n] = overlay.added[i]
        n += 1
    spared = 0.0
    for i in range(n):
        for node in (overlay.edge_u[ends[i]], overlay.edge_v[ends[i]]):
            spared += max(before[node] - overlay.load_cap[node], 0.0) - _over(overlay, np.int64(node))
    return spared


@kernel
def run_path_moves(
    overlay: PathOverlay, cap: Ints, most_edges: int, most_hops: int, temperature: float, moves: int
) -> int:
    """Make so many moves; return how many were kept.

    No node above its cap gets more edges than it has, and nobody above a cap on loads forwards more.
    """
    kept = 0
    before = overlay.load.copy()
    ends = np.empty(2 * MOST, np.int32)
    for _ in range(moves):
        good = _made(overlay, most_edges) and _keeps_caps(overlay, cap)
        good = good and overlay.sizes[N_EDGES] <= max(
            most_edges, overlay.sizes[N_EDGES] + overlay.sizes[REMOVED] - overlay.sizes[ADDED]
        )
        if good:
            spared = _spared(overlay, before, ends)
            good = spared > -1e-9
            if good:
                grown = _gained(overlay, most_hops)
                lot = (draw(overlay.random, 1 << 30) + 0.5) / (1 << 30)
                good = grown < np.inf and (
                    spared > 1e-9 or grown <= 0.0 or (temperature > 0.0 and odds(grown / temperature) > lot)
                )
        if good:
            _keep(overlay)
            kept += 1
        else:
            _undo(overlay)
        for i in range(overlay.sizes[REMOVED] + overlay.sizes[ADDED]):
            at = i - overlay.sizes[REMOVED]
            edge = np.int64(overlay.added[at]) if at >= 0 else np.int64(overlay.removed[i])
            before[overlay.edge_u[edge]] = overlay.load[overlay.edge_u[edge]]
            before[overlay.edge_v[edge]] = overlay.load[overlay.edge_v[edge]]
        _forget(overlay)
    return kept
