"""Does a topic stay connected when any K nodes die? By taking all but one of them away, one set by one.

Without a set of K - 1 dead nodes the rest must be connected and must have no cut node: one that, dead too,
leaves the others in several components. Cut nodes are told by a depth-first search [Hopcroft and Tarjan
1973]. Nothing here is shared with the builders.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Bools, Ints, Longs
from topicloom.base.kernels.jit import kernel, part
from topicloom.overlay.kernels.topic_subgraphs import induced_subgraph

WHOLE, SPLIT = -1, -2


@part
def _breaking(ptr: Longs, nbr: Ints, dead: Bools, order: Ints, lowest: Ints, parent: Ints, at: Longs) -> int:
    """Return a node whose death splits what is left without the dead; SPLIT if it is split, WHOLE if none."""
    n = len(ptr) - 1
    root, alive = -1, 0
    for i in range(n):
        order[i], parent[i], at[i] = 0, -1, ptr[i]
        if not dead[i]:
            alive += 1
            if root < 0:
                root = i
    if alive < 2:
        return WHOLE
    found = WHOLE
    order[root] = lowest[root] = 1
    count, branches, node = 1, 0, root
    while node >= 0:
        if at[node] < ptr[node + 1]:
            other = int(nbr[at[node]])
            at[node] += 1
            if dead[other]:
                continue
            if order[other] == 0:
                count += 1
                order[other] = lowest[other] = count
                parent[other] = node
                node = other
            elif other != parent[node]:
                lowest[node] = min(lowest[node], order[other])
            continue
        above = int(parent[node])
        if above >= 0:
            lowest[above] = min(lowest[above], lowest[node])
            if above == root:
                branches += 1
            elif lowest[node] >= order[above]:
                found = above
        node = above
    if count < alive:
        return SPLIT
    return root if branches > 1 else found


@kernel
def find_fragile(
    topics: Ints, topic_ptr: Longs, topic_nodes: Ints, ptr: Longs, nbr: Ints, deaths: int, killers: Longs
) -> None:
    """Write for each topic up to two nodes that split it when they die, by place there, into `killers`.

    `killers` has two entries per topic: WHOLE twice where no `deaths` (0, 1 or 2) deaths split it, else the
    dead, with SPLIT for those that it did not take.
    """
    place = np.full(len(ptr) - 1, -1, np.int32)
    for topic in topics:
        members = topic_nodes[topic_ptr[topic] : topic_ptr[topic + 1]]
        n = len(members)
        killers[2 * topic] = killers[2 * topic + 1] = WHOLE
        own_ptr, own_nbr = induced_subgraph(members, ptr, nbr, place)
        dead = np.zeros(n, np.bool_)
        order, lowest, parent = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
        at = np.zeros(n, np.int64)
        first = _breaking(own_ptr, own_nbr, dead, order, lowest, parent, at)
        if first == SPLIT or (deaths > 0 and first != WHOLE):
            killers[2 * topic], killers[2 * topic + 1] = first, SPLIT
            continue
        for other in range(n if deaths > 1 else 0):
            dead[other] = True
            second = _breaking(own_ptr, own_nbr, dead, order, lowest, parent, at)
            dead[other] = False
            if second != WHOLE:
                killers[2 * topic], killers[2 * topic + 1] = other, second
                break
