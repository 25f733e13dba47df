"""Moves on an overlay under a degree cap and a radius per topic: take edges out, hold on to what came loose.

A move is accepted by annealing on

    edge weight x edges + sum of all depths

The depths matter because a shallow topic survives the loss of an edge more easily than one at its limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import kernel, part
from topicloom.base.kernels.random import draw
from topicloom.base.kernels.search import first_at_least
from topicloom.overlay.kernels.hop_overlay import (
    ADDED,
    DEPTHS,
    LOOSE,
    N_EDGES,
    N_LOG,
    N_LOOSE,
    N_NODES,
    REMOVED,
    HopOverlay,
    change_depth,
    drop_edge,
    free_edge,
    link,
    put_edge,
    set_depth,
    slot_of,
    unlink,
)

MOST_SQUEEZED = 512  # the same for a smaller radius, which may take as many edges
BESIDE_OF = 3  # and takes the weakest of so many adjacent ones along
MOST_LOOSE = 64  # nodes that a move may cut loose: more cannot be held with a few edges


@part
def edge_load(overlay: HopOverlay, edge: int) -> Any:
    """Return how many topics hang on an edge: its lower end has no other neighbor nearer to the root."""
    u, v = np.int64(overlay.edge_u[edge]), np.int64(overlay.edge_v[edge])
    load = 0
    for word in range(overlay.bits.shape[1]):
        rest = overlay.bits[u, word] & overlay.bits[v, word]
        while rest != 0:
            lowest = rest & (~rest + np.uint64(1))
            rest ^= lowest
            topic = 64 * word + ones(lowest - np.uint64(1))
            depth_u = overlay.depth[slot_of(overlay, u, topic)]
            depth_v = overlay.depth[slot_of(overlay, v, topic)]
            if depth_u == depth_v:
                continue
            lower, depth = (u, depth_u) if depth_u > depth_v else (v, depth_v)
            parents = 0
            for place in range(overlay.near_ptr[lower], overlay.near_ptr[lower] + overlay.degree[lower]):
                other = overlay.near[place]
                if (overlay.bits[other, word] & lowest) != 0:
                    parents += overlay.depth[slot_of(overlay, other, topic)] == depth - 1
            load += parents == 1
    return load


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
    best, best_a, best_b, ties = least, -1, -1, 0
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


@part
def _weakest(overlay: HopOverlay, choices: int) -> Any:
    """Return the edge that fewest topics hang on, of some random ones; -1 if all of them must stay."""
    best, least = np.int64(-1), 0
    if overlay.sizes[N_EDGES] == 0:
        return best
    for _ in range(choices):
        edge = np.int64(overlay.live[draw(overlay.random, overlay.sizes[N_EDGES])])
        if overlay.fixed[edge] or overlay.roots[edge] > 0:
            continue
        load = edge_load(overlay, edge)
        if best < 0 or load < least:
            best, least = edge, load
    return best


@part
def _list_at(overlay: HopOverlay, node: int, choices: int) -> bool:
    """List one more edge of a node, the weakest of some random ones; False if there is none."""
    n = overlay.sizes[REMOVED]
    if n == len(overlay.removed) or overlay.degree[node] == 0:
        return False
    best, least = np.int64(-1), 0
    for _ in range(choices):
        edge = np.int64(
            overlay.near_edge[overlay.near_ptr[node] + draw(overlay.random, overlay.degree[node])]
        )
        listed = overlay.fixed[edge] or overlay.roots[edge] > 0
        for i in range(n):
            listed = listed or overlay.removed[i] == edge
        if listed:
            continue
        load = edge_load(overlay, edge)
        if best < 0 or load < least:
            best, least = edge, load
    if best < 0:
        return False
    overlay.removed[n] = best
    overlay.sizes[REMOVED] += 1
    return True


@part
def _spent(overlay: HopOverlay, number: float, cost: float) -> float:
    """Return what the edges of this move add: their number and their costs, weighed."""
    total = number * (overlay.sizes[ADDED] - overlay.sizes[REMOVED])
    if cost != 0.0:
        for i in range(overlay.sizes[ADDED]):
            edge = overlay.added[i]
            total += cost * pair_price(
                overlay, np.int64(overlay.edge_u[edge]), np.int64(overlay.edge_v[edge])
            )
        for i in range(overlay.sizes[REMOVED]):
            edge = overlay.removed[i]
            total -= cost * pair_price(
                overlay, np.int64(overlay.edge_u[edge]), np.int64(overlay.edge_v[edge])
            )
    return total


@part
def _exchange(
    overlay: HopOverlay,
    cap: Ints,
    number: float,
    cost: float,
    temperature: float,
    choices: int,
    attempts: int,
    topics: Ints,
) -> bool:
    """Take a weak edge out with one or two beside it and repair with no more; the first may not come back."""
    edge = _weakest(overlay, choices)
    if edge < 0:
        return False
    u, v = np.int64(overlay.edge_u[edge]), np.int64(overlay.edge_v[edge])
    for _ in range(attempts):
        overlay.removed[0] = edge
        overlay.sizes[REMOVED] = 1
        for _ in range(1 + draw(overlay.random, 2)):
            beside = overlay.removed[draw(overlay.random, overlay.sizes[REMOVED])]
            node = overlay.edge_u[beside] if draw(overlay.random, 2) == 0 else overlay.edge_v[beside]
            _list_at(overlay, np.int64(node), BESIDE_OF)
        before = overlay.sizes[DEPTHS]
        if take_out(overlay) and repair(overlay, cap, overlay.sizes[REMOVED], u, v, topics):
            worse = _spent(overlay, number, cost) + (overlay.sizes[DEPTHS] - before)
            lot = (draw(overlay.random, 1 << 30) + 0.5) / (1 << 30)
            if worse <= 0.0 or (temperature > 0.0 and np.exp(-worse / temperature) > lot):
                keep(overlay)
                return True
        undo(overlay)
    return False


@part
def _relieve(overlay: HopOverlay, cap: Ints, node: int, slack: int, attempt: int, topics: Ints) -> bool:
    """Take the surplus edges of a node and a few more out, now and then one beside them, and repair."""
    surplus = overlay.degree[node] - cap[node]
    if surplus <= 0:
        return False
    overlay.sizes[REMOVED] = 0
    for _ in range(min(surplus, 3) + draw(overlay.random, 3)):
        _list_at(overlay, node, 2)
    if overlay.sizes[REMOVED] == 0:
        return False
    for _ in range(attempt % 3):
        beside = overlay.removed[draw(overlay.random, overlay.sizes[REMOVED])]
        other = overlay.edge_u[beside] if overlay.edge_v[beside] == node else overlay.edge_v[beside]
        _list_at(overlay, np.int64(other), 2)
    most = overlay.sizes[REMOVED] + slack
    if take_out(overlay) and repair(overlay, cap, most, np.int64(-1), np.int64(-1), topics):
        keep(overlay)
        return True
    undo(overlay)
    return False


@part
def _squeeze(overlay: HopOverlay, cap: Ints, topic: int, radius: int, attempt: int, topics: Ints) -> bool:
    """Make the radius of a topic smaller and hold whoever is beyond it; all is as before if that fails.

    From the second attempt on edges of full nodes are taken out to make room: of some that come loose, and of
    some that could hold them.
    """
    old = overlay.radius[topic]
    start, stop = overlay.topic_ptr[topic], overlay.topic_ptr[topic + 1]
    overlay.radius[topic] = radius
    overlay.sizes[REMOVED] = 0
    for place in range(start, stop):
        node = np.int64(overlay.topic_nodes[place])
        depth = np.int64(overlay.depth[slot_of(overlay, node, topic)])
        change_depth(overlay, node, topic, depth if depth <= radius else LOOSE)
    n_loose = overlay.sizes[N_NODES]
    if n_loose > MOST_SQUEEZED:
        overlay.radius[topic] = old
        undo(overlay)
        return False
    for i in range(n_loose if attempt > 0 else 0):
        node = np.int64(overlay.nodes[i])
        if overlay.degree[node] >= cap[node] and draw(overlay.random, 2) == 0:
            _list_at(overlay, node, 2)
    for _ in range(3 * attempt):
        node = np.int64(overlay.topic_nodes[start + draw(overlay.random, stop - start)])
        held = overlay.depth[slot_of(overlay, node, topic)] < radius
        if held and overlay.degree[node] >= cap[node] and overlay.sizes[REMOVED] < 2 * attempt:
            _list_at(overlay, node, 2)
    if (take_out(overlay) or overlay.sizes[N_NODES] <= n_loose + MOST_LOOSE) and repair(
        overlay, cap, overlay.sizes[REMOVED] + n_loose, np.int64(-1), np.int64(-1), topics
    ):
        keep(overlay)
        return True
    overlay.radius[topic] = old
    undo(overlay)
    return False


EXCHANGE, RELIEVE, SQUEEZE = 0, 1, 2


@kernel
def run_hop_moves(
    overlay: HopOverlay,
    cap: Ints,
    kind: int,
    items: Ints,
    number: float,
    cost: float,
    temperature: float,
    slack: int,
    attempts: int,
    topics: Ints,
) -> int:
    """Run moves of one kind; return how many were kept.

    Of exchanges the number of `items` counts, and `slack` is how many random edges a move chooses among; else
    they are the nodes to relieve with up to `slack` edges more, or the topics whose radius falls by `slack`.
    """
    accepted = 0
    for item in items:
        if kind == EXCHANGE:
            accepted += _exchange(overlay, cap, number, cost, temperature, slack, attempts, topics)
            continue
        for attempt in range(attempts):
            if kind == RELIEVE:
                moved = _relieve(overlay, cap, np.int64(item), slack, attempt, topics)
                accepted += moved
                continue
            radius = np.int64(overlay.radius[item]) - slack
            if _squeeze(overlay, cap, np.int64(item), radius, attempt, topics):
                accepted += 1
                break
    return accepted
