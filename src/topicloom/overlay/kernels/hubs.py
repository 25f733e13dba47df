"""What hubs are chosen by [Onus2016, 6]: who shares a topic with whom, by bit sets, and topic densities.

The *neighbors* of a node here are the nodes that share an open topic with it, itself among them. They are
the union of its topics' subscribers, taken word by word; topics with few subscribers set bits one by one.

The density of node u for topic t (2D-ODA) is weight / missing: the subscribers of all open topics
of u, summed, by those subscribers of t that u has no edge to (itself among them). A star of topic t changes
the densities of the subscribers of t and of nobody else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topicloom.base.arrays import Bools, Floats, Ints, Lists, Longs, Words, run_sums, sealed
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


class Stars(NamedTuple):
    """The state: densities, and the edges so far, threaded through their nodes."""

    is_open: Bools  # topic -> has it no star yet?
    weight: Longs  # node -> subscribers of its open topics, summed
    missing: Longs  # subscription -> subscribers of its topic that the node has no edge to, and itself
    least: Longs  # node -> the smallest `missing` of its open topics
    topic: Ints  # node -> the first topic that has it
    last_end: Ints  # node -> its newest edge end, -1 for none; ends 2i and 2i + 1 belong to edge i
    end_before: Ints  # edge end -> the next older one of the same node
    u: Ints
    v: Ints
    length: Longs  # an array of one: edges so far


def new_stars(interest: Interest) -> Stars:
    """Return the state without any star."""
    sizes = interest.topic_sizes()[interest.node_topics]
    n_nodes, capacity = interest.n_nodes, interest.n_subscriptions
    weight = np.bincount(interest.pair_nodes(), weights=sizes, minlength=n_nodes)
    stars = Stars(
        is_open=np.ones(interest.n_topics, np.bool_),
        weight=weight.astype(np.int64),
        missing=sizes.astype(np.int64),
        least=np.ones(n_nodes, np.int64),
        topic=np.zeros(n_nodes, np.int32),
        last_end=np.full(n_nodes, -1, np.int32),
        end_before=np.zeros(2 * capacity, np.int32),
        u=np.zeros(capacity, np.int32),
        v=np.zeros(capacity, np.int32),
        length=np.zeros(1, np.int64),
    )
    _refresh(stars, sealed(np.arange(n_nodes, dtype=np.int32)), interest.node_ptr, interest.node_topics)
    return stars


@kernel
def _refresh(stars: Stars, nodes: Ints, node_ptr: Longs, node_topics: Ints) -> None:
    """Find the densest topic of each node: all have one weight, so it is the one with the least missing."""
    for node in nodes:
        least = np.int64(0)
        for i in range(node_ptr[node], node_ptr[node + 1]):
            if stars.is_open[node_topics[i]] and (least == 0 or stars.missing[i] < least):
                least = stars.missing[i]
                stars.topic[node] = node_topics[i]
        stars.least[node] = least if least > 0 else 1


@part
def _link(stars: Stars, a: int, b: int, node_ptr: Longs, node_topics: Ints) -> None:
    """Add an edge: for each topic that both want, each misses one subscriber less."""
    n = stars.length[0]
    stars.length[0] += 1
    stars.u[n], stars.v[n] = a, b
    stars.end_before[2 * n], stars.end_before[2 * n + 1] = stars.last_end[a], stars.last_end[b]
    stars.last_end[a], stars.last_end[b] = 2 * n, 2 * n + 1
    i, j = node_ptr[a], node_ptr[b]
    while i < node_ptr[a + 1] and j < node_ptr[b + 1]:
        if node_topics[i] < node_topics[j]:
            i += 1
        elif node_topics[j] < node_topics[i]:
            j += 1
        else:
            stars.missing[i] -= 1
            stars.missing[j] -= 1
            i += 1
            j += 1


@kernel
def add_star(stars: Stars, hub: int, lists: Lists, linked: Ints) -> None:
    """Link `hub` to the other subscribers of its densest topic and close that.

    `linked` tells for each node the last topic whose hub it was found to be linked to; -1 at first.
    """
    node_ptr, node_topics, topic_ptr, topic_nodes = lists
    topic = stars.topic[hub]
    members = topic_nodes[topic_ptr[topic] : topic_ptr[topic + 1]]
    linked[hub] = topic
    end = stars.last_end[hub]
    while end >= 0:
        linked[stars.v[end >> 1] if end & 1 == 0 else stars.u[end >> 1]] = topic
        end = stars.end_before[end]
    for node in members:
        if linked[node] != topic:
            _link(stars, hub, node, node_ptr, node_topics)
        stars.weight[node] -= len(members)
    stars.is_open[topic] = False
    _refresh(stars, members, node_ptr, node_topics)
