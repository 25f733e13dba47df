"""Add edges until every topic survives so many deaths: always the pair that closes the most fragments.

Thresholds fall; what closes at least as many fragments as the threshold is added at once. A pair closes no
more than it did before unless one of its ends has come into a fragment, so a node whose best pair is known
to close fewer is passed over until then.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs
from topicloom.base.kernels.jit import bare, kernel, part
from topicloom.overlay.kernels.hop_repair import pair_price
from topicloom.overlay.kernels.topic_fragments import (
    Blocks,
    Fragments,
    closed_by,
    find_fragments,
    new_blocks,
    new_fragments,
)

UNKNOWN = 1 << 30


class SturdyOverlay(NamedTuple):
    """An overlay that only grows, and what is left to close in it."""

    node_ptr: Longs
    node_topics: Ints
    node_places: Longs  # beside `node_topics`: the place of the node among its topic's, in `topic_nodes`
    topic_ptr: Longs
    topic_nodes: Ints
    near_ptr: Longs  # node -> room for its neighbors
    near: Ints
    degree: Ints
    price_ptr: Longs  # node -> its pairs that do not cost 1
    price_other: Ints
    price: Floats  # infinite: no edge allowed
    fragments: Fragments
    blocks: Blocks
    place: Ints  # scratch by node: -1
    score: Longs  # scratch by node: 0
    touched: Ints  # scratch
    most: Longs  # node -> what its best pair closes at most
    added_u: Ints
    added_v: Ints
    n_added: Longs


def new_sturdy(
    interest_lists: tuple[Longs, Ints, Longs, Ints],
    u: Ints,
    v: Ints,
    room: Ints,
    prices: tuple[Longs, Ints, Floats],
) -> SturdyOverlay:
    """Return the overlay of these edges, in which node x has room for `room[x]` of them."""
    node_ptr, node_topics, topic_ptr, topic_nodes = interest_lists
    n_nodes, n_slots = len(node_ptr) - 1, len(node_topics)
    # Topics list their nodes in ascending order, so a stable sort by topic gives the places.
    places = np.empty(n_slots, np.int64)
    places[np.argsort(node_topics, kind="stable")] = np.arange(n_slots)
    near_ptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(room, dtype=np.int64)))
    near = np.zeros(int(near_ptr[-1]), np.int32)
    degree = np.zeros(n_nodes, np.int32)
    ends, others = np.concatenate((u, v)), np.concatenate((v, u))
    order = np.argsort(ends, kind="stable")
    degree[:] = np.bincount(ends, minlength=n_nodes)
    first = np.repeat(np.cumsum(degree, dtype=np.int64) - degree, degree)
    near[near_ptr[ends[order]] + np.arange(len(ends)) - first] = others[order]
    largest = int(np.diff(topic_ptr).max(initial=0))
    most_added = max(int(room.sum()) // 2 - len(u) + 1, 1)
    return SturdyOverlay(
        node_ptr=node_ptr,
        node_topics=node_topics,
        node_places=places,
        topic_ptr=topic_ptr,
        topic_nodes=topic_nodes,
        near_ptr=near_ptr,
        near=near,
        degree=degree,
        price_ptr=prices[0],
        price_other=prices[1],
        price=prices[2],
        fragments=new_fragments(n_slots, len(topic_ptr) - 1),
        blocks=new_blocks(largest),
        place=np.full(n_nodes, -1, np.int32),
        score=np.zeros(n_nodes, np.int64),
        touched=np.zeros(n_nodes, np.int32),
        most=np.full(n_nodes, UNKNOWN, np.int64),
        added_u=np.zeros(most_added, np.int32),
        added_v=np.zeros(most_added, np.int32),
        n_added=np.zeros(1, np.int64),
    )


@kernel
def fragment_topics(overlay: SturdyOverlay, topics: Ints, deaths: int) -> int:
    """Find the fragments of some topics; return how many there are."""
    total = 0
    for topic in topics:
        find_fragments(overlay, overlay.fragments, np.int64(topic), deaths, overlay.blocks, overlay.place)
        total += overlay.fragments.counts[topic]
    return total


@part
def _renew(overlay: SturdyOverlay, topic: int, deaths: int) -> None:
    """Find the fragments of a topic again; its nodes that came into one are looked at again."""
    start, stop = overlay.topic_ptr[topic], overlay.topic_ptr[topic + 1]
    before = overlay.fragments.of[start:stop].copy()
    level = overlay.fragments.level[topic]
    find_fragments(overlay, overlay.fragments, topic, deaths, overlay.blocks, overlay.place)
    risen = overlay.fragments.level[topic] != level or level == 2
    for i in range(start, stop):
        if overlay.fragments.of[i] >= 0 and (risen or before[i - start] < 0):
            overlay.most[overlay.topic_nodes[i]] = UNKNOWN


@bare
def _forget(overlay: SturdyOverlay, topic: int, number: int) -> None:
    """Let a fragment be closed."""
    for i in range(overlay.topic_ptr[topic], overlay.topic_ptr[topic + 1]):
        if overlay.fragments.of[i] == number:
            overlay.fragments.of[i] = -1
    overlay.fragments.counts[topic] -= 1


@bare
def place_of(overlay: SturdyOverlay, node: int, topic: int) -> Any:
    """Return the place of a node among those of a topic, -1 if it does not want it."""
    low, high = overlay.node_ptr[node], overlay.node_ptr[node + 1]
    while low < high:
        middle = (low + high) // 2
        if overlay.node_topics[middle] < topic:
            low = middle + 1
        else:
            high = middle
    found = low < overlay.node_ptr[node + 1] and overlay.node_topics[low] == topic
    return overlay.node_places[low] if found else np.int64(-1)


@part
def _add(overlay: SturdyOverlay, a: int, b: int, deaths: int) -> None:
    """Add an edge. Where two deaths count, fragments are found again only when all known ones are closed:
    that takes a search for every node of the topic."""
    n = overlay.n_added[0]
    overlay.added_u[n], overlay.added_v[n] = a, b
    overlay.n_added[0] += 1
    for x, y in ((a, b), (b, a)):
        overlay.near[overlay.near_ptr[x] + overlay.degree[x]] = y
        overlay.degree[x] += 1
    fragments = overlay.fragments
    for slot in range(overlay.node_ptr[a], overlay.node_ptr[a + 1]):
        topic = np.int64(overlay.node_topics[slot])
        if fragments.counts[topic] == 0:
            continue
        i, j = overlay.node_places[slot], place_of(overlay, b, topic)
        if j < 0:
            continue
        if fragments.level[topic] == 2:
            start = overlay.topic_ptr[topic]
            one, other = fragments.of[i], fragments.of[j]
            if one == other:
                continue
            if one >= 0 and fragments.near_a[start + one] != b and fragments.near_b[start + one] != b:
                _forget(overlay, topic, one)
            if other >= 0 and fragments.near_a[start + other] != a and fragments.near_b[start + other] != a:
                _forget(overlay, topic, other)
            if fragments.counts[topic] > 0:
                continue
        _renew(overlay, topic, deaths)


@bare
def _best_partner(overlay: SturdyOverlay, a: int, cap: Ints, weigh: bool) -> Any:
    """Return the best partner of a node below its cap, -1 if there is none, and what they close.

    Ties go to the cheapest pair, then to the lower degree, then to the smaller node.
    """
    fragments, score, n = overlay.fragments, overlay.score, 0
    for slot in range(overlay.node_ptr[a], overlay.node_ptr[a + 1]):
        topic, i = overlay.node_topics[slot], overlay.node_places[slot]
        if fragments.counts[topic] == 0:
            continue
        start = overlay.topic_ptr[topic]
        for j in range(start, overlay.topic_ptr[topic + 1]):
            if fragments.of[i] < 0 and fragments.of[j] < 0:
                continue
            b = overlay.topic_nodes[j]
            closed = closed_by(fragments, start, i, j, a, b)
            if closed > 0 and overlay.degree[b] < cap[b]:
                if score[b] == 0:
                    overlay.touched[n] = b
                    n += 1
                score[b] += closed
    best, most, worth, cost = np.int64(-1), np.int64(0), 0.0, np.inf
    for t in range(n):
        b = np.int64(overlay.touched[t])
        closed, score[b] = score[b], 0
        own = closed / 1.0
        if weigh or own >= worth:
            price = pair_price(overlay, a, b)
            if price == np.inf:
                continue
            if weigh:
                own /= price
            if own < worth:
                continue
            if best >= 0 and own == worth:
                if price > cost:
                    continue
                if price == cost:
                    lower = overlay.degree[b] < overlay.degree[best]
                    if not lower and (overlay.degree[b] > overlay.degree[best] or b > best):
                        continue
            best, most, worth, cost = b, closed, own, price
    return best, most


@kernel
def close_fragments(
    overlay: SturdyOverlay, cap: Ints, deaths: int, threshold: int, start: int, stop: int, weigh: bool
) -> None:
    """Add pairs with an end among the nodes `start` to `stop` that close at least `threshold` fragments."""
    for node in range(start, stop):
        a = np.int64(node)
        while overlay.degree[a] < cap[a] and overlay.most[a] >= threshold:
            best, closed = _best_partner(overlay, a, cap, weigh)
            overlay.most[a] = closed
            if best < 0 or closed < threshold:
                break
            _add(overlay, a, best, deaths)
            overlay.most[a] = UNKNOWN
