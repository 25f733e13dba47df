"""Topic sets of units as 64-bit words, for interests in which units want a good part of all topics.

A pair joins at most the topics that both want, less those in which both are in the largest component:

    ones(own[u] & own[v] & ~(inside[u] & inside[v]))

Functions on a pair are inlined: to hand over so many arrays takes longer than what they do. The bound
is the pair's contribution unless both are in the same smaller component. `inside` may lag behind: two
units that were in one component stay so, hence the bound holds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Words, sealed
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import inlined, kernel, part
from topicloom.overlay.kernels.greedy_state import GreedyState, largest_component
from topicloom.overlay.kernels.shared_topics import topic_words

WORD = 64
ONE = np.uint64(1)


class WordSets(NamedTuple):
    """The topics of units, and those in which a unit was in the largest component at the last look.

    Both in two orders: a pair reads by unit, the scan of a row reads by word. Empty where sets are thin.
    """

    own: Words  # unit x word
    inside: Words
    own_by_word: Words  # word x unit
    inside_by_word: Words


WORTH = 1.0
"""Words pay from so many list entries on that the scan of a row would read instead of one word."""


def new_word_sets(state: GreedyState) -> WordSets:
    """Return the sets as words if they pay; no unit is known to be inside."""
    n_units, n_words = len(state.lowest), (len(state.components) + WORD - 1) // WORD
    entries = float((np.diff(state.place_ptr).astype(np.float64) ** 2).sum())  # of all rows
    if entries < WORTH * n_words * n_units * n_units:
        n_units = n_words = 0
    own = np.zeros((n_units, n_words), np.uint64)
    if n_units:
        topic_words(sealed(state.slot_ptr), sealed(state.slot_topic), own)
    by_word = np.ascontiguousarray(own.T)
    return WordSets(own, np.zeros_like(own), by_word, np.zeros_like(by_word))


@kernel
def look_inside(state: GreedyState, sets: WordSets) -> None:
    """Bring `inside` up to date."""
    sets.inside_by_word[:] = 0
    for topic in range(len(state.components)):
        largest = largest_component(state, topic)
        row, mask = sets.inside_by_word[topic // WORD], ONE << np.uint64(topic % WORD)
        for place in range(state.place_ptr[topic], state.place_ptr[topic + 1]):
            if state.place_label[place] == largest:
                row[state.place_unit[place]] |= mask
    for unit in range(len(sets.inside)):
        for word in range(sets.inside.shape[1]):
            sets.inside[unit, word] = sets.inside_by_word[word, unit]


@part
def count_by_words(state: GreedyState, sets: WordSets, limit: int, row: int, counts: NDArray) -> None:
    """Add to counts[w] what (row, w) contributes at most, for every w > row that may take an edge."""
    found = counts[row + 1 :]  # counted from 0 on: only then is this compiled to vectors
    for word in range(len(sets.own_by_word)):
        own, inside = sets.own_by_word[word, row], sets.inside_by_word[word, row]
        topics, within = sets.own_by_word[word, row + 1 :], sets.inside_by_word[word, row + 1 :]
        for i in range(len(topics)):
            found[i] += ones(own & topics[i] & ~(inside & within[i]))
    lowest = state.lowest[row + 1 :]
    for i in range(len(lowest)):
        if lowest[i] >= limit:
            found[i] = 0


@inlined
def most_joined(sets: WordSets, x: int, y: int) -> int:
    """Return what the pair contributes at most."""
    most = 0
    for word in range(sets.own.shape[1]):
        most += ones(sets.own[x, word] & sets.own[y, word] & ~(sets.inside[x, word] & sets.inside[y, word]))
    return most


@inlined
def joined_by_words(state: GreedyState, sets: WordSets, x: int, y: int) -> int:
    """Return what the pair contributes: the topics that both want, in which their components differ.

    The slot of a topic is the rank of its bit.
    """
    joined = 0
    i, j = state.slot_ptr[x], state.slot_ptr[y]
    for word in range(sets.own.shape[1]):
        a, b = sets.own[x, word], sets.own[y, word]
        left: Any = a & b & ~(sets.inside[x, word] & sets.inside[y, word])
        while left:
            below: Any = (left - ONE) & ~left
            joined += state.slot_label[i + ones(a & below)] != state.slot_label[j + ones(b & below)]
            left &= left - ONE
        i += ones(a)
        j += ones(b)
    return joined
