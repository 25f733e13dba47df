"""Shortest times inside topics, summed: a search by a heap from each source. For measuring only."""

from __future__ import annotations

import heapq

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs
from topicloom.base.kernels.jit import kernel


@kernel
def sum_times(
    topics: Ints,
    topic_ptr: Longs,
    topic_nodes: Ints,
    ptr: Longs,
    nbr: Ints,
    times: Floats,
    source_ptr: Longs,
    sources: Longs,
    counts: Floats,
) -> None:
    """Write the sum of the shortest times from the sources of each topic, and how many nodes they reach.

    Sources are places within the topic and do not count themselves; `times` stand beside `nbr`.
    """
    inside = np.zeros(len(ptr) - 1, np.bool_)
    far = np.full(len(ptr) - 1, np.inf)
    for topic in topics:
        members = topic_nodes[topic_ptr[topic] : topic_ptr[topic + 1]]
        for node in members:
            inside[node] = True
        for i in range(source_ptr[topic], source_ptr[topic + 1]):
            source = np.int64(members[sources[i]])
            far[source] = 0.0
            heap = [(0.0, source)]
            while len(heap):
                time, x = heapq.heappop(heap)
                if time > far[x]:
                    continue
                for at in range(ptr[x], ptr[x + 1]):
                    y = np.int64(nbr[at])
                    if inside[y] and time + times[at] < far[y]:
                        far[y] = time + times[at]
                        heapq.heappush(heap, (far[y], y))
            for node in members:
                if far[node] < np.inf:
                    counts[topic, 0] += far[node]
                    counts[topic, 1] += node != source
                far[node] = np.inf
        for node in members:
            inside[node] = False
