"""Local search on a packing of topics into classes: some topics are taken out and placed again.

Moves are drawn from a fixed random stream; where a slice of moves ends does not change them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.kernels.jit import kernel, part
from topicloom.base.kernels.random import draw
from topicloom.mesh.kernels.forest_packing import (
    CLASSES,
    LINKS,
    MOST_OUT,
    NONE,
    WORK,
    add_edge,
    enter_class,
    place_topic,
    take_topic,
)

SELDOM = 1 << 20  # edges between two that wait


@part
def _select(state: Any) -> Any:
    """Draw topics to take out into `out`; return how many, and the class they may not return to or NONE."""
    n_topics = len(state.class_of)
    kind = draw(state.random, np.int64(4))
    most = 2 + draw(state.random, np.int64(9))
    start = state.active[draw(state.random, np.int64(len(state.active)))]
    found, barred = 0, NONE
    if kind <= 1:  # a whole class that is not too large, to be emptied; or some of two classes
        where = other = state.class_of[start]
        if kind == 1:
            other = state.class_of[state.active[draw(state.random, np.int64(len(state.active)))]]
        elif state.size[where] <= MOST_OUT:
            most = MOST_OUT
            barred = where
        for t in range(n_topics):
            topic = (start + t) % n_topics
            if (state.class_of[topic] == where or state.class_of[topic] == other) and found < most:
                state.out[found] = topic
                found += 1
    else:  # some that one node wants, or a single topic
        members = state.topic_nodes[state.topic_ptr[start] : state.topic_ptr[start + 1]]
        node = members[draw(state.random, np.int64(len(members)))]
        first, stop = state.node_ptr[node], state.node_ptr[node + 1]
        length = stop - first
        begin = draw(state.random, length)
        if kind == 3:
            most = 1
        for i in range(length):
            topic = state.node_topics[first + (begin + i) % length]
            if found < most and state.class_of[topic] != NONE:
                state.out[found] = topic
                found += 1
    return found, barred


@part
def _put_back(state: Any, found: Any, placed: Any) -> None:
    """Undo a move of which `placed` topics were placed again."""
    for i in range(placed):
        take_topic(state, np.int64(state.out[i]))
    at = 0
    for i in range(found):
        topic, where = state.out[i], state.old_class[i]
        for edge in range(state.tree_ptr[topic], state.tree_ptr[topic + 1]):
            a, b = state.old_a[at], state.old_b[at]
            state.tree_a[edge], state.tree_b[edge] = a, b
            state.totals[LINKS] += add_edge(state.above[where], state.users[where], a, b)
            at += 1
        enter_class(state, topic, where)


@kernel
def search_classes(state: Any, until: int) -> int:
    """Make moves until `until` steps were done in all; return how many were kept.

    A move takes some topics out and places them again, the large ones first but for chance. It is kept if
    there are fewer links after it, or as many and no more classes.
    """
    kept = 0
    keys = np.empty(MOST_OUT, np.int64)
    while state.totals[WORK] < until:
        links, classes = state.totals[LINKS], state.totals[CLASSES]
        found, barred = _select(state)
        state.totals[WORK] += len(state.class_of)
        at = 0
        for i in range(found):
            topic = state.out[i]
            size = state.tree_ptr[topic + 1] - state.tree_ptr[topic]
            key = (size + 1) * (8 + draw(state.random, np.int64(9)))
            j = i
            while j > 0 and keys[j - 1] < key:
                keys[j], state.out[j] = keys[j - 1], state.out[j - 1]
                j -= 1
            keys[j], state.out[j] = key, topic
        for i in range(found):
            topic = state.out[i]
            state.old_class[i] = state.class_of[topic]
            for edge in range(state.tree_ptr[topic], state.tree_ptr[topic + 1]):
                state.old_a[at], state.old_b[at] = state.tree_a[edge], state.tree_b[edge]
                at += 1
            take_topic(state, np.int64(topic))
        # Every other move leaves one edge in four for the end, so that other trees are tried, too.
        skip = np.int64(4 if draw(state.random, np.int64(2)) == 0 else SELDOM)
        placed = 0
        while placed < found and state.totals[LINKS] <= links:
            if not place_topic(state, np.int64(state.out[placed]), np.int64(barred), skip):
                break
            placed += 1
        better = state.totals[LINKS] < links or (
            state.totals[LINKS] == links and state.totals[CLASSES] <= classes
        )
        if placed == found and better:
            kept += 1
            continue
        _put_back(state, found, placed)
    return kept
