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
from topicloom.base.kernels.jit import bare
from topicloom.base.kernels.random import draw
from topicloom.base.kernels.search import first_at_least
from topicloom.overlay.kernels.edge_removal import (
    ADDED,
    ALIKE,
    APART,
    PLANES,
    RECORDS,
    TOPICS,
    WORDS,
    Removal,
)
from topicloom.overlay.kernels.overlay_trees import OverlayTrees, add_edge, add_tree_edge, find_slot

LIKENESS = 1 << 32  # more than any degrees


@bare
def _set_number(planes: Words, row: int, at: int, flag: Any, number: int) -> None:
    for plane in range(PLANES):
        if (number >> plane) & 1:
            planes[plane, row, at] |= flag
        else:
            planes[plane, row, at] &= ~flag


@bare
def number_parts(removal: Removal) -> bool:
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
        removal.records[record, 4] = topic_open[topic]
    for record in range(counts[RECORDS]):
        for i in range(removal.walked_ptr[record], removal.walked_ptr[record + 1]):
            node = removal.walked[i]
            if apart_at[node] < 0:
                if counts[APART] == len(apart):
                    return False
                apart_at[node] = counts[APART]
                apart[counts[APART]] = node
                removal.bound[counts[APART]] = counts[RECORDS]
                for plane in range(PLANES):
                    planes[plane, counts[APART], : counts[WORDS]] = 0
                counts[APART] += 1
    # Numbers are given in the order of the records: a later break cuts a side off an earlier one.
    for record in range(counts[RECORDS]):
        topic = removal.records[record, 0]
        number = removal.records[record, 4]
        at, flag = word_at[topic >> 6], one << np.uint64(topic & 63)
        for i in range(removal.walked_ptr[record], removal.walked_ptr[record + 1]):
            _set_number(planes, apart_at[removal.walked[i]], at, flag, number)
    return True


@bare
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


@bare
def pair_price(price_ptr: Longs, price_other: Ints, price: Floats, a: int, b: int) -> float:
    """Return what an edge between two nodes costs."""
    at = first_at_least(price_other, price_ptr[a], price_ptr[a + 1], b)
    return price[at] if at < price_ptr[a + 1] and price_other[at] == b else 1.0


@bare
def shared_by(trees: OverlayTrees, a: int, b: int) -> int:
    """Return how many topics both want."""
    shared = 0
    for word in range(trees.bits.shape[1]):
        shared += ones(trees.bits[a, word] & trees.bits[b, word])
    return shared


@bare
def _better(
    trees: OverlayTrees, removal: Removal, cap: Ints, best: Any, a: int, b: int, joined: int, banned: Any
) -> Any:
    """Compare one pair with the best so far: (contribution, a, b, ties, price, degrees).

    Where nodes are alike, equal pairs are judged by all topics they share before their degrees: what the
    edge does not join now it can carry later. Where some want many more, these would be filled up with edges.
    """
    most, best_a, best_b, ties, best_price, best_degree = best
    if (
        trees.degree[b] >= cap[b]
        or (a == banned[0] and b == banned[1])
        or (a == banned[1] and b == banned[0])
    ):
        return best
    cost = pair_price(removal.price_ptr, removal.price_other, removal.price, a, b)
    if cost == np.inf:
        return best
    degrees = np.int64(trees.degree[a] + trees.degree[b])
    if removal.counts[ALIKE]:
        degrees -= LIKENESS * shared_by(trees, a, b)
    if joined == most and best_a >= 0:
        if cost > best_price or (cost == best_price and degrees > best_degree):
            return best
        if cost == best_price and degrees == best_degree:
            ties += 1
            if draw(removal.random, ties) > 0:
                return most, best_a, best_b, ties, best_price, best_degree
            return most, a, b, ties, best_price, best_degree
    return joined, a, b, np.int64(1), cost, degrees


