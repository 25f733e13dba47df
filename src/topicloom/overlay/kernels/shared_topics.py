"""Topics that two nodes share: along edges, with the most similar others, and at most with any other.

Arrays in, arrays out; the topic lists of a node are ascending.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from topicloom.base.arrays import Floats, Ints, Lists, Longs, Words
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import kernel
from topicloom.base.kernels.search import first_at_least

LOPSIDED = 16  # from this ratio of list lengths on, looking up the short list in the long one beats merging


@kernel
def shared_slots(u: Ints, v: Ints, node_ptr: Longs, node_topics: Ints) -> tuple[Longs, Ints, Ints]:
    """List the slots of the topics that both nodes of each pair want: pointers, slots of u, slots of v."""
    room = 0
    for i in range(len(u)):
        room += min(node_ptr[u[i] + 1] - node_ptr[u[i]], node_ptr[v[i] + 1] - node_ptr[v[i]])
    ptr, n = np.zeros(len(u) + 1, np.int64), 0
    slot_u, slot_v = np.empty(room, np.int32), np.empty(room, np.int32)
    for i in range(len(u)):
        x, x_end = node_ptr[u[i]], node_ptr[u[i] + 1]
        y, y_end = node_ptr[v[i]], node_ptr[v[i] + 1]
        x_long, y_long = x_end - x > LOPSIDED * (y_end - y), y_end - y > LOPSIDED * (x_end - x)
        while x < x_end and y < y_end:
            s, t = node_topics[x], node_topics[y]
            if s == t:
                slot_u[n], slot_v[n] = x, y
                n += 1
                x += 1
                y += 1
            elif s < t:
                x = first_at_least(node_topics, x + 1, x_end, t) if x_long else x + 1
            else:
                y = first_at_least(node_topics, y + 1, y_end, s) if y_long else y + 1
        ptr[i + 1] = n
    return ptr, slot_u[:n], slot_v[:n]


@kernel
def top_intersections(nodes: Ints, d: int, lists: Lists, shares: Floats, shared: Floats) -> None:
    """Average |A & B| / min(|A|, |B|) and |A & B| over the d most similar others of each of `nodes`.

    Others with nothing in common count as 0, so there are always d of them [Chockler2007b, 3.4].
    """
    node_ptr, node_topics, topic_ptr, topic_nodes = lists
    n_nodes = len(node_ptr) - 1
    common = np.zeros(n_nodes, np.int32)
    touched = np.empty(n_nodes, np.int32)
    for i in range(len(nodes)):
        node = nodes[i]
        size = node_ptr[node + 1] - node_ptr[node]
        n_touched = 0
        for slot in range(node_ptr[node], node_ptr[node + 1]):
            topic = node_topics[slot]
            for place in range(topic_ptr[topic], topic_ptr[topic + 1]):
                other = topic_nodes[place]
                if common[other] == 0:
                    touched[n_touched] = other
                    n_touched += 1
                common[other] += 1
        best: list[Any] = [(0.0, 0)] * d
        for j in range(n_touched):
            other = touched[j]
            both: Any = np.int64(common[other])
            common[other] = 0
            if other == node:
                continue
            key = both / min(size, node_ptr[other + 1] - node_ptr[other])
            if (key, both) > best[0]:
                heapq.heapreplace(best, (key, both))
        shares[i], shared[i] = 0.0, 0.0
        for key, both in best:
            shares[i] += key / d
            shared[i] += both / d


BLOCK = 256  # nodes compared at a time: their words stay in the cache


@kernel
def topic_words(node_ptr: Longs, node_topics: Ints, n_topics: int) -> Words:
    """Return the topics of each node as bits: node x word."""
    words = np.zeros((len(node_ptr) - 1, (n_topics + 63) // 64), np.uint64)
    for node in range(len(node_ptr) - 1):
        for slot in range(node_ptr[node], node_ptr[node + 1]):
            topic = node_topics[slot]
            words[node, topic >> 6] |= np.uint64(1) << np.uint64(topic & 63)
    return words


@kernel
def largest_overlaps(start: int, stop: int, words: Words, largest: Longs) -> None:
    """Raise largest[u] and largest[v] to what u and v share, for u from `start` to `stop` and all v > u."""
    n_nodes, n_words = words.shape
    for block in range(start, n_nodes, BLOCK):
        for u in range(start, min(stop, block + BLOCK)):
            most = largest[u]
            for v in range(max(block, u + 1), min(block + BLOCK, n_nodes)):
                shared = 0
                for word in range(n_words):
                    shared += ones(words[u, word] & words[v, word])
                most = max(most, shared)
                largest[v] = max(largest[v], shared)
            largest[u] = most
