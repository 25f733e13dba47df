"""Hold what came loose: the edges that a move takes out and puts in, and how all of it is undone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import bare
from topicloom.base.kernels.random import draw
from topicloom.base.kernels.search import first_at_least
from topicloom.overlay.kernels.edge_lists import link, unlink
from topicloom.overlay.kernels.hop_depths import drop_edge, put_edge
from topicloom.overlay.kernels.hop_overlay import (
    ADDED,
    N_LOG,
    N_LOOSE,
    N_NODES,
    REMOVED,
    STALE,
    HopOverlay,
    free_edge,
    set_depth,
)

MOST_LOOKS = 6  # partners of a node that are looked at where any subscriber of a topic will do
MOST_LOOSE = 64  # nodes that a move may cut loose: more cannot be held with a few edges


@bare
def pair_price(overlay: HopOverlay, a: int, b: int) -> float:
    """Return what an edge between two nodes costs; infinite: it is forbidden."""
    at = first_at_least(overlay.price_other, overlay.price_ptr[a], overlay.price_ptr[a + 1], b)
    return overlay.price[at] if at < overlay.price_ptr[a + 1] and overlay.price_other[at] == b else 1.0


@bare
def _held(overlay: HopOverlay, a: int, b: int) -> Any:
    """Return how many topics in which a is loose an edge to b would hold."""
    held = 0
    for word in range(overlay.bits.shape[1]):
        held += ones(overlay.loose[a, word] & overlay.open[b, word])
    return held


@bare
def _topics_by_size(overlay: HopOverlay, node: int, topics: Ints) -> Any:
    """List the topics in which a node is loose, the smallest first; return how many there are."""
    n = 0
    for word in range(overlay.bits.shape[1]):
        rest = overlay.loose[node, word]
        while rest != 0:
            lowest = rest & (~rest + np.uint64(1))
            rest ^= lowest
            if n == len(topics):
                return n
            topic = 64 * word + ones(lowest - np.uint64(1))
            size = overlay.topic_ptr[topic + 1] - overlay.topic_ptr[topic]
            i = n
            while i > 0 and overlay.topic_ptr[topics[i - 1] + 1] - overlay.topic_ptr[topics[i - 1]] > size:
                topics[i] = topics[i - 1]
                i -= 1
            topics[i] = topic
            n += 1
    return n


class _Pair(NamedTuple):
    """The best pair so far: topics held, ends, cost, sum of degrees, how many were as good."""

    held: int
    a: int
    b: int
    cost: float
    degrees: int
    ties: int


@bare
def _better(overlay: HopOverlay, best: _Pair, held: int, a: int, b: int) -> Any:
    """Return the better one of the best pair so far and another that holds no less.

    Ties go to the cheapest pair, then to the lowest degrees, then by lot.
    """
    cost = pair_price(overlay, a, b)
    if cost == np.inf:
        return best
    degrees = np.int64(overlay.degree[a]) + overlay.degree[b]
    if held == best.held and best.a >= 0:
        if cost > best.cost or (cost == best.cost and degrees > best.degrees):
            return best
        if cost == best.cost and degrees == best.degrees:
            if draw(overlay.random, best.ties + 1) > 0:
                a, b = best.a, best.b
            return _Pair(held, a, b, cost, degrees, best.ties + 1)
    return _Pair(held, a, b, cost, degrees, np.int64(1))


@bare
def _best_pair(overlay: HopOverlay, cap: Ints, least: int, banned_u: int, banned_v: int, topics: Ints) -> Any:
    """Return the pair below both caps that holds most, `least` or more; its a is -1 if there is none.

    First pairs of which both ends are loose, then those with others. There a partner that holds c of the n
    topics in which a node is loose wants one of any n - c + 1 of them: the smallest ones are looked at.
    """
    degree, nodes, off, n_nodes = overlay.degree, overlay.nodes, overlay.off, overlay.sizes[N_NODES]
    best = _Pair(np.int64(least), np.int64(-1), np.int64(-1), np.inf, np.int64(0), np.int64(0))
    first = 0
    for i in range(n_nodes):
        off[i] = 0
        if degree[nodes[i]] < cap[nodes[i]]:
            for word in range(overlay.bits.shape[1]):
                off[i] += ones(overlay.loose[nodes[i], word])
        if off[i] > off[first]:
            first = i
    for i in range(n_nodes):
        a = np.int64(nodes[i])
        for j in range(i):
            b = np.int64(nodes[j])
            if (off[i] == 0 and off[j] == 0) or degree[a] >= cap[a] or degree[b] >= cap[b]:
                continue
            if off[i] + off[j] < best.held:
                continue
            held = _held(overlay, a, b) + _held(overlay, b, a)
            if held < best.held or (a == banned_u and b == banned_v) or (a == banned_v and b == banned_u):
                continue
            best = _better(overlay, best, held, a, b)
    for turn in range(n_nodes):
        # Who is loose in the most topics comes first: a good pair saves looking at others.
        i = first if turn == 0 else turn - 1 if turn <= first else turn
        a = np.int64(nodes[i])
        if off[i] < best.held:
            continue
        n = _topics_by_size(overlay, a, topics)
        for t in range(n):
            if t > n - best.held:
                break
            start, stop = overlay.topic_ptr[topics[t]], overlay.topic_ptr[topics[t] + 1]
            looks, place = stop - start, start
            # Near the end of a repair each of dozens of nodes could go to any of hundreds: a few will do.
            if best.held == 1 and looks > MOST_LOOKS:
                place += draw(overlay.random, looks)
                looks = MOST_LOOKS
            for _ in range(looks):
                b = np.int64(overlay.topic_nodes[place])
                place = place + 1 if place + 1 < stop else start
                if degree[b] >= cap[b] or overlay.node_at[b] >= 0:
                    continue
                held = _held(overlay, a, b)
                if held < best.held or (a == banned_u and b == banned_v) or (a == banned_v and b == banned_u):
                    continue
                best = _better(overlay, best, held, a, b)
    return best


@bare
def _need(overlay: HopOverlay) -> Any:
    """Return a lower bound on how many (edge, topic) pairs it takes to hold everybody.

    One for each topic in which anybody is loose; and one for each loose component of a topic. There are at
    least as many of those as loose subscribers less the edges between them.
    """
    topics, links = 0, 0
    for word in range(overlay.bits.shape[1]):
        together = np.uint64(0)
        for i in range(overlay.sizes[N_NODES]):
            together |= overlay.loose[overlay.nodes[i], word]
        topics += ones(together)
    for i in range(overlay.sizes[N_NODES]):
        a = overlay.nodes[i]
        for place in range(overlay.near_ptr[a], overlay.near_ptr[a] + overlay.degree[a]):
            b = overlay.near[place]
            if overlay.node_at[b] > i:
                for word in range(overlay.bits.shape[1]):
                    links += ones(overlay.loose[a, word] & overlay.loose[b, word])
    return max(topics, overlay.sizes[N_LOOSE] - links)


@bare
def repair(overlay: HopOverlay, cap: Ints, most: int, banned_u: int, banned_v: int, topics: Ints) -> bool:
    """Hold everything that is loose with at most `most` edges; False (some may be added) if that fails."""
    while overlay.sizes[N_LOOSE] > 0:
        left = most - overlay.sizes[ADDED]
        if left <= 0 or overlay.sizes[N_LOG] > len(overlay.log_node) // 2:
            return False
        need = _need(overlay)
        least = (need + left - 1) // left
        best = _best_pair(overlay, cap, least, banned_u, banned_v, topics)
        if best.a < 0:
            return False
        overlay.added[overlay.sizes[ADDED]] = put_edge(overlay, best.a, best.b)
        overlay.sizes[ADDED] += 1
    return True


@bare
def take_out(overlay: HopOverlay) -> bool:
    """Take the listed edges out; False if that cuts more loose than can be held."""
    for i in range(overlay.sizes[REMOVED]):
        many = overlay.sizes[N_NODES] > MOST_LOOSE and overlay.sizes[N_LOOSE] > 0
        if many or overlay.sizes[N_LOG] > len(overlay.log_node) // 2:
            overlay.sizes[REMOVED] = i
            return False
        drop_edge(overlay, np.int64(overlay.removed[i]))
    return overlay.sizes[N_NODES] <= MOST_LOOSE or overlay.sizes[N_LOOSE] == 0


@bare
def _forget(overlay: HopOverlay) -> None:
    for i in range(overlay.sizes[N_NODES]):
        overlay.node_at[overlay.nodes[i]] = -1
    overlay.sizes[N_NODES] = overlay.sizes[N_LOG] = overlay.sizes[REMOVED] = overlay.sizes[ADDED] = 0


@bare
def _forget_loads(overlay: HopOverlay, node: int) -> None:
    """Let the edges of a node be counted anew."""
    for place in range(overlay.near_ptr[node], overlay.near_ptr[node] + overlay.degree[node]):
        overlay.load[overlay.near_edge[place]] = STALE


@bare
def _forget_loads_near(overlay: HopOverlay) -> None:
    """Let edges be counted anew whose load this move may have changed.

    The load of an edge depends on the depths of its ends and of the neighbors of its ends.
    """
    for i in range(overlay.sizes[REMOVED]):
        _forget_loads(overlay, np.int64(overlay.edge_u[overlay.removed[i]]))
        _forget_loads(overlay, np.int64(overlay.edge_v[overlay.removed[i]]))
    for i in range(overlay.sizes[ADDED]):
        _forget_loads(overlay, np.int64(overlay.edge_u[overlay.added[i]]))
        _forget_loads(overlay, np.int64(overlay.edge_v[overlay.added[i]]))
    last = np.int64(-1)
    for i in range(overlay.sizes[N_LOG]):
        node = np.int64(overlay.log_node[i])
        if node == last:
            continue
        last = node
        _forget_loads(overlay, node)
        for place in range(overlay.near_ptr[node], overlay.near_ptr[node] + overlay.degree[node]):
            _forget_loads(overlay, np.int64(overlay.near[place]))


@bare
def keep(overlay: HopOverlay) -> None:
    """Give up the removed edges for good."""
    _forget_loads_near(overlay)
    for i in range(overlay.sizes[REMOVED]):
        free_edge(overlay, np.int64(overlay.removed[i]))
    _forget(overlay)


@bare
def undo(overlay: HopOverlay) -> None:
    """Put everything back as it was before the move."""
    for i in range(overlay.sizes[ADDED]):
        edge = np.int64(overlay.added[i])
        unlink(overlay, edge)
        free_edge(overlay, edge)
    for i in range(overlay.sizes[REMOVED]):
        edge = np.int64(overlay.removed[i])
        link(overlay, edge, np.int64(overlay.edge_u[edge]), np.int64(overlay.edge_v[edge]))
    for i in range(overlay.sizes[N_LOG] - 1, -1, -1):
        node, topic = np.int64(overlay.log_node[i]), np.int64(overlay.log_topic[i])
        set_depth(overlay, node, topic, np.int64(overlay.log_depth[i]))
    _forget(overlay)
