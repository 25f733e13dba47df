"""The best partners of a unit, found by counting along the inverted lists.

The *row* of a unit holds pairs with units of larger number. Pairs are ranked by a key in two words, smaller
is better: contribution (more first), twins before others, the lower larger degree, the smaller node, the
other node. While edges are added no key ever gets better: contributions only fall, degrees only rise. So a
row remembers its few best pairs and a *bound* that no other pair of the row was better than.

    key 1   (TOP - contribution) << 32 | not twins << 31 | larger degree
    key 2   smaller node << 32 | larger node
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Ints, Longs
from topicloom.base.kernels.jit import inlined, kernel, part
from topicloom.base.kernels.search import first_at_least
from topicloom.overlay.kernels.greedy_state import GreedyState, first_within, largest_component
from topicloom.overlay.kernels.word_sets import WordSets, count_by_words, joined_by_words

TOP = np.int64(1) << 30
NEVER = np.int64(2**62)
NOT_TWINS = np.int64(1) << 31
DEGREE = NOT_TWINS - 1  # the bits of key 1 that hold the larger degree
BLOCK = 64  # counts that are passed over together where none of them reaches the threshold
FEW = 8  # a row with fewer candidates than this looks a level deeper at once


class Rows(NamedTuple):
    """For each unit its best pairs as of the last scan, best first, and the bound on all others."""

    partner: Ints  # unit x place -> the other unit
    contribution: Ints  # unit x place -> upper bound on the contribution, 0 when the pair is out
    scan_key: Longs  # unit x place -> key 1 at the time of the scan
    first: Ints  # unit -> kept pairs before this one are out
    kept: Ints  # unit -> number kept
    bound_1: Longs
    bound_2: Longs


class OpenLists(NamedTuple):
    """Each open topic's units that may still take an edge: first those outside the largest component.

    Lists that are no longer up to date bound contributions from above: a component that has the label of an
    older one holds all of it, so no pair that still joins a topic is left out.
    """

    start: Longs
    middle: Longs
    stop: Longs
    unit: Ints
    label: Ints
    largest: Ints  # topic -> label of its largest component, -1 if finished


class Scratch(NamedTuple):
    """What a scan needs for itself: as it was before and after."""

    counts: NDArray  # unit -> 0
    mark: Ints  # topic -> -1


NO_LISTS = OpenLists(*(np.zeros(0, np.int64),) * 3, *(np.zeros(0, np.int32),) * 3)


def new_rows(n_units: int, kept: int) -> Rows:
    """Return rows that know nothing yet."""
    return Rows(
        partner=np.zeros((n_units, kept), np.int32),
        contribution=np.zeros((n_units, kept), np.int32),
        scan_key=np.zeros((n_units, kept), np.int64),
        first=np.zeros(n_units, np.int32),
        kept=np.zeros(n_units, np.int32),
        bound_1=np.zeros(n_units, np.int64),
        bound_2=np.zeros(n_units, np.int64),
    )


@kernel
def open_lists(state: GreedyState, limit: int) -> OpenLists:
    """Return the inverted lists as they stand now, without finished topics and full units.

    A unit inside the largest component of a topic needs to look only at those outside it: most of the
    work falls away as topics grow together.
    """
    n_topics = len(state.place_ptr) - 1
    start = state.place_ptr[:-1].copy()
    middle = start.copy()
    stop = start.copy()
    unit = np.empty(len(state.place_unit), np.int32)
    label = np.empty(len(state.place_unit), np.int32)
    largest = np.full(n_topics, -1, np.int32)
    for topic in range(n_topics):
        if state.components[topic] <= 1:
            continue
        best = largest_component(state, topic)
        largest[topic] = best
        end = start[topic]
        for inside in range(2):
            for place in range(state.place_ptr[topic], state.place_ptr[topic + 1]):
                u = state.place_unit[place]
                if (state.place_label[place] == best) == (inside == 1) and state.lowest[u] < limit:
                    unit[end] = u
                    label[end] = state.place_label[place]
                    end += 1
            if inside == 0:
                middle[topic] = end
        stop[topic] = end
    return OpenLists(start, middle, stop, unit, label, largest)


@part
def _count_in_lists(state: GreedyState, lists: OpenLists, row: int, counts: NDArray) -> None:
    """Set counts[w] to what (row, w) contributes, or at most that, for every open w > row."""
    for slot in range(state.slot_ptr[row], state.slot_ptr[row + 1]):
        topic = state.slot_topic[slot]
        if lists.largest[topic] < 0:
            continue
        own = state.slot_label[slot]
        middle, stop = lists.middle[topic], lists.stop[topic]
        begin = first_at_least(lists.unit, lists.start[topic], middle, row + 1)
        if own == lists.largest[topic]:
            for i in range(begin, middle):
                counts[lists.unit[i]] += 1
        else:
            for i in range(begin, middle):
                counts[lists.unit[i]] += lists.label[i] != own
            for i in range(first_at_least(lists.unit, middle, stop, row + 1), stop):
                counts[lists.unit[i]] += 1


@part
def count_in_places(state: GreedyState, row: int, counts: NDArray) -> None:
    """Count from the live tables: more expensive for one row, but nothing has to be prepared."""
    for slot in range(state.slot_ptr[row], state.slot_ptr[row + 1]):
        topic = state.slot_topic[slot]
        if state.components[topic] <= 1:
            continue
        own = state.slot_label[slot]
        for place in range(state.slot_place[slot] + 1, state.place_ptr[topic + 1]):
            counts[state.place_unit[place]] += state.place_label[place] != own


@inlined
def pair_key_1(twins: Any, larger_degree: Any, contribution: Any) -> Any:
    """Return word one of the key: contribution, twins, larger degree."""
    key = ((TOP - contribution) << 32) | larger_degree
    return key if twins else key | NOT_TWINS


@inlined
def pair_key_2(a: Any, b: Any) -> Any:
    """Return word two of the key: the two nodes that would take the edge."""
    return (np.int64(min(a, b)) << 32) | max(a, b)


@part
def _sink(key_1: Longs, key_2: Longs, partner: Ints, size: int, i: int) -> None:
    """Restore the heap order (worst pair on top) below position i."""
    k1, k2, p = key_1[i], key_2[i], partner[i]
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        other = child + 1
        if other < size and (
            key_1[other] > key_1[child] or (key_1[other] == key_1[child] and key_2[other] > key_2[child])
        ):
            child = other
        if key_1[child] < k1 or (key_1[child] == k1 and key_2[child] <= k2):
            break
        key_1[i], key_2[i], partner[i] = key_1[child], key_2[child], partner[child]
        i = child
    key_1[i], key_2[i], partner[i] = k1, k2, p


@inlined
def joined_by_marks(state: GreedyState, mark: Ints, other: int) -> int:
    """Return what the unit whose topics are marked with its components and `other` contribute."""
    joined = 0
    for slot in range(state.slot_ptr[other], state.slot_ptr[other + 1]):
        own = mark[state.slot_topic[slot]]
        joined += own >= 0 and own != state.slot_label[slot]
    return joined


@inlined
def set_marks(state: GreedyState, mark: Ints, row: int) -> None:
    """Mark the topics of a unit with its components."""
    for slot in range(state.slot_ptr[row], state.slot_ptr[row + 1]):
        mark[state.slot_topic[slot]] = state.slot_label[slot]


@inlined
def clear_marks(state: GreedyState, mark: Ints, row: int) -> None:
    """Take the marks of a unit away."""
    for slot in range(state.slot_ptr[row], state.slot_ptr[row + 1]):
        mark[state.slot_topic[slot]] = -1


@part
def _gather(
    state: GreedyState,
    sets: WordSets,
    row: int,
    limit: int,
    threshold: Any,
    exact: bool,
    scratch: Scratch,
    words: NDArray,
    highest: NDArray,
    key_1: Longs,
    key_2: Longs,
    partner: Ints,
) -> tuple[int, bool]:
    """Collect the best pairs of the row that count at least `threshold`, as a heap with the worst on top.

    Gives how many there are and whether some had to be left out. Counts that are not `exact` are bounds;
    what is kept is made exact, or the row would be scanned again and again.
    """
    lowest, first_lowest, twin_class = state.lowest, state.first_lowest, state.twin_class
    n_units, kept, counts = len(lowest), len(key_1), scratch.counts
    lanes = len(counts) // len(words)
    # Adding this to a word sets the top bit of each lane whose count reaches the threshold.
    high = np.uint64(0x8000800080008000) if lanes == 4 else np.uint64(0x8000000080000000)
    ones = np.uint64(0x0001000100010001) if lanes == 4 else np.uint64(0x0000000100000001)
    add = ((np.uint64(0x8000) if lanes == 4 else np.uint64(0x80000000)) - np.uint64(threshold)) * ones
    own_lowest, own_class, own_first = lowest[row], twin_class[row], first_lowest[row]
    own_single = state.member_ptr[row + 1] - state.member_ptr[row] == 1
    size, truncated = 0, False
    word, block_end = (row + 1) // lanes, 0
    while word < len(words):
        if word >= block_end:
            block = word * lanes // BLOCK
            if highest[block] < threshold:
                word = (block + 1) * BLOCK // lanes
                continue
            block_end = (block + 1) * BLOCK // lanes
        word += 1
        if ((words[word - 1] + add) & high) == 0:
            continue
        for w in range(max((word - 1) * lanes, row + 1), min(word * lanes, n_units)):
            count = np.int64(counts[w])
            if count < threshold or lowest[w] >= limit:
                continue
            most = max(own_lowest, lowest[w])
            k1 = pair_key_1(twin_class[w] == own_class, most, count)
            if size == kept and k1 > key_1[0]:
                truncated = True
                continue
            a, b = own_first, first_lowest[w]
            if most > own_lowest and not own_single:
                a = first_within(state, row, most)
            if most > lowest[w] and state.member_ptr[w + 1] - state.member_ptr[w] > 1:
                b = first_within(state, w, most)
            k2 = pair_key_2(a, b)
            if size == kept and k1 == key_1[0] and k2 > key_2[0]:
                truncated = True
                continue
            if not exact:
                if len(sets.own) > 0:
                    now = joined_by_words(state, sets, row, w)
                else:
                    now = joined_by_marks(state, scratch.mark, w)
                if now < count:
                    counts[w] = now
                    if now < threshold:
                        continue
                    k1 = pair_key_1(twin_class[w] == own_class, most, now)
            if size < kept:
                key_1[size], key_2[size], partner[size] = k1, k2, w
                size += 1
                if size == kept:
                    for i in range(kept // 2 - 1, -1, -1):
                        _sink(key_1, key_2, partner, size, i)
                continue
            truncated = True
            if k1 < key_1[0] or (k1 == key_1[0] and k2 < key_2[0]):
                key_1[0], key_2[0], partner[0] = k1, k2, w
                _sink(key_1, key_2, partner, size, 0)
    if size < kept:
        for i in range(size // 2 - 1, -1, -1):
            _sink(key_1, key_2, partner, size, i)
    return size, truncated


@part
def _store(rows: Rows, row: int, key_1: Longs, key_2: Longs, partner: Ints, size: int) -> None:
    """Empty the heap into the row's list, best pair first."""
    to_partner, to_contribution, to_key = rows.partner[row], rows.contribution[row], rows.scan_key[row]
    rows.first[row] = 0
    rows.kept[row] = size
    while size > 0:
        size -= 1
        to_partner[size] = partner[0]
        to_contribution[size] = TOP - (key_1[0] >> 32)
        to_key[size] = key_1[0]
        key_1[0], key_2[0], partner[0] = key_1[size], key_2[size], partner[size]
        _sink(key_1, key_2, partner, size, 0)


