"""The part of an overlay inside one topic: its subgraph on the topic's subscribers, and its components.

Arrays in, arrays out. `ptr`, `nbr` are the overlay's adjacency (writable, as `Overlay.adjacency` gives it);
`members` are node numbers in any order. `place` is scratch of one entry per node, -1 everywhere on entry
and again on return, so that one allocation serves many topics.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.kernels.jit import kernel


@kernel
def induced_subgraph(members: Ints, ptr: Longs, nbr: Ints, place: Ints) -> tuple[Longs, Ints]:
    """Return the adjacency among `members` alone; member i becomes number i."""
    n = len(members)
    total = 0
    for i in range(n):
        place[members[i]] = i
        total += ptr[members[i] + 1] - ptr[members[i]]
    local_ptr = np.zeros(n + 1, np.int64)
    local_nbr = np.empty(total, np.int32)
    filled = 0
    for i in range(n):
        node = members[i]
        for slot in range(ptr[node], ptr[node + 1]):
            other = place[nbr[slot]]
            if other >= 0:
                local_nbr[filled] = other
                filled += 1
        local_ptr[i + 1] = filled
    for i in range(n):
        place[members[i]] = -1
    return local_ptr, local_nbr[:filled]


@kernel
def count_topic_components(
    topics: Ints, topic_ptr: Longs, topic_nodes: Ints, ptr: Longs, nbr: Ints, out: Longs
) -> None:
    """Set out[t] to the number of components of topic t's subscribers, for every t in `topics`."""
    n_nodes = len(ptr) - 1
    place = np.full(n_nodes, -1, np.int32)  # 0: a subscriber not reached yet
    queue = np.empty(n_nodes, np.int32)
    for topic in topics:
        members = topic_nodes[topic_ptr[topic] : topic_ptr[topic + 1]]
        for node in members:
            place[node] = 0
        count = 0
        for start in members:
            if place[start] != 0:
                continue
            count += 1
            place[start] = 1
            queue[0] = start
            head, tail = 0, 1
            while head < tail:
                node = queue[head]
                head += 1
                for slot in range(ptr[node], ptr[node + 1]):
                    other = nbr[slot]
                    if place[other] == 0:
                        place[other] = 1
                        queue[tail] = other
                        tail += 1
        for node in members:
            place[node] = -1
        out[topic] = count
