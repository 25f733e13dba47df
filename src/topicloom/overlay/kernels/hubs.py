"""Who shares a topic with whom, counted and listed by bit sets: what hubs are chosen by [Onus2016, 6].

The *neighbors* of a node here are the nodes that share an open topic with it, itself among them. They are
the union of its topics' subscribers, taken word by word; topics with few subscribers set bits one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topicloom.base.arrays import Bools, Floats, Ints, Longs, Words, run_sums, sealed
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import kernel, part
from topicloom.overlay.model.interest import Interest

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
DENSE = 32  # a topic wanted by one node in so many has a bit set: at most 4 bytes for each subscription


class TopicSets(NamedTuple):
    """The interest with the bit sets of its dense topics."""

    node_ptr: Longs
    node_topics: Ints
    topic_ptr: Longs
    topic_nodes: Ints
    bit_set: Ints  # topic -> row in bits, -1 if it has none
    bits: Words
    is_open: Bools  # topic -> does it still count?


def topic_sets(interest: Interest) -> TopicSets:
    """Return the bit sets of an interest, with all topics open."""
    n_words = interest.n_nodes // 64 + 1
    dense = np.flatnonzero(interest.topic_sizes() * DENSE >= max(interest.n_nodes, DENSE))
    bit_set = np.full(interest.n_topics, -1, np.int32)
    bit_set[dense] = np.arange(len(dense), dtype=np.int32)
    bits = np.zeros((len(dense), n_words), np.uint64)
    for row, topic in enumerate(dense.tolist()):
        member = np.zeros(n_words * 64, np.bool_)
        member[interest.nodes_of(topic)] = True
        bits[row] = np.packbits(member, bitorder="little").view("<u8")
    return TopicSets(
        interest.node_ptr,
        interest.node_topics,
        interest.topic_ptr,
        interest.topic_nodes,
        sealed(bit_set),
        sealed(bits),
        np.ones(interest.n_topics, np.bool_),
    )


def counting_work(interest: Interest) -> Floats:
    """Estimate for each node how many words are read to count its neighbors."""
    n_words = interest.n_nodes // 64 + 1
    sizes = interest.topic_sizes()
    steps = np.where(sizes * DENSE >= interest.n_nodes, n_words, sizes).astype(np.float64)
    return run_sums(steps[interest.node_topics], interest.node_ptr) + n_words


@part
def _unite(sets: TopicSets, node: int, union: Words) -> None:
    """Write the neighbors of a node as bits."""
    union[:] = 0
    for i in range(sets.node_ptr[node], sets.node_ptr[node + 1]):
        topic = sets.node_topics[i]
        if not sets.is_open[topic]:
            continue
        row = sets.bit_set[topic]
        if row >= 0:
            words = sets.bits[row]
            for word in range(len(union)):
                union[word] |= words[word]
        else:
            for place in range(sets.topic_ptr[topic], sets.topic_ptr[topic + 1]):
                other = sets.topic_nodes[place]
                union[other >> 6] |= np.uint64(1) << np.uint64(other & 63)


@kernel
def count_neighbors(sets: TopicSets, nodes: Ints, later_only: bool, counts: Longs) -> None:
    """Set counts[v] to the number of neighbors of v, for v in `nodes`; with `later_only` of those above v."""
    union = np.empty(sets.bits.shape[1], np.uint64)
    for node in nodes:
        _unite(sets, node, union)
        first = 0
        if later_only:
            first = node >> 6
            union[first] &= ALL << np.uint64(node & 63) << np.uint64(1)  # in two: a shift by 64 is undefined
        total = np.uint64(0)
        for word in range(first, len(union)):
            total += ones(union[word])
        counts[node] = total


@kernel
def list_later_neighbors(sets: TopicSets, first: int, last: int, starts: Longs, u: Ints, v: Ints) -> None:
    """List the pairs (node, later neighbor) of the nodes first..last-1, each from starts[node] on."""
    union = np.empty(sets.bits.shape[1], np.uint64)
    for node in range(first, last):
        end = starts[node]
        if starts[node + 1] == end:
            continue
        _unite(sets, node, union)
        for word in range(node >> 6, len(union)):
            left = union[word]
            other = word << 6
            while left != 0:
                if (left & np.uint64(1)) != 0 and other > node:
                    u[end], v[end] = node, other
                    end += 1
                left >>= np.uint64(1)
                other += 1


@kernel
def largest_quotient(above: Longs, below: Longs) -> int:
    """Return the first place where above/below is largest, -1 if no `above` is positive; exact."""
    best = -1
    for i in range(len(above)):
        if above[i] > 0 and (best < 0 or above[i] * below[best] > above[best] * below[i]):
            best = i
    return best
