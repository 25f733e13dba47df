"""Moves on an overlay in which topics survive deaths: drop an edge that none needs, exchange a few.

They work on the overlay of `hop_overlay.py`, so caps, fixed edges, costs and radii hold as they do there.
An exchange takes edges out and holds what came loose; then topics whose ends lack other paths get edges
that close their fragments. Topics that did not survive before are never made worse, nor mended.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import bare, kernel, part
from topicloom.base.kernels.random import draw, odds
from topicloom.base.kernels.search import first_at_least
from topicloom.overlay.kernels.disjoint_paths import Paths, new_paths, other_paths
from topicloom.overlay.kernels.hop_depths import put_edge
from topicloom.overlay.kernels.hop_edges import list_edge_at, weakest_edge
from topicloom.overlay.kernels.hop_moves import _spent
from topicloom.overlay.kernels.hop_overlay import ADDED, DEPTHS, N_LOG, N_LOOSE, REMOVED, HopOverlay
from topicloom.overlay.kernels.hop_repair import keep, pair_price, repair, take_out, undo
from topicloom.overlay.kernels.topic_fragments import (
    Blocks,
    Fragments,
    closed_by,
    find_fragments,
    new_blocks,
    new_fragments,
)

PRUNE, EXCHANGE, RELIEVE = 0, 1, 2
LOOKS = 12  # nodes of fragments whose partners are looked at
MOST_WEAK = 64  # topics that a move may weaken


class Mending(NamedTuple):
    """Scratch of these moves."""

    paths: Paths
    fragments: Fragments
    blocks: Blocks
    place: Ints  # by node: -1
    score: Longs  # by node: 0
    touched: Ints
    weak: Ints  # topics that this move has weakened
    n_weak: Longs


def new_mending(n_nodes: int, n_topics: int, n_subscriptions: int, largest: int) -> Mending:
    """Return scratch for an interest of this size."""
    return Mending(
        paths=new_paths(n_nodes),
        fragments=new_fragments(n_subscriptions, n_topics),
        blocks=new_blocks(largest),
        place=np.full(n_nodes, -1, np.int32),
        score=np.zeros(n_nodes, np.int64),
        touched=np.zeros(n_nodes, np.int32),
        weak=np.zeros(MOST_WEAK, np.int32),
        n_weak=np.zeros(1, np.int64),
    )


@bare
def _adjacent(overlay: HopOverlay, a: int, b: int) -> bool:
    for at in range(overlay.near_ptr[a], overlay.near_ptr[a] + overlay.degree[a]):
        if overlay.near[at] == b:
            return True
    return False


@bare
def _find_weak(overlay: HopOverlay, mending: Mending, edge: int, deaths: int, first: bool) -> bool:
    """List topics in which too few other paths join the ends of an edge; with `first` only one.

    False if there are too many to list.
    """
    u, v = np.int64(overlay.edge_u[edge]), np.int64(overlay.edge_v[edge])
    for word in range(overlay.bits.shape[1]):
        rest = overlay.bits[u, word] & overlay.bits[v, word]
        while rest != 0:
            lowest = rest & (~rest + np.uint64(1))
            rest ^= lowest
            topic = 64 * word + ones(lowest - np.uint64(1))
            n = mending.n_weak[0]
            listed = False
            for i in range(n):
                listed = listed or mending.weak[i] == topic
            size = overlay.topic_ptr[topic + 1] - overlay.topic_ptr[topic]
            wanted = min(deaths + 1, size - 1)
            if listed or other_paths(overlay, mending.paths, u, v, topic, wanted):
                continue
            if n == MOST_WEAK:
                return False
            mending.weak[n] = topic
            mending.n_weak[0] += 1
            if first:
                return True
    return True


@bare
def _prune(overlay: HopOverlay, mending: Mending, edge: int, deaths: int) -> bool:
    """Take an edge out if no topic needs it, neither for deaths nor for its radius."""
    if overlay.fixed[edge] or overlay.roots[edge] > 0:
        return False
    mending.n_weak[0] = 0
    if not _find_weak(overlay, mending, edge, deaths, True) or mending.n_weak[0] > 0:
        return False
    overlay.removed[0], overlay.sizes[REMOVED] = edge, 1
    if take_out(overlay) and overlay.sizes[N_LOOSE] == 0:
        keep(overlay)
        return True
    undo(overlay)
    return False


@bare
def _place_in(overlay: HopOverlay, topic: int, node: int) -> Any:
    """Return the place of a node among all topics' nodes, -1 if it does not want the topic."""
    stop = overlay.topic_ptr[topic + 1]
    at = first_at_least(overlay.topic_nodes, overlay.topic_ptr[topic], stop, node)
    return np.int64(at) if at < stop and overlay.topic_nodes[at] == node else np.int64(-1)


