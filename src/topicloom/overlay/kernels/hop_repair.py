"""Hold what came loose: the edges that a move takes out and puts in, and how all of it is undone."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import part
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
    HopOverlay,
    free_edge,
    set_depth,
)

MOST_LOOSE = 64  # nodes that a move may cut loose: more cannot be held with a few edges


@part
def pair_price(overlay: HopOverlay, a: int, b: int) -> float:
    """Return what an edge between two nodes costs; infinite: it is forbidden."""
    at = first_at_least(overlay.price_other, overlay.price_ptr[a], overlay.price_ptr[a + 1], b)
    return overlay.price[at] if at < overlay.price_ptr[a + 1] and overlay.price_other[at] == b else 1.0


@part
def _held(overlay: HopOverlay, a: int, b: int) -> Any:
    """Return how many topics in which one end is loose an edge would hold."""
    held = 0
    for word in range(overlay.bits.shape[1]):
        held += ones(overlay.loose[a, word] & overlay.open[b, word])
    if overlay.node_at[b] >= 0:
        for word in range(overlay.bits.shape[1]):
            held += ones(overlay.loose[b, word] & overlay.open[a, word])
    return held


@part
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


@part
def _best_pair(overlay: HopOverlay, cap: Ints, least: int, banned_u: int, banned_v: int, topics: Ints) -> Any:
    """Return the pair below both caps that holds most, `least` or more: (held, a, b), a = -1 if none.

    Ties go to the cheapest pair, then to the lowest degrees, then by lot. A partner that holds c of the n
    topics in which a node is loose wants one of any n - c + 1 of them: the smallest ones are looked at.
    """
    degree, random = overlay.degree, overlay.random
    best, best_a, best_b, ties = least, np.int64(-1), np.int64(-1), 0
    best_price, best_degree = np.inf, 0
    first, most = 0, 0
    for i in range(overlay.sizes[N_NODES]):
        off = 0
        for word in range(overlay.bits.shape[1]):
            off += ones(overlay.loose[overlay.nodes[i], word])
        if off > most:
            first, most = i, off
    for turn in range(overlay.sizes[N_NODES]):
        # Who is loose in the most topics comes first: a good pair saves looking at others.
        i = first if turn == 0 else turn - 1 if turn <= first else turn
        a = np.int64(overlay.nodes[i])
        if degree[a] >= cap[a]:
            continue
        n = _topics_by_size(overlay, a, topics)
        for t in range(n):
            if t > n - min(best, n):
                break
            start, stop = overlay.topic_ptr[topics[t]], overlay.topic_ptr[topics[t] + 1]
            for place in range(start, stop):
                b = np.int64(overlay.topic_nodes[place])
                if degree[b] >= cap[b] or a == b:
                    continue
                held = _held(overlay, a, b)
                if held < best or (a == banned_u and b == banned_v) or (a == banned_v and b == banned_u):
                    continue
                cost = pair_price(overlay, a, b)
                degrees = degree[a] + degree[b]
                if cost == np.inf:
                    continue
                if held == best and best_a >= 0:
                    if cost > best_price or (cost == best_price and degrees > best_degree):
                        continue
                    if cost == best_price and degrees == best_degree:
                        ties += 1
                        if draw(random, ties) > 0:
                            continue
                        best_a, best_b = a, b
                        continue
                best, best_a, best_b, ties = held, a, b, 1
                best_price, best_degree = cost, degrees
    return best, best_a, best_b


@part
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


@part
def repair(overlay: HopOverlay, cap: Ints, most: int, banned_u: int, banned_v: int, topics: Ints) -> bool:
    """Hold everything that is loose with at most `most` edges; False (some may be added) if that fails."""
    while overlay.sizes[N_LOOSE] > 0:
        left = most - overlay.sizes[ADDED]
        if left <= 0 or overlay.sizes[N_LOG] > len(overlay.log_node) // 2:
            return False
        need = _need(overlay)
        least = (need + left - 1) // left
        _, a, b = _best_pair(overlay, cap, least, banned_u, banned_v, topics)
        if a < 0:
            return False
        overlay.added[overlay.sizes[ADDED]] = put_edge(overlay, a, b)
        overlay.sizes[ADDED] += 1
    return True


@part
def take_out(overlay: HopOverlay) -> bool:
    """Take the listed edges out; False if that cuts more loose than can be held."""
    for i in range(overlay.sizes[REMOVED]):
        if overlay.sizes[N_LOG] > len(overlay.log_node) // 2:
            overlay.sizes[REMOVED] = i
            return False
        drop_edge(overlay, np.int64(overlay.removed[i]))
    return overlay.sizes[N_NODES] <= MOST_LOOSE or overlay.sizes[N_LOOSE] == 0


@part
def _forget(overlay: HopOverlay) -> None:
    for i in range(overlay.sizes[N_NODES]):
        overlay.node_at[overlay.nodes[i]] = -1
    overlay.sizes[N_NODES] = overlay.sizes[N_LOG] = overlay.sizes[REMOVED] = overlay.sizes[ADDED] = 0


@part
def keep(overlay: HopOverlay) -> None:
    """Give up the removed edges for good."""
    for i in range(overlay.sizes[REMOVED]):
        free_edge(overlay, np.int64(overlay.removed[i]))
    _forget(overlay)


@part
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