@inlined
def clear_banned(state: GreedyState, row: int, counts: NDArray) -> None:
    """Set the counts of the partners that the row may not choose to zero."""
    for i in range(state.banned_ptr[row], state.banned_ptr[row + 1]):
        counts[state.banned[i]] = 0


@part
def _block_heights(counts: NDArray, highest: NDArray) -> Any:
    """Set the highest count of each block of counts; return the highest of all."""
    most = highest[0] * 0
    for block in range(len(highest)):
        part = counts[block * BLOCK : (block + 1) * BLOCK]
        top = part[0]  # as narrow as the counts: only then are vectors compared
        for i in range(len(part)):
            top = max(top, part[i])
        highest[block] = top
        most = max(most, np.int64(top))
    return most


@part
def _keep_best(
    state: GreedyState, rows: Rows, sets: WordSets, limit: int, row: int, exact: bool, scratch: Scratch
) -> None:
    """Turn counted contributions into the row's list and bound; all counts are zero afterwards."""
    kept, counts = rows.partner.shape[1], scratch.counts
    key_1, key_2, partner = np.empty(kept, np.int64), np.empty(kept, np.int64), np.empty(kept, np.int32)
    highest = np.empty((len(counts) + BLOCK - 1) // BLOCK, np.int64)
    words = counts.view(np.uint64)
    clear_banned(state, row, counts)
    first = (row + 1) // BLOCK
    threshold = np.int64(0)
    if first < len(highest):
        threshold = _block_heights(counts[first * BLOCK :], highest[first:])
    if not exact and len(sets.own) == 0:
        set_marks(state, scratch.mark, row)
    size, truncated, step = 0, False, 1
    while threshold > 0:
        size, truncated = _gather(
            state, sets, row, limit, threshold, exact, scratch, words, highest, key_1, key_2, partner
        )
        if size >= FEW or threshold == 1:
            break
        threshold = max(np.int64(1), threshold - step)
        step *= 2
    if not exact and len(sets.own) == 0:
        clear_marks(state, scratch.mark, row)
    rows.bound_1[row] = rows.bound_2[row] = NEVER
    if truncated:
        rows.bound_1[row], rows.bound_2[row] = key_1[0], key_2[0]
    elif threshold > 1:
        # Where no two units want the same, the others are no twins of this one.
        alone = state.twin_class[-1] == len(state.twin_class) - 1
        rows.bound_1[row] = pair_key_1(not alone, state.lowest[row], threshold - 1)
        rows.bound_2[row] = 0
    _store(rows, row, key_1, key_2, partner, size)
    counts[row + 1 :] = 0


@part
def scan_row(
    state: GreedyState,
    rows: Rows,
    sets: WordSets,
    lists: OpenLists,
    limit: int,
    row: int,
    exact: bool,
    scratch: Scratch,
) -> None:
    """Renew one row from words or lists; `exact` says that the lists are up to date."""
    if len(sets.own) > 0:
        count_by_words(state, sets, limit, row, scratch.counts)
    else:
        _count_in_lists(state, lists, row, scratch.counts)
    _keep_best(state, rows, sets, limit, row, exact, scratch)


@kernel
def scan_rows(
    state: GreedyState,
    rows: Rows,
    sets: WordSets,
    lists: OpenLists,
    limit: int,
    chosen: Longs,
    exact: bool,
    scratch: Scratch,
) -> None:
    """Renew the rows `chosen`."""
    for row in chosen:
        scan_row(state, rows, sets, lists, limit, row, exact, scratch)


def new_scratch(n_units: int, n_topics: int, largest_set: int) -> Scratch:
    """Return what one thread needs to scan rows."""
    return Scratch(scratch_counts(n_units, largest_set), np.full(n_topics, -1, np.int32))


def scratch_counts(n_units: int, largest_set: int) -> NDArray:
    """Return zeroed counters for all units: whole 8-byte words, as narrow as the largest set allows."""
    wide = largest_set >= 2**15
    lanes = 2 if wide else 4
    return np.zeros((n_units + lanes) // lanes * lanes, np.uint32 if wide else np.uint16)