@bare
def _best_outside(trees: OverlayTrees, removal: Removal, cap: Ints, best: Any, i: int, banned: Any) -> Any:
    """Compare the pairs of the i-th node apart with those that are not.

    It is off in n topics, and a partner that joins c of them wants one of any n - c + 1 of these topics. So
    the subscribers of the rarest ones are all that need to be looked at; where they are many, everybody is.
    """
    topic_ptr, topic_nodes, bits, degree = trees.topic_ptr, trees.topic_nodes, trees.bits, trees.degree
    words, mask, planes, apart_at = removal.words, removal.mask, removal.planes, removal.apart_at
    rarest, n_words, a = removal.rarest, removal.counts[WORDS], np.int64(removal.apart[i])
    for k in range(n_words):
        mask[k] = planes[0, i, k] | planes[1, i, k] | planes[2, i, k]
    lists, looks = _rarest_first(topic_ptr, words, mask, n_words, rarest), np.int64(0)
    for t in range(lists - best[0] + 1):
        looks += topic_ptr[rarest[t] + 1] - topic_ptr[rarest[t]]
    everybody = 2 * looks > len(degree)  # in order they are quicker than half as many from lists
    most, before = np.int64(0), best[0]
    for t in range(1 if everybody else lists):
        if t > lists - best[0]:
            break
        start, stop = np.int64(0), np.int64(len(degree))
        if not everybody:
            start, stop = topic_ptr[rarest[t]], topic_ptr[rarest[t] + 1]
        for place in range(start, stop):
            b = np.int64(place) if everybody else np.int64(topic_nodes[place])
            if degree[b] >= cap[b]:
                continue  # and it stays full while the move goes on, so the bound need not count it
            joined = np.int64(0)
            for k in range(n_words):
                joined += ones(bits[b, words[k]] & mask[k])
            if joined >= best[0] and apart_at[b] < 0:
                most = max(most, joined)
                best = _better(trees, removal, cap, best, a, b, joined, banned)
    removal.bound[i] = max(most, before - 1)
    return best


@bare
def _best_pair(
    trees: OverlayTrees, removal: Removal, cap: Ints, least: int, banned_u: int, banned_v: int
) -> Any:
    """Return the pair of nodes below their caps with the largest contribution, `least` or more.

    Ties go to the cheapest pair, where nodes are alike to the one that shares most topics, then to the lowest
    degrees, then by lot. While a move goes on contributions only fall, so what a node could join at most when
    it was last looked at still bounds it.
    """
    bits, degree, apart, words = trees.bits, trees.degree, removal.apart, removal.words
    planes, off, bound, order = removal.planes, removal.off, removal.bound, removal.order
    n_words, n_apart = removal.counts[WORDS], removal.counts[APART]
    banned = (banned_u, banned_v)
    best = (np.int64(least), np.int64(-1), np.int64(-1), np.int64(0), np.inf, np.int64(0))
    most_off = 0
    for row in range(n_apart):
        number = 0
        for k in range(n_words):
            number += ones(planes[0, row, k] | planes[1, row, k] | planes[2, row, k])
        off[row], bound[row] = number, min(bound[row], number)
        if degree[apart[row]] < cap[apart[row]]:
            most_off = max(most_off, number)
    first, n_open = -1, 0
    for row in range(n_apart):
        if off[row] + most_off < least or degree[apart[row]] >= cap[apart[row]]:
            continue
        if first < 0 or bound[row] > bound[first]:
            first = row
        # Those that are off in the most topics come first, so that most pairs are not even looked at.
        at = n_open
        while at > 0 and off[order[at - 1]] < off[row]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = row
        n_open += 1
    for turn in range(-1 if n_open else 0, n_open):
        # The one that may join the most comes first: many others then cannot.
        i = np.int64(first if turn < 0 else order[turn])
        if (turn >= 0 and i == first) or bound[i] < best[0]:
            continue
        best = _best_outside(trees, removal, cap, best, i, banned)
    for turn in range(n_open - 1):
        i = np.int64(order[turn])
        if off[i] + off[order[turn + 1]] < best[0]:
            break
        a = np.int64(apart[i])
        for place in range(turn + 1, n_open):
            j = np.int64(order[place])
            if off[i] + off[j] < best[0]:
                break
            b, joined = np.int64(apart[j]), np.int64(0)
            for k in range(n_words):
                differ = planes[0, i, k] ^ planes[0, j, k]
                differ |= (planes[1, i, k] ^ planes[1, j, k]) | (planes[2, i, k] ^ planes[2, j, k])
                joined += ones(bits[a, words[k]] & bits[b, words[k]] & differ)
            if joined >= best[0]:
                best = _better(trees, removal, cap, best, a, b, joined, banned)
    return best[0], best[1], best[2]


