"""Do two neighbors need their edge? Not where enough other paths join them that share no node between.

In a graph that stays connected when any K nodes die, an edge may go exactly if K + 1 such paths remain
between its ends (Menger 1927): a set of K nodes that splits the rest must part the two. Paths are found one
by one, each by a search that may turn earlier ones aside (Ford and Fulkerson 1956).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.kernels.jit import bare

NONE = -1
COME, LEFT = 0, 1  # a search has come to a node, or may leave it


class Paths(NamedTuple):
    """Scratch by node, -1 everywhere between two calls; `queue` and `seen` have room for both states."""

    after: Ints  # the next node on the path through this one
    before: Ints
    came: Ints  # from where the search came to the node; the node itself: from its own other state
    left: Ints  # from where the search may leave it
    queue: Ints  # 2 x node + state
    touched: Ints  # nodes that were put on paths
    n_touched: Longs


def new_paths(n_nodes: int) -> Paths:
    """Return scratch for an overlay of so many nodes."""

    def ints(size: int) -> Ints:
        return np.full(size, NONE, np.int32)

    states = ints(2 * n_nodes + 2)
    after, before, came, left = (ints(n_nodes) for _ in range(4))
    return Paths(after, before, came, left, states, ints(8 * n_nodes + 8), np.zeros(1, np.int64))


@bare
def _search(overlay: Any, paths: Paths, a: int, b: int, topic: int) -> bool:
    """Find one more path and turn earlier ones aside where it needs that; False if there is none."""
    word, flag = topic >> 6, np.uint64(1) << np.uint64(topic & 63)
    after, before, came, left, queue = paths.after, paths.before, paths.came, paths.left, paths.queue
    left[a] = a
    queue[0] = 2 * a + LEFT
    head, tail, found = 0, 1, False
    while head < tail and not found:
        x, state = np.int64(queue[head] >> 1), queue[head] & 1
        head += 1
        if state == COME:
            # On a path the search goes back along it, else straight on.
            y = np.int64(before[x]) if before[x] != NONE else x
            if left[y] == NONE:
                left[y] = x
                queue[tail] = 2 * y + LEFT
                tail += 1
            continue
        if x != a and before[x] != NONE and came[x] == NONE:
            came[x] = x
            queue[tail] = 2 * x + COME
            tail += 1
        for at in range(overlay.near_ptr[x], overlay.near_ptr[x] + overlay.degree[x]):
            y = np.int64(overlay.near[at])
            if (overlay.bits[y, word] & flag) == np.uint64(0) or y == a or (x == a and y == b):
                continue
            if came[y] != NONE or after[x] == y or (x == a and before[y] == a):
                continue
            came[y] = x
            if y == b:
                found = True
                break
            queue[tail] = 2 * y + COME
            tail += 1
    if found:
        x, state = np.int64(b), COME
        while not (x == a and state == LEFT):
            if state == COME:
                y = np.int64(came[x])
                if y == x:
                    before[x] = after[x] = NONE  # the path that went through here goes elsewhere
                else:
                    if x != b:
                        before[x] = y
                        paths.touched[paths.n_touched[0]] = x
                        paths.n_touched[0] += 1
                    if y != a:
                        after[y] = x
                x, state = y, LEFT
            else:
                x, state = np.int64(left[x]), COME
    for i in range(tail):
        came[queue[i] >> 1] = left[queue[i] >> 1] = NONE
    came[b] = NONE
    return found


@bare
def other_paths(overlay: Any, paths: Paths, a: int, b: int, topic: int, wanted: int) -> bool:
    """Do so many paths inside a topic join two nodes, without a common node and without their own edge?

    `overlay` has `bits`, `near_ptr`, `near`, `degree`.
    """
    found = 0
    while found < wanted and _search(overlay, paths, a, b, topic):
        found += 1
    for i in range(paths.n_touched[0]):
        paths.after[paths.touched[i]] = paths.before[paths.touched[i]] = NONE
    paths.n_touched[0] = 0
    return found >= wanted
