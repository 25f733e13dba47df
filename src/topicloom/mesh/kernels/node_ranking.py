"""A ranking of the nodes in which most of them have, in each of their topics, a neighbor of lower rank."""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.kernels.jit import kernel


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
