"""Join what fell apart with as few edges as possible.

Only the nodes that came off somewhere, the *apart* ones, carry masks: in three planes of bits over the broken
topics the number of the component they are in, 0 being the part that was never walked and holds everybody
else. Then

    contribution(a, b) = popcount(topics[a] & topics[b] & broken & (number[a] differs from number[b]))

and one of the two must be apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs, Words
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import part
from topicloom.base.kernels.random import draw
from topicloom.base.kernels.search import first_at_least
from topicloom.overlay.kernels.edge_removal import ADDED, APART, PLANES, RECORDS, TOPICS, WORDS, Removal
from topicloom.overlay.kernels.overlay_trees import OverlayTrees, add_edge, add_tree_edge, find_slot


@part
def _set_number(planes: Words, row: int, at: int, flag: Any, number: int) -> None:
    for plane in range(PLANES):
        if (number >> plane) & 1:
            planes[plane, row, at] |= flag
        else:
            planes[plane, row, at] &= ~flag


@part
def _number(planes: Words, row: int, at: int, flag: Any) -> int:
    """Return the number of a node's component; `row` is its place among those apart, -1 if none."""
    number = 0
    if row >= 0:
        for plane in range(PLANES):
            if planes[plane, row, at] & flag:
                number |= 1 << plane
    return number


@part
def _mask(removal: Removal) -> bool:
    """Number the components of all broken topics. False if that is more than fits."""
    counts, topic_open, word_at, words = removal.counts, removal.topic_open, removal.word_at, removal.words
    broken, apart, apart_at, planes = removal.broken, removal.apart, removal.apart_at, removal.planes
    one = np.uint64(1)
    for record in range(counts[RECORDS]):
        topic = removal.records[record, 0]
        if topic_open[topic] == 0:
            if counts[TOPICS] == len(removal.topics):
                return False
            removal.topics[counts[TOPICS]] = topic
            counts[TOPICS] += 1
            if word_at[topic >> 6] < 0:
                word_at[topic >> 6] = counts[WORDS]
                words[counts[WORDS]] = topic >> 6
                broken[counts[WORDS]] = 0
                counts[WORDS] += 1
            broken[word_at[topic >> 6]] |= one << np.uint64(topic & 63)
        topic_open[topic] += 1
    for record in range(counts[RECORDS]):
        for i in range(removal.walked_ptr[record], removal.walked_ptr[record + 1]):
            node = removal.walked[i]
            if apart_at[node] < 0:
                if counts[APART] == len(apart):
                    return False
                apart_at[node] = counts[APART]
                apart[counts[APART]] = node
                for plane in range(PLANES):
                    planes[plane, counts[APART], : counts[WORDS]] = 0
                counts[APART] += 1
    # Numbers are given in the order of the records: a later break cuts a side off an earlier one.
    for record in range(counts[RECORDS]):
        topic = removal.records[record, 0]
        number = 1
        for earlier in range(record):
            number += removal.records[earlier, 0] == topic
        at, flag = word_at[topic >> 6], one << np.uint64(topic & 63)
        for i in range(removal.walked_ptr[record], removal.walked_ptr[record + 1]):
            _set_number(planes, apart_at[removal.walked[i]], at, flag, number)
    return True


@part
def _rarest_first(topic_ptr: Longs, words: Ints, mask: Words, n_words: int, topics: Ints) -> int:
    """List the topics set in `mask`, those with the fewest subscribers first; return how many there are."""
    n = 0
    for k in range(n_words):
        rest = mask[k]
        while rest != 0:
            lowest = rest & (~rest + np.uint64(1))
            rest ^= lowest
            topic = 64 * words[k] + ones(lowest - np.uint64(1))
            size = topic_ptr[topic + 1] - topic_ptr[topic]
            i = n
            while i > 0 and topic_ptr[topics[i - 1] + 1] - topic_ptr[topics[i - 1]] > size:
                topics[i] = topics[i - 1]
                i -= 1
            topics[i] = topic
            n += 1
    return n


@part
def pair_price(price_ptr: Longs, price_other: Ints, price: Floats, a: int, b: int) -> float:
    """Return what an edge between two nodes costs."""
    at = first_at_least(price_other, price_ptr[a], price_ptr[a + 1], b)
    return price[at] if at < price_ptr[a + 1] and price_other[at] == b else 1.0


