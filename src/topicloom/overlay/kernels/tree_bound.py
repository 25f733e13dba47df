"""Cheapest spanning trees of all topics when every pair of a topic's subscribers has a charge of its own.

The charges of a topic with m subscribers are a triangle: those of places i > j of its list stand at
i (i - 1) / 2 + j from where the topic begins.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Floats, Longs
from topicloom.base.kernels.jit import kernel


@kernel
def cheapest_trees(topic_ptr: Longs, block_ptr: Longs, charge: Floats, weights: Floats, chosen: Longs) -> int:
    """Set weights[t] to the weight of topic t's cheapest tree (Prim); list tree edges in `chosen`."""
    n_chosen = 0
    for topic in range(len(topic_ptr) - 1):
        size = topic_ptr[topic + 1] - topic_ptr[topic]
        base = block_ptr[topic]
        nearest, best = np.zeros(size, np.int64), np.full(size, np.inf)
        outside = np.arange(size)  # the first `left` entries are not in the tree yet
        left, last = size - 1, size - 1
        weights[topic] = 0.0
        while left > 0:
            cheapest = 0
            for at in range(left):
                place = outside[at]
                position = base + (
                    place * (place - 1) // 2 + last if place > last else last * (last - 1) // 2 + place
                )
                if charge[position] < best[place]:
                    best[place], nearest[place] = charge[position], position
                if best[place] < best[outside[cheapest]]:
                    cheapest = at
            last = outside[cheapest]
            left -= 1
            outside[cheapest] = outside[left]
            weights[topic] += best[last]
            chosen[n_chosen] = nearest[last]
            n_chosen += 1
    return n_chosen


@kernel
def share_out(pairs: Longs, pair_ptr: Longs, members: Longs, allowed: Floats, charge: Floats) -> None:
    """Move the charges of each given pair to the nearest ones that are not negative and sum to `allowed`.

    The nearest point of a simplex: subtract one number from all and cut at 0 (Held, Wolfe and Crowder 1974).
    """
    for pair in pairs:
        first, stop = pair_ptr[pair], pair_ptr[pair + 1]
        ordered = np.empty(stop - first)
        for i in range(stop - first):  # insertion sort, largest first: the lists are short
            value = charge[members[first + i]]
            at = i
            while at > 0 and ordered[at - 1] < value:
                ordered[at] = ordered[at - 1]
                at -= 1
            ordered[at] = value
        total, less = 0.0, 0.0
        for i in range(stop - first):
            total += ordered[i]
            if ordered[i] * (i + 1) <= total - allowed[pair]:
                break
            less = (total - allowed[pair]) / (i + 1)
        for i in range(first, stop):
            charge[members[i]] = max(charge[members[i]] - less, 0.0)
