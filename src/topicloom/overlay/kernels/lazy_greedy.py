"""Lazy greedy choice of edges over rows: exact, without ever holding all pairs.

A heap holds one key per row: the best pair of the row when it was last looked at, or the row's bound. Keys
never get better, so a row whose pair is as good as all other keys when it is looked at holds the best of all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Bools, Ints, Longs
from topicloom.base.kernels.jit import inlined, kernel, part
from topicloom.overlay.kernels.best_partners import NEVER, TOP, Rows, pair_key_1, pair_key_2, scan_row
from topicloom.overlay.kernels.greedy_state import GreedyState, first_within, join_units, refresh_unit
from topicloom.overlay.kernels.row_heap import settle
from topicloom.overlay.kernels.word_sets import WordSets, joined_by_words, most_joined

# Why `choose` returns: nothing of the wanted contribution is left; many rows need a scan; the user may stop
# us here; as many edges as were asked for are chosen.
LEVEL_DONE, NEEDS_SCAN, PAUSED, ENOUGH = 0, 1, 2, 3

INLINE_SCANS = 16  # so many single rows are renewed on the way before a joint scan is asked for


class Heap(NamedTuple):
    """Rows by key, best on top; `size` is an array of one."""

    row: Ints
    key_1: Longs  # by row
    key_2: Longs  # by row
    is_bound: Bools  # by row: the key is the row's bound, the row must be scanned
    size: Longs


class ChosenEdges(NamedTuple):
    """The edges in the order they were chosen; `length` is an array of one."""

    u: Ints
    v: Ints
    contribution: Ints
    length: Longs


def new_heap(n_units: int) -> Heap:
    """Return an empty heap."""
    return Heap(
        np.zeros(n_units, np.int32),
        np.zeros(n_units, np.int64),
        np.zeros(n_units, np.int64),
        np.zeros(n_units, np.bool_),
        np.zeros(1, np.int64),
    )


def new_chosen_edges(capacity: int) -> ChosenEdges:
    """Return room for `capacity` edges."""
    u, v, contribution = (np.zeros(capacity, np.int32) for _ in range(3))
    return ChosenEdges(u, v, contribution, np.zeros(1, np.int64))


@inlined
def _settle_all(heap: Heap) -> None:
    """Order the whole heap."""
    for i in range(heap.size[0] // 2 - 1, -1, -1):
        settle(heap, i)


@inlined
def _set_top(heap: Heap, key_1: int, key_2: int, is_bound: bool) -> None:
    row = heap.row[0]
    heap.key_1[row], heap.key_2[row], heap.is_bound[row] = key_1, key_2, is_bound
    settle(heap, 0)


@inlined
def _leads(heap: Heap, key_1: int, key_2: int) -> bool:
    """Would a row with this key be on top in the place of the one that is?"""
    for i in range(1, min(3, heap.size[0])):
        row = heap.row[i]
        if heap.key_1[row] < key_1 or (heap.key_1[row] == key_1 and heap.key_2[row] < key_2):
            return False
    return True


@inlined
def _pop(heap: Heap) -> None:
    heap.size[0] -= 1
    heap.row[0] = heap.row[heap.size[0]]
    settle(heap, 0)


@kernel
def fill_heap(state: GreedyState, rows: Rows, heap: Heap, limit: int) -> None:
    """Enter all rows that may take an edge and were just scanned, each with its best pair."""
    heap.size[0] = 0
    for row in range(len(rows.kept)):
        if state.lowest[row] >= limit or (rows.kept[row] == 0 and rows.bound_1[row] == NEVER):
            continue
        _enter(heap, rows, row)
        heap.row[heap.size[0]] = row
        heap.size[0] += 1
    _settle_all(heap)


@inlined
def _enter(heap: Heap, rows: Rows, row: int) -> None:
    """Set the key of a freshly scanned row; word two is left open (smallest), a true lower bound."""
    if rows.kept[row] > 0:
        heap.key_1[row], heap.key_2[row], heap.is_bound[row] = rows.scan_key[row, 0], 0, False
    else:
        heap.key_1[row], heap.key_2[row], heap.is_bound[row] = rows.bound_1[row], rows.bound_2[row], True


@kernel
def refill_heap(heap: Heap, rows: Rows, scanned: Longs) -> None:
    """Give the rows that were scanned again their new keys, and order the heap anew."""
    for row in scanned:
        _enter(heap, rows, row)
    kept = 0
    for i in range(heap.size[0]):
        row = heap.row[i]
        if heap.is_bound[row] and heap.key_1[row] == NEVER:
            continue
        heap.row[kept] = row
        kept += 1
    heap.size[0] = kept
    _settle_all(heap)


@kernel
def rows_to_scan(heap: Heap) -> Longs:
    """Return the rows that stand at a bound as good as the top of the heap."""
    best = heap.key_1[heap.row[0]]
    found = np.empty(heap.size[0], np.int64)
    n = 0
    for i in range(heap.size[0]):
        row = heap.row[i]
        if heap.is_bound[row] and heap.key_1[row] <= best:
            found[n] = row
            n += 1
    return found[:n]


@part
def _node_key(state: GreedyState, x: int, y: int) -> int:
    """Return word two of the key of a pair of units, as degrees stand now."""
    most = max(state.lowest[x], state.lowest[y])
    a, b = state.first_lowest[x], state.first_lowest[y]
    if most > state.lowest[x]:
        a = first_within(state, x, most)
    if most > state.lowest[y]:
        b = first_within(state, y, most)
    return pair_key_2(a, b)


@part
def _best_of_row(
    state: GreedyState, rows: Rows, sets: WordSets, limit: int, mark: Ints, row: int
) -> tuple[Any, Any, Any]:
    """Return the row's best remembered pair as things stand: its two key words and position, or NEVER.

    Pairs that are worse than the row's bound are not looked at: others may be better than they are.
    """
    slot_ptr, slot_topic, slot_label = state.slot_ptr, state.slot_topic, state.slot_label
    lowest, first_lowest, twin_class = state.lowest, state.first_lowest, state.twin_class
    partner, contribution, scan_key = rows.partner[row], rows.contribution[row], rows.scan_key[row]
    words, marked = len(sets.own) > 0, False
    single = len(state.member) == len(lowest)  # no unit has twins: word two of a pair never changes
    best_1: Any = rows.bound_1[row]
    best_2: Any = rows.bound_2[row]
    position = -1
    count = rows.kept[row]
    while rows.first[row] < count and contribution[rows.first[row]] == 0:
        rows.first[row] += 1
    for i in range(rows.first[row], count):
        if scan_key[i] > best_1:
            break  # sorted at the scan, and keys only got worse since
        before, other = contribution[i], partner[i]
        if before == 0 or (TOP - before) << 32 > best_1:
            continue
        if lowest[other] >= limit:
            contribution[i] = 0
            continue
        twins = twin_class[row] == twin_class[other]
        most = max(lowest[row], lowest[other])
        k1 = pair_key_1(twins, most, before)
        if k1 > best_1:
            continue
        k2: Any = pair_key_2(first_lowest[row], first_lowest[other])
        if not single:
            k2 = _node_key(state, row, other)
        if k1 == best_1 and k2 > best_2:
            if single and scan_key[i] == best_1:
                break  # those that were as good at the scan stand in the order of word two
            continue  # it was not better before, so there is nothing to count
        now = 0
        if words:
            now = most_joined(sets, row, other)
            if now > 0 and pair_key_1(twins, most, min(now, before)) <= best_1:
                now = joined_by_words(state, sets, row, other)
        else:
            if not marked:
                for slot in range(slot_ptr[row], slot_ptr[row + 1]):
                    mark[slot_topic[slot]] = slot_label[slot]
                marked = True
            for slot in range(slot_ptr[other], slot_ptr[other + 1]):
                own = mark[slot_topic[slot]]
                now += own >= 0 and own != slot_label[slot]
        if now < before:
            contribution[i] = now
            k1 = pair_key_1(twins, most, now)
            if now == 0 or k1 > best_1:
                continue
        if k1 < best_1 or k2 <= best_2:
            best_1, best_2, position = k1, k2, i
    if marked:
        for slot in range(slot_ptr[row], slot_ptr[row + 1]):
            mark[slot_topic[slot]] = -1
    if position < 0:
        return NEVER, NEVER, position
    return best_1, best_2, position


@inlined
def take_edge(state: GreedyState, chosen: ChosenEdges, x: int, y: int, u: int, v: int) -> None:
    """Choose the edge between the nodes u of unit x and v of unit y."""
    n = chosen.length[0]
    chosen.u[n], chosen.v[n] = u, v
    chosen.contribution[n] = join_units(state, x, y)
    chosen.length[0] += 1
    state.degree[u] += 1
    state.degree[v] += 1
    refresh_unit(state, x)
    refresh_unit(state, y)


@kernel
def choose(
    state: GreedyState,
    rows: Rows,
    sets: WordSets,
    heap: Heap,
    chosen: ChosenEdges,
    limit: int,
    least: int,
    most: int,
    turns: int,
    counts: NDArray,
    mark: Ints,
) -> int:
    """Add up to `most` best edges while one contributes at least `least`; gives why it came back.

    `limit`: a unit whose members all have that degree takes no edge. `mark` holds -1 for every topic.
    """
    scans = 0
    before = chosen.length[0]
    for _ in range(turns):
        if heap.size[0] == 0:
            return LEVEL_DONE
        row = heap.row[0]
        if TOP - (heap.key_1[row] >> 32) < least:
            return LEVEL_DONE
        if state.lowest[row] >= limit:
            _pop(heap)
            continue
        if heap.is_bound[row]:
            if scans == INLINE_SCANS:
                return NEEDS_SCAN
            scans += 1
            scan_row(state, rows, sets, limit, row, counts)
        key_1, key_2, position = _best_of_row(state, rows, sets, limit, mark, row)
        bound_1, bound_2 = rows.bound_1[row], rows.bound_2[row]
        if key_1 > bound_1 or (key_1 == bound_1 and key_2 > bound_2):
            _set_top(heap, bound_1, bound_2, True)
        elif key_1 == NEVER:
            _pop(heap)
        elif TOP - (key_1 >> 32) >= least and _leads(heap, key_1, key_2):
            heap.key_1[row], heap.key_2[row], heap.is_bound[row] = key_1, key_2, False
            other = rows.partner[row, position]
            take_edge(state, chosen, row, other, key_2 >> 32, key_2 & 0xFFFFFFFF)
            rows.contribution[row, position] = 0
            if chosen.length[0] - before == most:
                return ENOUGH
        else:
            _set_top(heap, key_1, key_2, False)
    return PAUSED