@bare
def _closing_pair(overlay: HopOverlay, mending: Mending, cap: Ints, banned_u: int, banned_v: int) -> Any:
    """Return the pair that closes the most fragments of weak topics, of some nodes and all their partners."""
    fragments, best = mending.fragments, (np.int64(-1), np.int64(-1))
    most, cost = np.int64(0), np.inf
    for _ in range(LOOKS):
        topic = np.int64(mending.weak[draw(overlay.random, mending.n_weak[0])])
        start, stop = overlay.topic_ptr[topic], overlay.topic_ptr[topic + 1]
        at = start + draw(overlay.random, stop - start)
        looked = 0
        while fragments.of[at] < 0 and looked < stop - start:
            at = at + 1 if at + 1 < stop else start
            looked += 1
        a = np.int64(overlay.topic_nodes[at])
        if fragments.of[at] < 0 or overlay.degree[a] >= cap[a]:
            continue
        n = 0
        for t in range(mending.n_weak[0]):
            other = np.int64(mending.weak[t])
            i = _place_in(overlay, other, a)
            if i < 0 or fragments.counts[other] == 0:
                continue
            first = overlay.topic_ptr[other]
            for j in range(first, overlay.topic_ptr[other + 1]):
                if fragments.of[i] < 0 and fragments.of[j] < 0:
                    continue
                b = overlay.topic_nodes[j]
                closed = closed_by(fragments, first, i, j, a, b)
                if closed > 0 and overlay.degree[b] < cap[b]:
                    if mending.score[b] == 0:
                        mending.touched[n] = b
                        n += 1
                    mending.score[b] += closed
        for t in range(n):
            b = np.int64(mending.touched[t])
            closed, mending.score[b] = mending.score[b], 0
            if closed < most or (a == banned_u and b == banned_v) or (a == banned_v and b == banned_u):
                continue
            price = pair_price(overlay, a, b)
            if price < cost or (closed > most and price < np.inf):
                best, most, cost = (a, b), closed, price
    return best


@part
def _mend(
    overlay: HopOverlay, mending: Mending, cap: Ints, most: int, deaths: int, banned_u: int, banned_v: int
) -> bool:
    """Close what the removed edges have opened, with at most `most` edges added by this move in all."""
    mending.n_weak[0] = 0
    for i in range(overlay.sizes[REMOVED]):
        edge = np.int64(overlay.removed[i])
        u, v = np.int64(overlay.edge_u[edge]), np.int64(overlay.edge_v[edge])
        if not _adjacent(overlay, u, v) and not _find_weak(overlay, mending, edge, deaths, False):
            return False
    while True:
        opened = 0
        for i in range(mending.n_weak[0]):
            topic = np.int64(mending.weak[i])
            find_fragments(overlay, mending.fragments, topic, deaths, mending.blocks, mending.place)
            opened += mending.fragments.counts[topic]
        if opened == 0:
            return True
        if overlay.sizes[ADDED] >= most or overlay.sizes[N_LOG] > len(overlay.log_node) // 2:
            return False
        a, b = _closing_pair(overlay, mending, cap, banned_u, banned_v)
        if a < 0:
            return False
        overlay.added[overlay.sizes[ADDED]] = put_edge(overlay, a, b)
        overlay.sizes[ADDED] += 1


@part
def _exchange(
    overlay: HopOverlay,
    mending: Mending,
    cap: Ints,
    deaths: int,
    number: float,
    cost: float,
    depth: float,
    temperature: float,
    topics: Ints,
    node: int,
) -> bool:
    """Take a weak edge out with none, one or two beside it; hold and mend with no more.

    It is an edge of `node`, if that is not -1: then it goes even if depths grow.
    """
    overlay.sizes[REMOVED] = 0
    if node >= 0:
        if not list_edge_at(overlay, node, 2):
            return False
    else:
        weakest = weakest_edge(overlay, 4)
        if weakest < 0:
            return False
        overlay.removed[0], overlay.sizes[REMOVED] = weakest, 1
    edge = np.int64(overlay.removed[0])
    u, v = np.int64(overlay.edge_u[edge]), np.int64(overlay.edge_v[edge])
    for _ in range(draw(overlay.random, 3)):
        beside = overlay.removed[draw(overlay.random, overlay.sizes[REMOVED])]
        end = overlay.edge_u[beside] if draw(overlay.random, 2) == 0 else overlay.edge_v[beside]
        list_edge_at(overlay, np.int64(end), 3)
    most, before = overlay.sizes[REMOVED], overlay.sizes[DEPTHS]
    if (
        take_out(overlay)
        and repair(overlay, cap, most, u, v, topics)
        and _mend(overlay, mending, cap, most, deaths, u, v)
    ):
        worse = _spent(overlay, number, cost) + depth * (overlay.sizes[DEPTHS] - before)
        lot = draw(overlay.random, 1 << 20) / (1 << 20)
        if node >= 0 or worse <= 0.0 or (temperature > 0.0 and odds(worse / temperature) > lot):
            keep(overlay)
            return True
    undo(overlay)
    return False


@kernel
def run_sturdy_moves(
    overlay: HopOverlay,
    mending: Mending,
    cap: Ints,
    kind: int,
    items: Ints,
    deaths: int,
    number: float,
    cost: float,
    depth: float,
    temperature: float,
    topics: Ints,
) -> int:
    """Drop those of the edges `items` that no topic needs, exchange as often, or relieve nodes `items`.

    Returns how many moves were kept.
    """
    kept = 0
    for item in items:
        if kind == PRUNE:
            kept += _prune(overlay, mending, np.int64(item), deaths)
        else:
            node = np.int64(item) if kind == RELIEVE else np.int64(-1)
            if node >= 0 and overlay.degree[node] <= cap[node]:
                continue
            kept += _exchange(overlay, mending, cap, deaths, number, cost, depth, temperature, topics, node)
    return kept
