"""A mutable overlay that knows what it costs, exactly: its edges' prices and the paths inside its topics.

The value of an overlay is

    sum of the prices of its edges + sum over topics of weight x sum over pairs of the path between them

A path is counted in hops, or in the times of its edges. In a large topic paths are counted from some of its
subscribers (`sources`). A topic that is split, or has longer paths than allowed, has an infinite value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Bools, Floats, Ints, Longs, Words
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import bare, kernel
from topicloom.base.kernels.search import first_at_least
from topicloom.overlay.kernels.edge_lists import N_EDGES, link
from topicloom.overlay.kernels.hop_overlay import wants

# Places in `PathOverlay.sizes`, after the number of edges: free edge numbers, topics that a move touches,
# edges it takes out and puts in.
N_FREE, N_TOUCHED, REMOVED, ADDED = range(N_EDGES + 1, 5)
MOST = 4  # edges that a move takes out or puts in


class PathOverlay(NamedTuple):
    """The state; everything from `degree` on changes."""

    topic_ptr: Longs
    topic_nodes: Ints
    bits: Words  # node x word: the topics of a node
    source_ptr: Longs  # topic -> the places in it from which paths are counted
    sources: Longs
    weight: Floats  # topic -> what a path from a source counts
    chance: Floats  # topic -> how likely a move is to shorten paths in it or in one before it
    rate: Floats  # topic -> messages that its edges carry
    load_cap: Floats  # node -> messages that it may forward; infinite: any number
    near_ptr: Longs  # node -> room for its neighbors
    price_ptr: Longs  # node -> pairs that do not cost `usual[0]`
    price_other: Ints
    price: Floats  # infinite: no edge allowed
    time_ptr: Longs  # node -> pairs that do not take `usual[1]`
    time_other: Ints
    time: Floats
    usual: Floats  # price and time of other pairs; time 0: paths are counted in hops
    degree: Ints
    near: Ints
    near_edge: Ints
    edge_u: Ints
    edge_v: Ints
    edge_time: Floats
    edge_price: Floats
    edge_load: Floats
    fixed: Bools
    live: Ints
    live_at: Ints
    free: Ints
    load: Floats  # node -> messages that it forwards
    value: Floats  # topic -> its part of the value
    touched: Ints  # topics that a move touches
    old_value: Floats  # beside them: what their values were
    is_touched: Bools
    removed: Ints
    added: Ints
    hops: Ints  # scratch by node: -1
    far: Floats  # scratch by node: infinite
    queue: Ints  # scratch
    queued: Bools  # scratch by node
    random: Words
    sizes: Longs


@bare
def shared_word(overlay: PathOverlay, a: int, b: int, word: int) -> Any:
    """Return the bits of the topics that both want."""
    return overlay.bits[a, word] & overlay.bits[b, word]


@bare
def pair_price(overlay: PathOverlay, a: int, b: int) -> float:
    """Return what an edge between two nodes costs; infinite: it is forbidden."""
    at = first_at_least(overlay.price_other, overlay.price_ptr[a], overlay.price_ptr[a + 1], b)
    found = at < overlay.price_ptr[a + 1] and overlay.price_other[at] == b
    return overlay.price[at] if found else overlay.usual[0]


@bare
def pair_time(overlay: PathOverlay, a: int, b: int) -> float:
    """Return what an edge between two nodes adds to a path: its time, or one hop."""
    at = first_at_least(overlay.time_other, overlay.time_ptr[a], overlay.time_ptr[a + 1], b)
    found = at < overlay.time_ptr[a + 1] and overlay.time_other[at] == b
    if overlay.usual[1] == 0.0:
        return 1.0
    return overlay.time[at] if found else overlay.usual[1]


@bare
def put_in(overlay: PathOverlay, u: int, v: int) -> Any:
    """Add an edge and return its number."""
    overlay.sizes[N_FREE] -= 1
    edge = np.int64(overlay.free[overlay.sizes[N_FREE]])
    overlay.fixed[edge] = False
    overlay.edge_time[edge] = pair_time(overlay, u, v)
    overlay.edge_price[edge] = pair_price(overlay, u, v)
    carried = 0.0
    for word in range(overlay.bits.shape[1]):
        rest = shared_word(overlay, u, v, word)
        while rest != 0:
            lowest = rest & (~rest + np.uint64(1))
            rest ^= lowest
            carried += overlay.rate[64 * word + ones(lowest - np.uint64(1))]
    overlay.edge_load[edge] = carried
    overlay.load[u] += carried
    overlay.load[v] += carried
    link(overlay, edge, u, v)
    return edge


@bare
def _hops_from(overlay: PathOverlay, topic: int, source: int) -> Any:
    """Return how many subscribers of a topic a search reaches, the sum of their hops, and the most.

    The queue holds whom it has reached; their `hops` are left for the caller to clear.
    """
    hops, queue = overlay.hops, overlay.queue
    queue[0], hops[source] = source, 0
    head, tail, total = 0, 1, 0
    while head < tail:
        x = queue[head]
        head += 1
        total += hops[x]
        for place in range(overlay.near_ptr[x], overlay.near_ptr[x] + overlay.degree[x]):
            y = overlay.near[place]
            if hops[y] < 0 and wants(overlay, y, topic):
                hops[y] = hops[x] + 1
                queue[tail] = y
                tail += 1
    return tail, total, np.int64(hops[queue[tail - 1]])


@bare
def _times_from(overlay: PathOverlay, topic: int, source: int) -> float:
    """Return the sum of the shortest times to the subscribers of a topic; `hops` says who is reached.

    Labels are corrected until they hold, first come first served: paths inside a topic have few edges.
    """
    far, queue, size = overlay.far, overlay.queue, len(overlay.queue)
    for place in range(overlay.topic_ptr[topic], overlay.topic_ptr[topic + 1]):
        far[overlay.topic_nodes[place]] = np.inf
    far[source] = 0.0
    queue[0] = source
    head, waiting = 0, 1
    while waiting > 0:
        x = queue[head]
        head = head + 1 if head + 1 < size else 0
        waiting -= 1
        overlay.queued[x] = False
        for place in range(overlay.near_ptr[x], overlay.near_ptr[x] + overlay.degree[x]):
            y = overlay.near[place]
            if not wants(overlay, y, topic):
                continue
            there = far[x] + overlay.edge_time[overlay.near_edge[place]]
            if there < far[y]:
                far[y] = there
                if not overlay.queued[y]:
                    overlay.queued[y] = True
                    at = head + waiting
                    queue[at if at < size else at - size] = y
                    waiting += 1
    total = 0.0
    for place in range(overlay.topic_ptr[topic], overlay.topic_ptr[topic + 1]):
        total += far[overlay.topic_nodes[place]]
    return total


@bare
def topic_value(overlay: PathOverlay, topic: int, most_hops: int) -> float:
    """Return the value of a topic: infinite where it is split, or has a path of more than `most_hops`."""
    start = overlay.topic_ptr[topic]
    size = overlay.topic_ptr[topic + 1] - start
    total = 0.0
    if size < 2:
        return total
    stop = overlay.source_ptr[topic + 1]
    if overlay.weight[topic] == 0.0 and most_hops >= size:
        stop = overlay.source_ptr[topic] + 1  # from one alone it is seen whether the topic is connected
    for at in range(overlay.source_ptr[topic], stop):
        source = np.int64(overlay.topic_nodes[start + overlay.sources[at]])
        reached, sum_, deepest = _hops_from(overlay, topic, source)
        for i in range(reached):
            overlay.hops[overlay.queue[i]] = -1
        if reached < size or deepest > most_hops:
            return np.inf
        if overlay.usual[1] == 0.0 or overlay.weight[topic] == 0.0:
            total += sum_
        else:
            total += _times_from(overlay, topic, source)
    return total * overlay.weight[topic]


@kernel
def put_path_edges(overlay: PathOverlay, u: Ints, v: Ints, n_fixed: int, most_hops: int) -> None:
    """Add edges, of which the first `n_fixed` stay for good, and count every topic."""
    for i in range(len(u)):
        edge = put_in(overlay, np.int64(u[i]), np.int64(v[i]))
        overlay.fixed[edge] = i < n_fixed
    for topic in range(len(overlay.value)):
        overlay.value[topic] = topic_value(overlay, topic, most_hops)
