"""The best partners of a unit, found by counting along the inverted lists.

The *row* of a unit holds pairs with units of larger number. Pairs are ranked by a key in two words, smaller
is better: contribution (more first), twins before others, the lower larger degree, the smaller node, the
other node. While edges are added no key ever gets better: contributions only fall, degrees only rise. So a
row remembers its few best pairs and a *bound* that no other pair of the row was better than.

    key 1   (TOP - contribution) << 32 | not twins << 31 | larger degree
    key 2   smaller node << 32 | larger node
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicloom.kernels.jit import kernel
from topicloom.kernels.units import Degrees, Forest, Ints, Longs, Units, first_within

TOP = np.int64(1) << 30
NEVER = np.int64(2**62)
NOT_TWINS = np.int64(1) << 31
FEW = 8  # a row with fewer candidates than this looks a level deeper at once


class Rows(NamedTuple):
    """For each unit its best pairs as of the last scan, best first, and the bound on all others."""

    partner: Ints  # unit x kept -> the other unit
    contribution: Ints  # unit x kept -> upper bound on the contribution, 0 when the pair is out
    scan_key: Longs  # unit x kept -> key 1 at the time of the scan
    first: Ints  # unit -> kept pairs before this one are out
    count: Ints  # unit -> number kept
    bound_1: Longs
    bound_2: Longs


class Lists(NamedTuple):
    """Each open topic's units that may still take an edge: first those outside the largest component."""

    start: Longs
    middle: Longs
    stop: Longs
    unit: Ints
    label: Ints
    largest: Ints  # topic -> label of its largest component, -1 if finished


class Banned(NamedTuple):
    """Pairs of units that may not be chosen, as neighbor lists."""

    ptr: Longs
    other: Ints


def new_rows(n_units: int, kept: int) -> Rows:
    """Rows that know nothing yet."""
    return Rows(
        partner=np.zeros((n_units, kept), np.int32),
        contribution=np.zeros((n_units, kept), np.int32),
        scan_key=np.zeros((n_units, kept), np.int64),
        first=np.zeros(n_units, np.int32),
        count=np.zeros(n_units, np.int32),
        bound_1=np.zeros(n_units, np.int64),
        bound_2=np.zeros(n_units, np.int64),
    )


@kernel
def open_lists(units: Units, forest: Forest, degrees: Degrees, limit: int) -> Lists:
    """The inverted lists as they stand now, without finished topics and full units.

    A unit inside the largest component of a topic needs to look only at those outside it: most of the
    work falls away as topics grow together.
    """
    n_topics = len(units.place_ptr) - 1
    start = units.place_ptr[:-1].copy()
    middle = start.copy()
    stop = start.copy()
    unit = np.empty(len(units.place_unit), np.int32)
    label = np.empty(len(units.place_unit), np.int32)
    largest = np.full(n_topics, -1, np.int32)
    for topic in range(n_topics):
        if forest.components[topic] <= 1:
            continue
        best = forest.place_label[units.place_ptr[topic]]
        for place in range(units.place_ptr[topic], units.place_ptr[topic + 1]):
            if forest.label_size[forest.place_label[place]] > forest.label_size[best]:
                best = forest.place_label[place]
        largest[topic] = best
        end = start[topic]
        for inside in range(2):
            for place in range(units.place_ptr[topic], units.place_ptr[topic + 1]):
                u = units.place_unit[place]
                if (forest.place_label[place] == best) == (inside == 1) and degrees.lowest[u] < limit:
                    unit[end] = u
                    label[end] = forest.place_label[place]
                    end += 1
            if inside == 0:
                middle[topic] = end
        stop[topic] = end
    return Lists(start, middle, stop, unit, label, largest)


@kernel
def _after(values: Ints, start: int, stop: int, value: int) -> int:
    """The first position in the ascending values[start:stop] that holds more than `value`."""
    while start < stop:
        half = (start + stop) >> 1
        if values[half] > value:
            stop = half
        else:
            start = half + 1
    return start


