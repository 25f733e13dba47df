"""The part of an overlay inside one topic: its subgraph on the topic's subscribers.

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