@part
def _best_pair(
    trees: OverlayTrees, removal: Removal, cap: Ints, least: int, banned_u: int, banned_v: int
) -> Any:
    """Return the pair of nodes below their caps with the largest contribution, `least` or more.

    Ties go to the cheapest pair, then to the lowest degrees, then by lot. A node that is off in n topics and
    a partner that joins c of them: the partner wants one of any n - c + 1 of these topics, so the subscribers
    of the rarest ones are all that need to be looked at.
    """
    topic_ptr, topic_nodes, bits, degree = trees.topic_ptr, trees.topic_nodes, trees.bits, trees.degree
    words, broken, planes, mask = removal.words, removal.broken, removal.planes, removal.mask
    apart, apart_at, rarest, random = removal.apart, removal.apart_at, removal.rarest, removal.random
    price_ptr, price_other, price = removal.price_ptr, removal.price_other, removal.price
    n_words, n_apart = removal.counts[WORDS], removal.counts[APART]
    best, best_a, best_b, ties = least, -1, -1, 0
    best_price, best_degree = np.inf, 0
    for i in range(n_apart):
        a = apart[i]
        if degree[a] >= cap[a]:
            continue
        size, off = 0, 0
        for k in range(n_words):
            size += ones(bits[a, words[k]] & broken[k])
            mask[k] = planes[0, i, k] | planes[1, i, k] | planes[2, i, k]
            off += ones(mask[k])
        if size < best:
            continue
        _rarest_first(topic_ptr, words, mask, n_words, rarest)
        # List -1 holds the other nodes apart, list t the subscribers of the t-th rarest topic.
        for t in range(-1, off):
            if t >= 0 and t > off - best:
                break
            start, stop = (i + 1, n_apart) if t < 0 else (topic_ptr[rarest[t]], topic_ptr[rarest[t] + 1])
            for place in range(start, stop):
                b = apart[place] if t < 0 else topic_nodes[place]
                if degree[b] >= cap[b] or (t >= 0 and apart_at[b] >= 0):
                    continue
                joined = 0
                for k in range(n_words):
                    differ = mask[k]
                    if t < 0:
                        differ = (
                            (planes[0, i, k] ^ planes[0, place, k])
                            | (planes[1, i, k] ^ planes[1, place, k])
                            | (planes[2, i, k] ^ planes[2, place, k])
                        ) & bits[a, words[k]]
                    joined += ones(bits[b, words[k]] & differ)
                if joined < best or (a == banned_u and b == banned_v) or (a == banned_v and b == banned_u):
                    continue
                cost = pair_price(price_ptr, price_other, price, a, b)
                degrees = degree[a] + degree[b]
                if cost == np.inf:
                    continue
                if joined == best and best_a >= 0:
                    if cost > best_price or (cost == best_price and degrees > best_degree):
                        continue
                    if cost == best_price and degrees == best_degree:
                        ties += 1
                        if draw(random, ties) > 0:
                            continue
                        best_a, best_b = a, b
                        continue
                best, best_a, best_b, ties = joined, a, b, 1
                best_price, best_degree = cost, degrees
    return best, best_a, best_b


@part
def _join(trees: OverlayTrees, removal: Removal, a: int, b: int) -> None:
    """Add the edge (a, b) for every broken topic that it joins, and merge their components."""
    planes, apart_at, bits = removal.planes, removal.apart_at, trees.bits
    edge = add_edge(trees, a, b)
    removal.added[removal.counts[ADDED]] = edge
    removal.counts[ADDED] += 1
    row_a, row_b = apart_at[a], apart_at[b]
    for k in range(removal.counts[TOPICS]):
        topic = removal.topics[k]
        at, flag = removal.word_at[topic >> 6], np.uint64(1) << np.uint64(topic & 63)
        if bits[a, topic >> 6] & bits[b, topic >> 6] & flag == 0:
            continue
        x, y = _number(planes, row_a, at, flag), _number(planes, row_b, at, flag)
        if x == y:
            continue
        slot_a = find_slot(trees.node_ptr, trees.slot_topic, a, topic)
        add_tree_edge(trees, edge, slot_a, find_slot(trees.node_ptr, trees.slot_topic, b, topic))
        removal.topic_open[topic] -= 1
        low, high = min(x, y), max(x, y)
        for row in range(removal.counts[APART]):
            if _number(planes, row, at, flag) == high:
                _set_number(planes, row, at, flag, low)


@part
def repair(trees: OverlayTrees, removal: Removal, cap: Ints, most: int, banned_u: int, banned_v: int) -> bool:
    """Join everything that broke with at most `most` edges; False (some may be added) if that fails."""
    counts = removal.counts
    need = counts[RECORDS]
    if need == 0:
        return True
    if most == 0 or not _mask(removal):
        return False
    while need > 0:
        left = most - counts[ADDED]
        if left <= 0:
            return False
        least = (need + left - 1) // left
        best, a, b = _best_pair(trees, removal, cap, least, banned_u, banned_v)
        if a < 0:
            return False
        _join(trees, removal, np.int64(a), np.int64(b))
        need -= best
    return True