@bare
def _merge(planes: Words, n_apart: int, row_a: int, row_b: int, k: int, wanted: Any) -> Any:
    """Give the higher number of two components up for the lower one, in the `wanted` topics of word k.

    Rows are places among those apart, -1 for none. Returns the topics in which the numbers differ. Numbers
    are compared bit by bit for all topics at once: the highest bit that differs decides.
    """
    zero = np.uint64(0)
    a0, a1, a2 = zero, zero, zero
    if row_a >= 0:
        a0, a1, a2 = planes[0, row_a, k], planes[1, row_a, k], planes[2, row_a, k]
    b0, b1, b2 = zero, zero, zero
    if row_b >= 0:
        b0, b1, b2 = planes[0, row_b, k], planes[1, row_b, k], planes[2, row_b, k]
    differ = ((a0 ^ b0) | (a1 ^ b1) | (a2 ^ b2)) & wanted
    if differ == 0:
        return differ
    less = (b2 & ~a2) | (~(a2 ^ b2) & ((b1 & ~a1) | (~(a1 ^ b1) & b0 & ~a0)))  # a has the lower one
    high_0, high_1, high_2 = (
        (b0 & less) | (a0 & ~less),
        (b1 & less) | (a1 & ~less),
        (b2 & less) | (a2 & ~less),
    )
    low_0, low_1, low_2 = (a0 & less) | (b0 & ~less), (a1 & less) | (b1 & ~less), (a2 & less) | (b2 & ~less)
    for row in range(n_apart):
        same = differ & ~(planes[0, row, k] ^ high_0)
        same &= ~(planes[1, row, k] ^ high_1) & ~(planes[2, row, k] ^ high_2)
        if same != 0:
            planes[0, row, k] = (planes[0, row, k] & ~same) | (low_0 & same)
            planes[1, row, k] = (planes[1, row, k] & ~same) | (low_1 & same)
            planes[2, row, k] = (planes[2, row, k] & ~same) | (low_2 & same)
    return differ


@bare
def join(trees: OverlayTrees, removal: Removal, a: int, b: int) -> int:
    """Add the edge (a, b) for every broken topic that it joins, and merge their components; how many."""
    bits, node_ptr, slot_topic, joined = trees.bits, trees.node_ptr, trees.slot_topic, 0
    edge = add_edge(trees, a, b)
    removal.added[removal.counts[ADDED]] = edge
    removal.counts[ADDED] += 1
    row_a, row_b = np.int64(removal.apart_at[a]), np.int64(removal.apart_at[b])
    for k in range(removal.counts[WORDS]):
        word = np.int64(removal.words[k])
        wanted = bits[a, word] & bits[b, word] & removal.broken[k]
        rest = _merge(removal.planes, removal.counts[APART], row_a, row_b, k, wanted)
        while rest != 0:
            lowest = rest & (~rest + np.uint64(1))
            rest ^= lowest
            topic = 64 * word + ones(lowest - np.uint64(1))
            slot_a = find_slot(node_ptr, slot_topic, a, topic)
            add_tree_edge(trees, edge, slot_a, find_slot(node_ptr, slot_topic, b, topic))
            joined += 1
    return joined


@bare
def repair(trees: OverlayTrees, removal: Removal, cap: Ints, most: int, banned_u: int, banned_v: int) -> bool:
    """Join everything that broke with at most `most` edges; False (some may be added) if that fails."""
    counts = removal.counts
    need = counts[RECORDS]
    if need == 0:
        return True
    if most == 0 or not number_parts(removal):
        return False
    while need > 0:
        left = most - counts[ADDED]
        if left <= 0:
            return False
        least = (need + left - 1) // left
        _, a, b = _best_pair(trees, removal, cap, least, banned_u, banned_v)
        if a < 0:
            return False
        need -= join(trees, removal, np.int64(a), np.int64(b))
    return True
