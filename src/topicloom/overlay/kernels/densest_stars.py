"""2D-ODA's stars one by one, with the topic densities kept up to date [Onus2016, Algorithm 2].

The density of node u for topic t is weight / missing: the subscribers of all open topics of u, summed, by
those subscribers of t that u has no edge to (itself among them). A star of topic t changes the densities of
the subscribers of t and of nobody else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topicloom.base.arrays import Bools, Ints, Lists, Longs, sealed
from topicloom.base.kernels.jit import kernel, part
from topicloom.overlay.model.interest import Interest


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
