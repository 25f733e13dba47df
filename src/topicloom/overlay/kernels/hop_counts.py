"""How many subscribers lie how many hops away: searches inside topics, counted by distance."""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.kernels.jit import kernel
from topicloom.overlay.kernels.distance import search
from topicloom.overlay.kernels.topic_subgraphs import induced_subgraph


@kernel
def count_hops(
    topics: Ints,
    topic_ptr: Longs,
    topic_nodes: Ints,
    ptr: Longs,
    nbr: Ints,
    source_ptr: Longs,
    sources: Longs,
    farthest: int,
    counts: Longs,
) -> None:
    """Add the nodes at each distance from the sources of each topic to counts[topic]; 0 hops are not counted.

    Sources are places within the topic. What is `farthest` hops away or more counts there.
    """
    place = np.full(len(ptr) - 1, -1, np.int32)
    for topic in topics:
        members = topic_nodes[topic_ptr[topic] : topic_ptr[topic + 1]]
        n = len(members)
        if n < 2:
            continue
        own_ptr, own_nbr = induced_subgraph(members, ptr, nbr, place)
        level = np.full(n, -1, np.int32)
        queue = np.empty(n, np.int32)
        for i in range(source_ptr[topic], source_ptr[topic + 1]):
            tail = search(own_ptr, own_nbr, sources[i], level, queue, 0)
            for k in range(1, tail):
                counts[topic, min(level[queue[k]], farthest)] += 1
            for k in range(tail):
                level[queue[k]] = -1
