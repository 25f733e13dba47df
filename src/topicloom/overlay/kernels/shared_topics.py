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

LOPSIDED = 16  # from this ratio of list lengths on, looking up the short list in the long one beats merging


@kernel
def shared_along_edges(
    u: Ints, v: Ints, node_ptr: Longs, node_topics: Ints, weights: Floats, counts: Longs, carried: Floats
) -> None:
    """Set counts[i], carried[i] to the number and total weight of the topics both ends of edge i want."""
    for i in range(len(u)):
        a, b = u[i], v[i]
        if node_ptr[a + 1] - node_ptr[a] > node_ptr[b + 1] - node_ptr[b]:
            a, b = b, a
        x, x_end = node_ptr[a], node_ptr[a + 1]
        y, y_end = node_ptr[b], node_ptr[b + 1]
        lookup = (x_end - x) * LOPSIDED < y_end - y
        count, weight = 0, 0.0
        while x < x_end and y < y_end:
            wanted = node_topics[x]
            if lookup:
                high = y_end
                while y < high:
                    middle = (y + high) // 2
                    if node_topics[middle] < wanted:
                        y = middle + 1
                    else:
                        high = middle
            else:
                while y < y_end and node_topics[y] < wanted:
                    y += 1
            if y < y_end and node_topics[y] == wanted:
                count += 1
                weight += weights[wanted]
            x += 1
        counts[i] = count
        carried[i] = weight


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
def topic_words(node_ptr: Longs, node_topics: Ints, words: Words) -> None:
    """Set the bit of every topic a node wants."""
    for node in range(len(node_ptr) - 1):
        for slot in range(node_ptr[node], node_ptr[node + 1]):
            topic = node_topics[slot]
            words[node, topic >> 6] |= np.uint64(1) << np.uint64(topic & 63)


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
