"""The largest number of topics each node shares with any one other, over all pairs, by 64-bit words."""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Longs, Words
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import kernel

BLOCK = 256
"""Nodes compared at a time: their words stay in the cache."""


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
