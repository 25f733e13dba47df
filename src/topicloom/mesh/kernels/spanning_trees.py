"""A ranking of nodes, and a rooted spanning tree of each topic: planted breadth first, improved by exchange.

The objective is that of `topic_trees/spanning.py` in whole numbers: `hop` for each hop between a subscriber
and its root, `against` for each child below a parent of higher rank, `crowd` x excess^2 for each node. A slot
is one subscription in topic order; parent[slot] is a node, or ROOT at the root.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.kernels.jit import kernel
from topicloom.overlay.kernels.distance import search
from topicloom.overlay.kernels.topic_subgraphs import induced_subgraph

ROOT = -1
CANDIDATES = 24  # members tried as a root: all of a small topic, of a large one those of most neighbors


class TreeWork(NamedTuple):
    """The instance (subscriptions, adjacency, ranks, weights) and the trees in progress."""

    topic_ptr: Longs
    topic_nodes: Ints
    ptr: Longs
    nbr: Ints
    rank: Ints
    hop: int
    against: int
    crowd: int
    excess: Longs
    parent: Ints


@kernel
def rank_nodes(
    node_ptr: Longs, node_topics: Ints, topic_ptr: Longs, topic_nodes: Ints, ptr: Longs, nbr: Ints, rank: Ints
) -> None:
    """Rank the nodes so that few of them lack, in a topic, a neighbor of lower rank that wants it too.

    Greedily from rank 0 on: next is the node with the fewest topics that a ranked node wants but no ranked
    neighbor does; of several the one with the most topics that a ranked neighbor wants, then with the most
    topics, then with the most neighbors, then the smallest.
    """
    n = len(rank)
    lacking = np.zeros(n, np.int64)
    served = np.zeros(n, np.int64)
    covered = np.zeros(len(node_topics), np.bool_)
    started = np.zeros(len(topic_ptr) - 1, np.bool_)
    rank[:] = -1
    for place in range(n):
        chosen = -1
        for v in range(n):
            if rank[v] >= 0:
                continue
            if chosen >= 0:
                gap = lacking[v] - lacking[chosen]
                if gap == 0:
                    gap = served[chosen] - served[v]
                if gap == 0:
                    gap = (node_ptr[chosen + 1] - node_ptr[chosen]) - (node_ptr[v + 1] - node_ptr[v])
                if gap == 0:
                    gap = (ptr[chosen + 1] - ptr[chosen]) - (ptr[v + 1] - ptr[v])
                if gap >= 0:
                    continue
            chosen = v
        rank[chosen] = place
        first, stop = node_ptr[chosen], node_ptr[chosen + 1]
        for slot in range(first, stop):
            topic = node_topics[slot]
            if not started[topic]:
                started[topic] = True
                for at in range(topic_ptr[topic], topic_ptr[topic + 1]):
                    lacking[topic_nodes[at]] += 1
        for at in range(ptr[chosen], ptr[chosen + 1]):
            other = nbr[at]
            if rank[other] >= 0:
                continue
            i, j, last = first, node_ptr[other], node_ptr[other + 1]
            while i < stop and j < last:
                if node_topics[i] < node_topics[j]:
                    i += 1
                elif node_topics[i] > node_topics[j]:
                    j += 1
                else:
                    if not covered[j]:
                        covered[j] = True
                        lacking[other] -= 1
                        served[other] += 1
                    i += 1
                    j += 1


@kernel
def _candidates(own_ptr: Longs, members: Ints, rank: Ints, chosen: Longs) -> int:
    """Choose members to try as a root: all, or the one of lowest rank and those with the most neighbors."""
    n = len(members)
    if n <= CANDIDATES:
        chosen[:n] = np.arange(n)
        return n
    chosen[0] = np.argmin(rank[members])
    chosen[1:] = np.argsort(own_ptr[:-1] - own_ptr[1:], kind="mergesort")[: CANDIDATES - 1]
    return CANDIDATES


@kernel
def plant_trees(topics: Ints, work: Any) -> int:
    """Plant the trees of these topics; return the first topic that is split, or -1.

    The root is the candidate with the least sum of hops and children that have no parent of lower rank one
    hop nearer to it. A child takes the neighbor one hop nearer that costs least.
    """
    topic_ptr, topic_nodes, ptr, nbr, rank, hop, against, crowd, excess, parent = work
    n_nodes = len(ptr) - 1
    place = np.full(n_nodes, -1, np.int32)
    candidates = np.empty(CANDIDATES, np.int64)
    for topic in topics:
        base = topic_ptr[topic]
        members = topic_nodes[base : topic_ptr[topic + 1]]
        n = len(members)
        if n == 0:
            continue
        own_ptr, own_nbr = induced_subgraph(members, ptr, nbr, place)
        level, queue = np.full(n, -1, np.int32), np.empty(n, np.int32)
        best, root = -1, np.int64(-1)
        for k in range(_candidates(own_ptr, members, rank, candidates)):
            candidate = candidates[k]
            level[:] = -1
            if search(own_ptr, own_nbr, candidate, level, queue, 0) < n:
                return topic
            cost = 0
            for i in range(n):
                cost += hop * level[i]
                if i != candidate:
                    lowest = n_nodes
                    for at in range(own_ptr[i], own_ptr[i + 1]):
                        if level[own_nbr[at]] < level[i]:
                            lowest = min(lowest, rank[members[own_nbr[at]]])
                    cost += against if lowest > rank[members[i]] else 0
            if root < 0 or cost < best:
                best, root = cost, candidate
        level[:] = -1
        search(own_ptr, own_nbr, root, level, queue, 0)
        parent[base + root] = ROOT
        if n > 1:
            excess[members[root]] -= 1  # it has no parent of its own
        for k in range(1, n):
            i = queue[k]
            node = members[i]
            best, host = -1, -1
            for at in range(own_ptr[i], own_ptr[i + 1]):
                near = own_nbr[at]
                if level[near] < level[i]:
                    other = members[near]
                    cost = crowd * (2 * excess[other] + 1) + (against if rank[other] > rank[node] else 0)
                    if host < 0 or cost < best:
                        best, host = cost, other
            parent[base + i] = host
            excess[host] += 1
    return -1


@kernel
def exchange_parents(topics: Ints, work: Any) -> int:
    """Move nodes below other parents, and roots to a child, where that lowers the objective; count the moves.

    Members in ascending order; of several equally good parents the smallest.
    """
    topic_ptr, topic_nodes, ptr, nbr, rank, hop, against, crowd, excess, parent = work
    place = np.full(len(ptr) - 1, -1, np.int32)
    moves = 0
    for topic in topics:
        base = topic_ptr[topic]
        members = topic_nodes[base : topic_ptr[topic + 1]]
        n = len(members)
        if n < 3:
            continue
        up, below = np.empty(n, np.int32), np.ones(n, np.int64)  # parents by place; sizes of subtrees
        for i in range(n):
            place[members[i]] = i
        for i in range(n):
            up[i] = ROOT if parent[base + i] == ROOT else place[parent[base + i]]
        root = 0
        for i in range(n):
            if up[i] == ROOT:
                root = i
            at = up[i]
            while at != ROOT:
                below[at] += 1
                at = up[at]
        for i in range(n):
            node = members[i]
            if i == root:
                continue
            if up[i] == root:  # the root moves here
                gain = hop * (2 * below[i] - n)
                gain += against if rank[members[root]] > rank[node] else -against
                if gain > 0:
                    up[root], up[i] = i, ROOT
                    below[root] -= below[i]
                    below[i] = n
                    root = i
                    moves += 1
                    continue
            old, depth = members[up[i]], 0
            at = up[i]
            while at != ROOT:
                depth += 1
                at = up[at]
            least, host = 0, -1
            for slot in range(ptr[node], ptr[node + 1]):
                other = nbr[slot]
                if place[other] < 0 or other == old:
                    continue
                cost = crowd * 2 * (excess[other] - excess[old] + 1)
                cost += against if rank[other] > rank[node] else 0
                cost -= against if rank[old] > rank[node] else 0
                if cost - hop * (depth - 1) * below[i] >= least:
                    continue  # not even below the root itself
                at, hops = place[other], 0
                while at != ROOT and at != i:
                    hops += 1
                    at = up[at]
                cost += hop * (hops - depth) * below[i]
                if at == ROOT and cost < least:
                    least, host = cost, place[other]
            if host >= 0:
                for start, sign in ((up[i], -1), (np.int32(host), 1)):
                    at = start
                    while at != ROOT:
                        below[at] += sign * below[i]
                        at = up[at]
                excess[old] -= 1
                excess[members[host]] += 1
                up[i] = host
                moves += 1
        for i in range(n):
            place[members[i]] = -1
            parent[base + i] = ROOT if up[i] == ROOT else members[up[i]]
    return moves