@kernel
def _count_in_lists(units: Units, forest: Forest, lists: Lists, row: int, counts: NDArray) -> None:
    """counts[w] = contribution of (row, w) for every open w > row."""
    for slot in range(units.slot_ptr[row], units.slot_ptr[row + 1]):
        topic = units.slot_topic[slot]
        if lists.largest[topic] < 0:
            continue
        own = forest.slot_label[slot]
        middle, stop = lists.middle[topic], lists.stop[topic]
        begin = _after(lists.unit, lists.start[topic], middle, row)
        if own == lists.largest[topic]:
            for i in range(begin, middle):
                counts[lists.unit[i]] += 1
        else:
            for i in range(begin, middle):
                counts[lists.unit[i]] += lists.label[i] != own
            for i in range(_after(lists.unit, middle, stop, row), stop):
                counts[lists.unit[i]] += 1


@kernel
def _count_in_places(units: Units, forest: Forest, row: int, counts: NDArray) -> None:
    """The same from the live tables: dearer for one row, but nothing has to be prepared."""
    for slot in range(units.slot_ptr[row], units.slot_ptr[row + 1]):
        topic = units.slot_topic[slot]
        if forest.components[topic] <= 1:
            continue
        own = forest.slot_label[slot]
        for place in range(units.slot_place[slot] + 1, units.place_ptr[topic + 1]):
            counts[units.place_unit[place]] += forest.place_label[place] != own


@kernel
def pair_key_1(units: Units, degrees: Degrees, x: int, y: int, contribution: int) -> int:
    """Word one of the key: contribution, twins, larger degree."""
    key = ((TOP - contribution) << 32) | max(degrees.lowest[x], degrees.lowest[y])
    return key if units.twin_class[x] == units.twin_class[y] else key | NOT_TWINS


@kernel
def pair_key_2(units: Units, degrees: Degrees, x: int, y: int) -> int:
    """Word two of the key: the two nodes that would take the edge."""
    most = max(degrees.lowest[x], degrees.lowest[y])
    a = np.int64(first_within(units, degrees, x, most))
    b = np.int64(first_within(units, degrees, y, most))
    return (a << 32) | b if a < b else (b << 32) | a


@kernel
def _sink(key_1: Longs, key_2: Longs, partner: Ints, size: int, i: int) -> None:
    """Restore the heap order (worst pair on top) below position i."""
    while True:
        worst = i
        for child in (2 * i + 1, 2 * i + 2):
            if child < size and (
                key_1[child] > key_1[worst] or (key_1[child] == key_1[worst] and key_2[child] > key_2[worst])
            ):
                worst = child
        if worst == i:
            return
        key_1[i], key_1[worst] = key_1[worst], key_1[i]
        key_2[i], key_2[worst] = key_2[worst], key_2[i]
        partner[i], partner[worst] = partner[worst], partner[i]
        i = worst


