"""How many nodes that do not want a topic must carry it, when its subscribers are in several components.

A node-weighted Steiner problem [Chockler2007a, 9], so approximated, in three linear passes per topic:
nodes that touch the most components at once are taken first (the greedy of Klein and Ravi for spiders of
one hop); components still apart are joined by cheapest paths found by one search from all of them
(Mehlhorn's form of the distance network heuristic); a spanning tree of the result then sheds the taken
nodes that turn out to be its leaves.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Bytes, Ints, Longs
from topicloom.base.kernels.jit import kernel, part
from topicloom.base.kernels.union_find import root, unite


@part
def _touch(node: int, ptr: Longs, nbr: Ints, inside: Bytes, parent: Ints, stamp: Ints) -> int:
    """Count the components that `node` touches; `stamp[r] == node` marks a component seen already."""
    count = 0
    for slot in range(ptr[node], ptr[node + 1]):
        other = nbr[slot]
        if inside[other]:
            found = root(parent, other)
            if stamp[found] != node:
                stamp[found] = node
                count += 1
    for slot in range(ptr[node], ptr[node + 1]):
        other = nbr[slot]
        if inside[other]:
            stamp[root(parent, other)] = -1
    return count


@part
def _take(node: int, ptr: Longs, nbr: Ints, inside: Bytes, parent: Ints) -> int:
    """Put `node` inside (2: taken though it does not want the topic); gives the change of components."""
    inside[node] = 2
    change = 1
    for slot in range(ptr[node], ptr[node + 1]):
        other = nbr[slot]
        if inside[other]:
            change -= unite(parent, other, node)
    return change


@part
def _take_joints(
    members: Ints,
    apart: int,
    ptr: Longs,
    nbr: Ints,
    inside: Bytes,
    parent: Ints,
    stamp: Ints,
    touches: Ints,
    queue: Ints,
) -> int:
    """Take nodes that touch two or more components, most first; gives the components left."""
    touches[:] = 0
    known = 0
    for node in members:
        for slot in range(ptr[node], ptr[node + 1]):
            other = nbr[slot]
            if not inside[other] and touches[other] == 0:
                touches[other] = _touch(other, ptr, nbr, inside, parent, stamp)
                queue[known] = other
                known += 1
    while apart > 1:
        most = 1
        for i in range(known):
            if not inside[queue[i]]:
                most = max(most, touches[queue[i]])
        if most < 2:
            break
        at = 0
        while at < known and apart > 1:
            node = queue[at]
            at += 1
            if inside[node] or touches[node] < most:
                continue
            touches[node] = _touch(node, ptr, nbr, inside, parent, stamp)
            if touches[node] < most:
                continue
            apart += _take(node, ptr, nbr, inside, parent)
            for slot in range(ptr[node], ptr[node + 1]):  # only here can a node come to touch more
                other = nbr[slot]
                if not inside[other]:
                    if touches[other] == 0:
                        queue[known] = other
                        known += 1
                    touches[other] = _touch(other, ptr, nbr, inside, parent, stamp)
    return apart


@part
def _join_by_paths(
    apart: int, ptr: Longs, nbr: Ints, inside: Bytes, parent: Ints, level: Ints, back: Ints, queue: Ints
) -> None:
    """Join the components left by cheapest paths, shortest first; `level` counts the nodes to take."""
    n_nodes = len(ptr) - 1
    tail = 0
    for node in range(n_nodes):
        level[node] = -1
        if inside[node]:
            level[node], back[node] = 0, node
            queue[tail] = node
            tail += 1
    origin = np.empty(n_nodes, np.int32)
    head = 0
    while head < tail:
        node = queue[head]
        head += 1
        origin[node] = node if level[node] == 0 else origin[back[node]]
        for slot in range(ptr[node], ptr[node + 1]):
            other = nbr[slot]
            if level[other] < 0:
                level[other], back[other] = level[node] + 1, node
                queue[tail] = other
                tail += 1
    cost, ends = np.empty(len(nbr) // 2, np.int32), np.empty((2, len(nbr) // 2), np.int32)
    n = 0  # crossing edges, each with the nodes that its path takes
    for i in range(tail):
        node = queue[i]
        for slot in range(ptr[node], ptr[node + 1]):
            other = nbr[slot]
            if node < other and root(parent, origin[node]) != root(parent, origin[other]):
                cost[n], ends[0, n], ends[1, n] = level[node] + level[other], node, other
                n += 1
    for i in np.argsort(cost[:n], kind="mergesort"):
        if apart == 1:
            break
        if root(parent, origin[ends[0, i]]) == root(parent, origin[ends[1, i]]):
            continue
        for side in range(2):
            node = ends[side, i]
            while not inside[node]:
                apart += _take(node, ptr, nbr, inside, parent)
                node = back[node]


@part
def _shed_leaves(
    members: Ints, ptr: Longs, nbr: Ints, inside: Bytes, back: Ints, level: Ints, queue: Ints
) -> int:
    """Put taken nodes that are leaves of a spanning tree outside again; return how many taken ones stay.

    The tree grows over nodes that want the topic for as long as it can, so few others are needed.
    """
    level[:] = -1  # here: children kept
    n_nodes = len(ptr) - 1
    stack = np.empty((2, n_nodes), np.int32)
    tops = np.zeros(2, np.int64)
    start = members[0]
    stack[0, 0], tops[0] = start, 1
    level[start], back[start] = 0, start
    done = 0
    while tops[0] + tops[1] > 0:
        kind = 0 if tops[0] > 0 else 1
        tops[kind] -= 1
        node = stack[kind, tops[kind]]
        queue[done] = node
        done += 1
        for slot in range(ptr[node], ptr[node + 1]):
            other = nbr[slot]
            if inside[other] and level[other] < 0:
                level[other], back[other] = 0, node
                level[node] += 1
                kind = 0 if inside[other] == 1 else 1
                stack[kind, tops[kind]] = other
                tops[kind] += 1
    kept = 0
    for i in range(done - 1, -1, -1):
        node = queue[i]
        if inside[node] == 2:
            if level[node] == 0:
                level[back[node]] -= 1
                inside[node] = 0
            else:
                kept += 1
    return kept


@kernel
def filtering_costs(
    topics: Ints, topic_ptr: Longs, topic_nodes: Ints, ptr: Longs, nbr: Ints, part: Ints, costs: Longs
) -> None:
    """Set costs[t] to the nodes not interested that join topic t's components, -1 if nothing joins them.

    `part` labels the components of the whole overlay.
    """
    n_nodes = len(ptr) - 1
    inside = np.zeros(n_nodes, np.uint8)
    parent = np.empty(n_nodes, np.int32)
    stamp = np.full(n_nodes, -1, np.int32)
    touches = np.empty(n_nodes, np.int32)
    level = np.empty(n_nodes, np.int32)
    back = np.empty(n_nodes, np.int32)
    queue = np.empty(n_nodes, np.int32)
    for topic in topics:
        costs[topic] = 0
        members = topic_nodes[topic_ptr[topic] : topic_ptr[topic + 1]]
        for node in members:
            if part[node] != part[members[0]]:
                costs[topic] = -1
        if costs[topic] < 0 or len(members) < 2:
            continue
        inside[:] = 0
        for node in range(n_nodes):
            parent[node] = node
        apart = 0
        for node in members:
            apart += _take(node, ptr, nbr, inside, parent)
        for node in members:
            inside[node] = 1
        if apart == 1:
            continue
        apart = _take_joints(members, apart, ptr, nbr, inside, parent, stamp, touches, queue)
        if apart > 1:
            _join_by_paths(apart, ptr, nbr, inside, parent, level, back, queue)
        kept = _shed_leaves(members, ptr, nbr, inside, back, level, queue)
        costs[topic] = min(kept, _shed_leaves(members, ptr, nbr, inside, back, level, queue))
