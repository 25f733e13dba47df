"""Topic components of nodes that come in groups, each group being topic-connected already.

In the combine phase of divide and conquer [Chen2010, Algorithm 12] the nodes of one group count as joined
on every topic that they share: the group's own overlay joins them, perhaps through nodes that stay away.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, first_of_runs
from topicloom.overlay.kernels.units import Forest, Units


def grouped_forest(units: Units, group: Ints) -> Forest:
    """The components of units whose `group` is the same number are one per topic; negative: alone.

    The same tables that merging would give, written down at once: a component is a run of places sorted by
    topic and group, its label is the first of them, and each points to the next.
    """
    n_topics = len(units.place_ptr) - 1
    places = np.arange(len(units.place_slot), dtype=np.int64)
    topic = np.repeat(np.arange(n_topics, dtype=np.int64), np.diff(units.place_ptr))
    number = group[units.place_unit].astype(np.int64)
    # Places without a group sort behind all groups, each with a number of its own.
    number = np.where(number < 0, group.max(initial=0) + 1 + places, number)
    order = np.lexsort((number, topic))
    starts = first_of_runs(topic[order]) | first_of_runs(number[order])
    begin = np.flatnonzero(starts)
    sizes = np.diff(np.append(begin, len(places)))
    label = np.empty(len(places), dtype=np.int32)
    label[order] = np.repeat(order[begin], sizes)
    following = np.roll(order, -1)
    following[begin + sizes - 1] = order[begin]
    place_next = np.empty(len(places), dtype=np.int32)
    place_next[order] = following
    label_size = np.ones(len(places), dtype=np.int32)
    label_size[order[begin]] = sizes
    return Forest(
        slot_label=label[units.slot_place],
        place_label=label,
        place_next=place_next,
        label_size=label_size,
        components=np.bincount(topic[order[begin]], minlength=n_topics).astype(np.int32),
    )
