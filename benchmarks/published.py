"""The data structures of the papers as compiled kernels: the peer that ours is measured against.

Every pair of nodes that shares a topic is held explicitly, filed by its contribution, and every pair whose
ends come into one component is re-filed at once in O(1): [Chockler2007a, Algorithms 1-3] and [Chen2010,
Algorithms 3-6] with the repairs that the pseudo-code needs. They are meant to be fair: flat arrays, no
hashing, one byte for a contribution, triangular pair numbers. Ties are free in the papers and are taken as
they come here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicloom.base.kernels.jit import kernel
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

MAX_NODES = 65_536
"""Pair numbers are 32 bits wide: V(V-1)/2 must fit."""

Steps = NDArray[np.int32]
Array = NDArray[Any]


def published_gm(interest: Interest) -> Steps:
    """GM by buckets of pairs; rows (u, v, contribution) in the order chosen."""
    return np.asarray(_gm(*_arrays(interest)))


def published_gm_m(interest: Interest) -> Steps:
    """GM-M by the two-dimensional EdgeContrib; rows (u, v, contribution) in the order chosen."""
    return np.asarray(_gm_m(*_arrays(interest)))


def overlay_of(interest: Interest, steps: Steps) -> Overlay:
    """The edges of `steps` as an overlay."""
    return Overlay.from_edges(interest.node_ids, steps[:, 0], steps[:, 1])


def _arrays(interest: Interest) -> tuple[NDArray[Any], ...]:
    n_nodes = interest.n_nodes
    if n_nodes > MAX_NODES:
        raise ValueError(f"{n_nodes} nodes make more pairs than 32-bit pair numbers hold ({MAX_NODES} nodes)")
    nodes = np.arange(n_nodes, dtype=np.int64)
    # The pair (u, v), u < v, has number base[u] + v: row u of the upper triangle starts at base[u] + u + 1.
    base = nodes * (2 * n_nodes - nodes - 1) // 2 - nodes - 1
    widest = int(interest.subscription_sizes().max(initial=0))
    contribution = np.zeros(n_nodes * (n_nodes - 1) // 2, dtype=np.uint8 if widest < 256 else np.uint16)
    return (
        interest.node_ptr,
        interest.node_topics,
        interest.pair_nodes(),
        interest.topic_ptr,
        interest.topic_nodes,
        base,
        contribution,
    )


@kernel
def _count_shared(
    node_ptr: Array,
    node_topics: Array,
    topic_ptr: Array,
    topic_nodes: Array,
    base: Array,
    contribution: Array,
) -> None:
    """[Chockler2007a, Algorithm 2, line 5]: the topics each pair shares, row by row to stay in the cache."""
    n_nodes = len(node_ptr) - 1
    seen = topic_ptr.copy()  # place of the first subscriber of each topic after node u
    for u in range(n_nodes):
        for slot in range(node_ptr[u], node_ptr[u + 1]):
            topic = node_topics[slot]
            seen[topic] += 1
            for place in range(seen[topic], topic_ptr[topic + 1]):
                contribution[base[u] + topic_nodes[place]] += 1


@kernel
def _members(slot: int, ring: Array, owner: Array, into: Array) -> int:
    """NODES[v][t] of the slot (v, t), written to `into`; gives back how many."""
    count = 0
    here = slot
    while True:
        into[count] = owner[here]
        count += 1
        here = ring[here]
        if here == slot:
            return count


@kernel
def _unite(a: int, b: int, size_a: int, size_b: int, ring: Array, label: Array) -> None:
    """[Chockler2007a, Algorithm 3], lines 12-14: one component from two; only the smaller is relabelled."""
    small, large = (a, b) if size_a < size_b else (b, a)
    here = small
    while True:
        label[here] = label[large]
        here = ring[here]
        if here == small:
            break
    ring[a], ring[b] = ring[b], ring[a]


@kernel
def _row_of(pair: int, base: Array) -> int:
    """The smaller node of a pair number."""
    low, high = 0, len(base) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if base[middle] + middle + 1 <= pair:
            low = middle
        else:
            high = middle - 1
    return low


@kernel
def _gm(
    node_ptr: Array,
    node_topics: Array,
    owner: Array,
    topic_ptr: Array,
    topic_nodes: Array,
    base: Array,
    contribution: Array,
) -> Steps:
    """LINKCONTRIB as one array of pairs sorted by contribution, cut into buckets by `first`.

    Taking one off a pair's contribution swaps it with the first pair of its bucket and moves the bucket's
    border by one: four writes, where a doubly linked list needs six.
    """
    n_nodes = len(base)
    _count_shared(node_ptr, node_topics, topic_ptr, topic_nodes, base, contribution)
    widest = 0
    for v in range(n_nodes):
        widest = max(widest, node_ptr[v + 1] - node_ptr[v])
    first = np.zeros(widest + 2, dtype=np.int64)
    for pair in range(len(contribution)):
        if contribution[pair] > 0:
            first[int(contribution[pair]) + 1] += 1
    for c in range(1, widest + 2):
        first[c] += first[c - 1]
    n_pairs = first[widest + 1]
    bucket = np.empty(n_pairs, dtype=np.int32)
    position = np.empty(len(contribution), dtype=np.int32)
    fill = first.copy()
    for pair in range(len(contribution)):
        c = contribution[pair]
        if c > 0:
            position[pair] = fill[c]
            bucket[fill[c]] = pair
            fill[c] += 1

    label = np.arange(len(node_topics)).astype(np.int32)
    ring = label.copy()
    mine = np.empty(n_nodes, dtype=np.int32)
    theirs = np.empty(n_nodes, dtype=np.int32)
    chosen = np.empty((len(node_topics), 3), dtype=np.int32)
    n_chosen = 0
    highest = widest
    while True:
        while highest > 0 and first[highest] == n_pairs:
            highest -= 1
        if highest == 0:
            return chosen[:n_chosen].copy()
        best = bucket[n_pairs - 1]
        v = _row_of(best, base)
        w = best - base[v]
        chosen[n_chosen, 0], chosen[n_chosen, 1], chosen[n_chosen, 2] = v, w, highest
        n_chosen += 1
        a, b = node_ptr[v], node_ptr[w]
        while a < node_ptr[v + 1] and b < node_ptr[w + 1]:
            if node_topics[a] < node_topics[b]:
                a += 1
                continue
            if node_topics[a] > node_topics[b]:
                b += 1
                continue
            if label[a] != label[b]:  # the test that Algorithm 3 line 6 lacks
                n_mine = _members(a, ring, owner, mine)
                n_theirs = _members(b, ring, owner, theirs)
                for i in range(n_mine):
                    x = mine[i]
                    for j in range(n_theirs):
                        y = theirs[j]
                        pair = base[x] + y if x < y else base[y] + x
                        c = contribution[pair]
                        here, border = position[pair], first[c]
                        other = bucket[border]
                        bucket[border], bucket[here] = pair, other
                        position[pair], position[other] = border, here
                        first[c] = border + 1
                        contribution[pair] = c - 1
                _unite(a, b, n_mine, n_theirs, ring, label)
            a += 1
            b += 1


@kernel
def _link(pair: int, c: int, d: int, head: Array, after: Array, before: Array) -> None:
    """Put a pair at the front of EdgeContrib[c][d]."""
    follower = head[c, d]
    after[pair], before[pair] = follower, -1
    if follower >= 0:
        before[follower] = pair
    head[c, d] = pair


@kernel
def _unlink(pair: int, c: int, d: int, head: Array, after: Array, before: Array) -> None:
    """Take a pair out of EdgeContrib[c][d]."""
    follower, leader = after[pair], before[pair]
    if follower >= 0:
        before[follower] = leader
    if leader >= 0:
        after[leader] = follower
    else:
        head[c, d] = follower


@kernel
def _raise_degree(
    v: int, base: Array, contribution: Array, degree: Array, head: Array, after: Array, before: Array
) -> None:
    """[Chen2010, Algorithm 6, lines 12-19]: one more neighbor for v; its pairs move to a larger degree."""
    old = degree[v]
    for x in range(len(base)):
        if x == v or degree[x] > old:
            continue
        pair = base[x] + v if x < v else base[v] + x
        c = contribution[pair]
        if c > 0:
            _unlink(pair, c, old, head, after, before)
            _link(pair, c, old + 1, head, after, before)
    degree[v] = old + 1


@kernel
def _gm_m(
    node_ptr: Array,
    node_topics: Array,
    owner: Array,
    topic_ptr: Array,
    topic_nodes: Array,
    base: Array,
    contribution: Array,
) -> Steps:
    """EdgeContrib[c][d] as doubly linked lists, c the contribution and d the larger degree of a pair.

    Phases D = 1, 2, ...: the search goes down from the highest contribution and, for each, up from degree
    0 to D - 1 (what Algorithm 5 means); a phase ends when it finds nothing. It starts over from the highest
    contribution only at the start of a phase, as contributions never grow.
    """
    n_nodes = len(base)
    _count_shared(node_ptr, node_topics, topic_ptr, topic_nodes, base, contribution)
    widest = 0
    for v in range(n_nodes):
        widest = max(widest, node_ptr[v + 1] - node_ptr[v])
    head = np.full((widest + 1, n_nodes + 1), -1, dtype=np.int32)
    after = np.empty(len(contribution), dtype=np.int32)
    before = np.empty(len(contribution), dtype=np.int32)
    n_left = 0  # pairs that still contribute: E_pot
    for pair in range(len(contribution)):
        if contribution[pair] > 0:
            _link(pair, contribution[pair], 0, head, after, before)
            n_left += 1

    degree = np.zeros(n_nodes, dtype=np.int32)
    label = np.arange(len(node_topics)).astype(np.int32)
    ring = label.copy()
    mine = np.empty(n_nodes, dtype=np.int32)
    theirs = np.empty(n_nodes, dtype=np.int32)
    chosen = np.empty((len(node_topics), 3), dtype=np.int32)
    n_chosen = 0
    phase = 1
    current = widest
    while n_left > 0:
        best = -1
        while current > 0:
            for d in range(phase):
                if head[current, d] >= 0:
                    best = head[current, d]
                    break
            if best >= 0:
                break
            current -= 1
        if best < 0:
            phase += 1
            current = widest
            continue
        v = _row_of(best, base)
        w = best - base[v]
        chosen[n_chosen, 0], chosen[n_chosen, 1], chosen[n_chosen, 2] = v, w, current
        n_chosen += 1
        a, b = node_ptr[v], node_ptr[w]
        while a < node_ptr[v + 1] and b < node_ptr[w + 1]:
            if node_topics[a] < node_topics[b]:
                a += 1
                continue
            if node_topics[a] > node_topics[b]:
                b += 1
                continue
            if label[a] != label[b]:
                n_mine = _members(a, ring, owner, mine)
                n_theirs = _members(b, ring, owner, theirs)
                for i in range(n_mine):
                    x = mine[i]
                    for j in range(n_theirs):
                        y = theirs[j]
                        pair = base[x] + y if x < y else base[y] + x
                        c, d = contribution[pair], max(degree[x], degree[y])
                        _unlink(pair, c, d, head, after, before)
                        contribution[pair] = c - 1
                        if c > 1:
                            _link(pair, c - 1, d, head, after, before)
                        else:
                            n_left -= 1
                _unite(a, b, n_mine, n_theirs, ring, label)
            a += 1
            b += 1
        _raise_degree(v, base, contribution, degree, head, after, before)
        _raise_degree(w, base, contribution, degree, head, after, before)
    return chosen[:n_chosen].copy()