@kernel
def _keep_best(
    units: Units,
    degrees: Degrees,
    rows: Rows,
    row: int,
    limit: int,
    counts: NDArray,
    words: NDArray,
    key_1: Longs,
    key_2: Longs,
    partner: Ints,
) -> None:
    """Turn counted contributions into the row's list and bound."""
    kept = rows.partner.shape[1]
    lanes = len(counts) // len(words)
    high = np.uint64(0x8000800080008000) if lanes == 4 else np.uint64(0x8000000080000000)
    ones = np.uint64(0x0001000100010001) if lanes == 4 else np.uint64(0x0000000100000001)
    half = np.uint64(0x8000) if lanes == 4 else np.uint64(0x80000000)
    n_units = len(rows.count)
    highest = 0
    for w in range(row + 1, n_units):
        highest = max(highest, counts[w])
    rows.first[row] = 0
    rows.count[row] = 0
    rows.bound_1[row] = NEVER
    rows.bound_2[row] = NEVER
    threshold = np.int64(highest)
    step = 2
    size = 0
    truncated = False
    while threshold > 0:
        threshold = max(np.int64(1), threshold - step)
        size = 0
        truncated = False
        # Adding this to a word sets the top bit of each lane whose count reaches the threshold.
        add = (half - np.uint64(threshold)) * ones
        for word in range((row + 1) // lanes, len(words)):
            if ((words[word] + add) & high) == 0:
                continue
            for w in range(max(word * lanes, row + 1), min((word + 1) * lanes, n_units)):
                count = np.int64(counts[w])
                if count < threshold or degrees.lowest[w] >= limit:
                    continue
                k1 = pair_key_1(units, degrees, row, w, count)
                if size == kept and k1 > key_1[0]:
                    truncated = True
                    continue
                k2 = pair_key_2(units, degrees, row, w)
                if size < kept:
                    key_1[size], key_2[size], partner[size] = k1, k2, w
                    size += 1
                    if size == kept:
                        for i in range(kept // 2, -1, -1):
                            _sink(key_1, key_2, partner, size, i)
                    continue
                truncated = True
                if k1 < key_1[0] or k2 < key_2[0]:
                    key_1[0], key_2[0], partner[0] = k1, k2, w
                    _sink(key_1, key_2, partner, size, 0)
        if threshold == 1 or size >= FEW:
            break
        step = 2 * step
    if truncated:
        rows.bound_1[row], rows.bound_2[row] = key_1[0], key_2[0]
    elif threshold > 1:
        rows.bound_1[row], rows.bound_2[row] = (TOP - threshold + 1) << 32, 0
    if size < kept:
        for i in range(size // 2, -1, -1):
            _sink(key_1, key_2, partner, size, i)
    rows.count[row] = size
    while size > 0:  # heap sort: the worst goes to the end
        size -= 1
        rows.partner[row, size] = partner[0]
        rows.contribution[row, size] = TOP - (key_1[0] >> 32)
        rows.scan_key[row, size] = key_1[0]
        key_1[0], key_2[0], partner[0] = key_1[size], key_2[size], partner[size]
        _sink(key_1, key_2, partner, size, 0)


@kernel
def _clear_banned(banned: Banned, row: int, counts: NDArray) -> None:
    for i in range(banned.ptr[row], banned.ptr[row + 1]):
        counts[banned.other[i]] = 0


@kernel
def scan_rows(
    units: Units,
    forest: Forest,
    degrees: Degrees,
    rows: Rows,
    lists: Lists,
    banned: Banned,
    limit: int,
    chosen: Longs,
    counts: NDArray,
) -> None:
    """Renew the rows `chosen` from prepared lists; `counts` is scratch, zero before and after."""
    kept = rows.partner.shape[1]
    key_1, key_2, partner = np.empty(kept, np.int64), np.empty(kept, np.int64), np.empty(kept, np.int32)
    words = counts.view(np.uint64)
    for row in chosen:
        _count_in_lists(units, forest, lists, row, counts)
        _clear_banned(banned, row, counts)
        _keep_best(units, degrees, rows, row, limit, counts, words, key_1, key_2, partner)
        counts[row + 1 :] = 0


@kernel
def scan_row(
    units: Units,
    forest: Forest,
    degrees: Degrees,
    rows: Rows,
    banned: Banned,
    limit: int,
    row: int,
    counts: NDArray,
) -> None:
    """Renew one row from the live tables; `counts` is scratch, zero before and after."""
    kept = rows.partner.shape[1]
    key_1, key_2, partner = np.empty(kept, np.int64), np.empty(kept, np.int64), np.empty(kept, np.int32)
    _count_in_places(units, forest, row, counts)
    _clear_banned(banned, row, counts)
    _keep_best(units, degrees, rows, row, limit, counts, counts.view(np.uint64), key_1, key_2, partner)
    counts[row + 1 :] = 0


@kernel
def scan_rows_live(
    units: Units,
    forest: Forest,
    degrees: Degrees,
    rows: Rows,
    banned: Banned,
    limit: int,
    chosen: Longs,
    counts: NDArray,
) -> None:
    """Renew a few rows from the live tables."""
    for row in chosen:
        scan_row(units, forest, degrees, rows, banned, limit, row, counts)


def scratch_counts(n_units: int, largest_set: int) -> NDArray:
    """Zeroed counters for all units, as narrow as the largest contribution allows, whole 8-byte words."""
    wide = largest_set >= 2**15
    lanes = 2 if wide else 4
    return np.zeros((n_units + lanes) // lanes * lanes, np.uint32 if wide else np.uint16)
