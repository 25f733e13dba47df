"""Fragments: the parts of a topic that one death, or two, would cut off, and how pairs of nodes close them.

A fragment is a set F of subscribers with few neighbors N(F) outside of it, while the topic has others: when
N(F) dies, F is alone. An edge from F to anybody beyond F and N(F) closes it. Where a topic is split its
components are the fragments. Where one death splits it they are the inner nodes of the leaf blocks, of which
N(F) is the only cut node [Hopcroft and Tarjan 1973]. Where two deaths do they are those of the leaf blocks
that are left when one node is taken away; of overlapping ones the smaller stays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Bools, Ints, Longs
from topicloom.base.kernels.jit import bare, part


class Blocks(NamedTuple):
    """The blocks of one topic, by place there; scratch as long as its largest topic."""

    order: Ints  # when the search came here, from 1 on; 0: not yet
    lowest: Ints
    parent: Ints
    at: Longs
    stack: Ints
    sequence: Ints  # places in the order of the search
    block: Ints  # the block through which the search came here; -1 at roots
    top: Ints  # its highest node; -1 at roots
    cut: Bools
    cuts: Ints  # by block: cut nodes in it
    cut_node: Ints  # by block: one of them
    size: Ints  # by block: its nodes that do not cut


class Fragments(NamedTuple):
    """The fragments of all topics: `of` stands beside the nodes of topics, the others by its numbers."""

    of: Ints  # place among all topics' nodes -> number of the fragment in its topic, -1 none
    near_a: Ints  # topic's start + number -> the nodes of N(F), -1 none
    near_b: Ints
    size: Ints
    counts: Longs  # topic -> fragments
    level: Ints  # topic -> how many deaths cut off its fragments


def new_blocks(largest: int) -> Blocks:
    """Return scratch for topics of up to so many subscribers."""

    def ints() -> Ints:
        return np.zeros(largest + 1, np.int32)

    return Blocks(
        order=ints(),
        lowest=ints(),
        parent=ints(),
        at=np.zeros(largest + 1, np.int64),
        stack=ints(),
        sequence=ints(),
        block=ints(),
        top=ints(),
        cut=np.zeros(largest + 1, np.bool_),
        cuts=ints(),
        cut_node=ints(),
        size=ints(),
    )


def new_fragments(n_subscriptions: int, n_topics: int) -> Fragments:
    """Return none."""

    def ints(size: int) -> Ints:
        return np.full(size, -1, np.int32)

    return Fragments(
        of=ints(n_subscriptions),
        near_a=ints(n_subscriptions),
        near_b=ints(n_subscriptions),
        size=ints(n_subscriptions),
        counts=np.zeros(n_topics, np.int64),
        level=ints(n_topics),
    )


@part
def topic_graph(overlay: Any, topic: int, place: Ints) -> tuple[Longs, Ints]:
    """Return the adjacency inside a topic, by place there; `place` is scratch by node, -1 before and after.

    `overlay` has neighbor lists with room: `near_ptr`, `near`, `degree`.
    """
    start, stop = overlay.topic_ptr[topic], overlay.topic_ptr[topic + 1]
    total = 0
    for i in range(start, stop):
        place[overlay.topic_nodes[i]] = i - start
        total += overlay.degree[overlay.topic_nodes[i]]
    ptr = np.zeros(stop - start + 1, np.int64)
    nbr = np.empty(total, np.int32)
    filled = 0
    for i in range(start, stop):
        node = overlay.topic_nodes[i]
        for at in range(overlay.near_ptr[node], overlay.near_ptr[node] + overlay.degree[node]):
            other = place[overlay.near[at]]
            if other >= 0:
                nbr[filled] = other
                filled += 1
        ptr[i - start + 1] = filled
    for i in range(start, stop):
        place[overlay.topic_nodes[i]] = -1
    return ptr, nbr[:filled]


@bare
def find_blocks(ptr: Longs, nbr: Ints, gone: int, blocks: Blocks) -> tuple[int, int]:
    """Find components and blocks of a graph without the node `gone` (-1: with all); return their numbers.

    A node alone is a component without a block.
    """
    n = len(ptr) - 1
    order, lowest, parent, at, stack = blocks.order, blocks.lowest, blocks.parent, blocks.at, blocks.stack
    for i in range(n):
        order[i] = 0
        at[i] = ptr[i]
        blocks.block[i] = blocks.top[i] = parent[i] = -1
        blocks.cut[i] = False
    if gone >= 0:
        order[gone] = n + 1
    count, n_components, n_blocks, height = 0, 0, 0, 0
    for root in range(n):
        if order[root] > 0:
            continue
        n_components += 1
        branches = 0
        order[root] = lowest[root] = count + 1
        blocks.sequence[count] = root
        count += 1
        node = root
        while node >= 0:
            if at[node] < ptr[node + 1]:
                other = int(nbr[at[node]])
                at[node] += 1
                if other == gone:
                    continue
                if order[other] == 0:
                    order[other] = lowest[other] = count + 1
                    blocks.sequence[count] = other
                    count += 1
                    parent[other] = node
                    stack[height] = other
                    height += 1
                    node = other
                elif other != parent[node]:
                    lowest[node] = min(lowest[node], order[other])
                continue
            above = int(parent[node])
            if above >= 0:
                lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] >= order[above]:
                    branches += above == root
                    blocks.cut[above] = above != root or branches > 1
                    last = -1
                    while last != node:
                        height -= 1
                        last = int(stack[height])
                        blocks.block[last] = n_blocks
                        blocks.top[last] = above
                    n_blocks += 1
            node = above
    for i in range(n_blocks):
        blocks.cuts[i] = 0
        blocks.size[i] = 0
        blocks.cut_node[i] = -1
    for i in range(count):
        x = blocks.sequence[i]
        own = blocks.block[x]
        if own >= 0:
            if parent[x] == blocks.top[x]:  # once in each block
                _count_in(blocks, own, blocks.top[x])
            _count_in(blocks, own, x)
    return n_components, n_blocks


@bare
def _count_in(blocks: Blocks, block: int, node: int) -> None:
    if blocks.cut[node]:
        blocks.cuts[block] += 1
        blocks.cut_node[block] = node
    else:
        blocks.size[block] += 1


@bare
def _own_block(blocks: Blocks, node: int, first: int) -> int:
    """Return the block of a node that does not cut; `first` is the block of the node after a root."""
    return blocks.block[node] if blocks.block[node] >= 0 else first


@bare
def _mark_components(fragments: Fragments, start: int, n: int, blocks: Blocks) -> None:
    number = -1
    for i in range(n):
        x = blocks.sequence[i]
        if blocks.parent[x] < 0:
            number += 1
            fragments.size[start + number] = 0
            fragments.near_a[start + number] = fragments.near_b[start + number] = -1
        fragments.of[start + x] = number
        fragments.size[start + number] += 1


@part
def _mark_leaves(
    fragments: Fragments,
    start: int,
    n: int,
    blocks: Blocks,
    n_blocks: int,
    gone: int,
    nodes: Ints,
    known: int,
) -> int:
    """Enter the leaf blocks that are left without `gone`; return the number of fragments there have been.

    One that overlaps another enters only as a smaller part of it, which it replaces.
    """
    taken = np.full(n_blocks, -1, np.int32)  # block -> fragment; -2: overlaps
    within = np.full(n_blocks, -1, np.int32)  # the one fragment that all its nodes are in
    seen = np.zeros(n_blocks, np.int32)
    count, replaced = known, np.zeros(known, np.bool_)
    first = blocks.block[blocks.sequence[1]]
    left = n - (gone >= 0)
    for i in range(left):
        x = blocks.sequence[i]
        if blocks.cut[x]:
            continue
        own = _own_block(blocks, x, first)
        if blocks.cuts[own] != 1:
            continue
        other = fragments.of[start + x]
        if seen[own] == 0:
            within[own] = other
        elif within[own] != other:
            within[own] = -2
        seen[own] += 1
    for block in range(n_blocks):
        if blocks.cuts[block] != 1 or seen[block] == 0:
            continue
        old = within[block]
        if old == -2 or (old >= 0 and (replaced[old] or fragments.size[start + old] <= blocks.size[block])):
            continue
        number = count if old < 0 else old
        count += old < 0
        taken[block] = number
        fragments.size[start + number] = blocks.size[block]
        fragments.near_a[start + number] = nodes[start + blocks.cut_node[block]]
        fragments.near_b[start + number] = nodes[start + gone] if gone >= 0 else -1
        if old >= 0:
            replaced[old] = True
            for i in range(n):
                if fragments.of[start + i] == old:
                    fragments.of[start + i] = -1
    for i in range(left):
        x = blocks.sequence[i]
        if not blocks.cut[x]:
            own = _own_block(blocks, x, first)
            if taken[own] >= 0:
                fragments.of[start + x] = taken[own]
    return count


@part
def find_fragments(
    overlay: Any, fragments: Fragments, topic: int, deaths: int, blocks: Blocks, place: Ints
) -> None:
    """Find the fragments of a topic that must survive so many deaths: none are left once it does."""
    start, stop = overlay.topic_ptr[topic], overlay.topic_ptr[topic + 1]
    n = stop - start
    for i in range(start, stop):
        fragments.of[i] = -1
    fragments.counts[topic] = 0
    fragments.level[topic] = deaths + 1
    if n < 2:
        return
    ptr, nbr = topic_graph(overlay, topic, place)
    n_components, n_blocks = find_blocks(ptr, nbr, -1, blocks)
    if n_components > 1:
        _mark_components(fragments, start, n, blocks)
        fragments.counts[topic] = n_components
        fragments.level[topic] = 0
        return
    nodes = overlay.topic_nodes
    if deaths >= 1 and n_blocks > 1:
        fragments.counts[topic] = _mark_leaves(fragments, start, n, blocks, n_blocks, -1, nodes, 0)
        fragments.level[topic] = 1
        return
    if deaths >= 2 and n >= 4:
        count = 0
        for gone in range(n):
            _, n_blocks = find_blocks(ptr, nbr, gone, blocks)
            if n_blocks > 1:
                count = _mark_leaves(fragments, start, n, blocks, n_blocks, gone, nodes, count)
        fragments.counts[topic] = count
        fragments.level[topic] = 2 if count else 3


@bare
def closed_by(fragments: Fragments, start: int, i: int, j: int, a: int, b: int) -> int:
    """Return how many fragments of a topic an edge closes; a and b are at the places i and j of all."""
    one, other = fragments.of[i], fragments.of[j]
    if one == other:
        return 0
    closed = 0
    if one >= 0:
        closed += fragments.near_a[start + one] != b and fragments.near_b[start + one] != b
    if other >= 0:
        closed += fragments.near_a[start + other] != a and fragments.near_b[start + other] != a
    return closed
