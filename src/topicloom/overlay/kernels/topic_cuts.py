"""What holds topics together: the subscribers and the edges without any one of which a component splits.

One depth-first search per topic: a subscriber cuts where a branch below it reaches nothing above it (Hopcroft
and Tarjan 1973); the edge into a branch is a bridge where the branch does not reach its upper end either.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Bools, Ints, Longs
from topicloom.base.kernels.jit import kernel
from topicloom.overlay.kernels.topic_subgraphs import induced_subgraph


@kernel
def find_topic_cuts(
    topics: Ints, topic_ptr: Longs, topic_nodes: Ints, ptr: Longs, nbr: Ints, cuts: Bools, bridges: Longs
) -> None:
    """Mark in `cuts`, beside `topic_nodes`, who cuts its topic, and add the bridges of each topic.

    Both have zeros on entry for the topics asked for.
    """
    place = np.full(len(ptr) - 1, -1, np.int32)
    for topic in topics:
        first = topic_ptr[topic]
        members = topic_nodes[first : topic_ptr[topic + 1]]
        n = len(members)
        if n < 2:
            continue
        own_ptr, own_nbr = induced_subgraph(members, ptr, nbr, place)
        order = np.zeros(n, np.int32)  # when the search came here, from 1 on; 0: not yet
        lowest = np.zeros(n, np.int32)  # the earliest that the branch below reaches
        parent = np.full(n, -1, np.int32)
        at = own_ptr[:n].copy()
        count = 0
        for root in range(n):
            if order[root] > 0:
                continue
            count += 1
            order[root] = lowest[root] = count
            branches = 0
            node = root
            while node >= 0:
                if at[node] < own_ptr[node + 1]:
                    other = own_nbr[at[node]]
                    at[node] += 1
                    if order[other] == 0:
                        count += 1
                        order[other] = lowest[other] = count
                        parent[other] = node
                        node = int(other)
                    elif other != parent[node]:
                        lowest[node] = min(lowest[node], order[other])
                    continue
                above = int(parent[node])
                if above >= 0:
                    lowest[above] = min(lowest[above], lowest[node])
                    if lowest[node] > order[above]:
                        bridges[topic] += 1
                    if above == root:
                        branches += 1
                    elif lowest[node] >= order[above]:
                        cuts[first + above] = True
                node = above
            # The root has nothing above it: it cuts only between branches.
            cuts[first + root] = branches > 1
