"""The choice of the hop-aware greedy: lazy rows as in `lazy_greedy`, over other contributions and other ties.

A topic that two units share counts for their pair if it is in two components there and the path through the
new edge stays within what is allowed. Of equal counts the pair of the smallest eccentricities goes first:

    key 1   (TOP - count) << 32 | sum of both eccentricities over the topics counted
    key 2   smaller unit << 32 | larger unit

Where the allowed length is fixed, no key ever gets better: eccentricities only grow, so topics only drop out,
and while none drops out the sum only grows. Then the choice is exact. Where it grows with the component, a
pair may gain; that is seen when the row is scanned next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Bools, Ints, Longs
from topicloom.base.kernels.jit import kernel, part
from topicloom.overlay.kernels.greedy_state import GreedyState
from topicloom.overlay.kernels.hop_trees import HopTrees, allowed, join_within, use_port
from topicloom.overlay.kernels.row_heap import settle

TOP = np.int64(1) << 30
NEVER = np.int64(2**62)
ONE = np.int64(1) << 32  # one topic, in a sum that holds eccentricities below
LOW = ONE - 1
DONE, PAUSED = 0, 1


class HopRows(NamedTuple):
    """For each unit its best pairs with units of larger number at the last scan; a heap of the rows."""

    partner: Ints  # unit x place
    key: Longs  # unit x place -> key 1 at the last look; NEVER when the pair is out
    kept: Ints
    bound_1: Longs
    bound_2: Longs
    row: Ints  # the heap of `row_heap.py`
    key_1: Longs  # by row
    key_2: Longs  # by row
    is_bound: Bools  # by row
    size: Longs  # of the heap: an array of one
    sums: Longs  # scratch: unit -> count and eccentricities
    mark: Ints  # scratch: topic -> place of the row's unit, -1


class HopEdges(NamedTuple):
    """The edges in the order they were chosen: units, members, depths of the ports, contributions."""

    x: Ints
    y: Ints
    u: Ints
    v: Ints
    depth_x: Ints
    depth_y: Ints
    contribution: Ints
    following: Ints  # edge -> the next one of x
    first: Ints  # unit -> its last edge as x
    length: Longs


def new_hop_rows(n_units: int, n_topics: int, kept: int) -> HopRows:
    """Return rows that know nothing yet."""
    return HopRows(
        partner=np.zeros((n_units, kept), np.int32),
        key=np.zeros((n_units, kept), np.int64),
        kept=np.zeros(n_units, np.int32),
        bound_1=np.zeros(n_units, np.int64),
        bound_2=np.zeros(n_units, np.int64),
        row=np.zeros(n_units, np.int32),
        key_1=np.zeros(n_units, np.int64),
        key_2=np.zeros(n_units, np.int64),
        is_bound=np.zeros(n_units, np.bool_),
        size=np.zeros(1, np.int64),
        sums=np.zeros(n_units, np.int64),
        mark=np.full(n_topics, -1, np.int32),
    )


def new_hop_edges(n_units: int, capacity: int) -> HopEdges:
    """Return room for `capacity` edges."""
    x, y, u, v, depth_x, depth_y, contribution, following = np.zeros((8, capacity), np.int32)
    first, length = np.full(n_units, -1, np.int32), np.zeros(1, np.int64)
    return HopEdges(x, y, u, v, depth_x, depth_y, contribution, following, first, length)


@part
def _sink(key: Longs, partner: Ints, size: int, i: int) -> None:
    """Restore the order of a row's pairs (worst on top) below position i; ties: the larger partner."""
    k, p = key[i], partner[i]
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and (
            key[child + 1] > key[child]
            or (key[child + 1] == key[child] and partner[child + 1] > partner[child])
        ):
            child += 1
        if key[child] < k or (key[child] == k and partner[child] <= p):
            break
        key[i], partner[i] = key[child], partner[child]
        i = child
    key[i], partner[i] = k, p


@part
def _count(state: GreedyState, hops: HopTrees, row: int, sums: Longs) -> None:
    """Add up counts and eccentricities of all pairs (row, w), w > row."""
    reach, place_label, place_unit, label_size = (
        hops.reach,
        state.place_label,
        state.place_unit,
        state.label_size,
    )
    for slot in range(state.slot_ptr[row], state.slot_ptr[row + 1]):
        topic, own_place = state.slot_topic[slot], state.slot_place[slot]
        if state.components[topic] <= 1:
            continue
        own, label = np.int64(reach[own_place]), place_label[own_place]
        size = label_size[label]
        fixed = hops.stretch[topic] == 0.0
        room = np.int64(hops.longest[topic]) - 1 - own
        for place in range(own_place + 1, state.place_ptr[topic + 1]):
            if reach[place] > room or place_label[place] == label:
                continue
            if fixed or own + 1 + reach[place] <= allowed(hops, topic, size + label_size[place_label[place]]):
                sums[place_unit[place]] += ONE + own + reach[place]


@part
def _scan(state: GreedyState, hops: HopTrees, rows: HopRows, row: int) -> None:
    """Renew the list and the bound of a row."""
    sums, key, partner = rows.sums, rows.key[row], rows.partner[row]
    n_units, most = len(sums), len(key)
    rows.bound_1[row] = rows.bound_2[row] = NEVER
    rows.kept[row] = 0
    if hops.port[row] == state.member_ptr[row + 1] - state.member_ptr[row]:
        return
    _count(state, hops, row, sums)
    best = np.int64(0)
    for w in range(row + 1, n_units):
        best = max(best, sums[w])
    threshold = best >> 32
    size, truncated, step = 0, False, 1
    while threshold > 0:
        size, truncated = 0, False
        least = threshold << 32
        for w in range(row + 1, n_units):
            if sums[w] < least:
                continue
            k = ((TOP - (sums[w] >> 32)) << 32) | (sums[w] & LOW)
            if size < most:
                key[size], partner[size] = k, w
                size += 1
                if size == most:
                    for i in range(most // 2 - 1, -1, -1):
                        _sink(key, partner, size, i)
                continue
            truncated = True
            if k < key[0]:
                key[0], partner[0] = k, w
                _sink(key, partner, size, 0)
        if size >= 8 or threshold == 1:
            break
        threshold = max(np.int64(1), threshold - step)
        step *= 2
    sums[row + 1 :] = 0
    if truncated:
        rows.bound_1[row], rows.bound_2[row] = key[0], (np.int64(row) << 32) | partner[0]
    elif threshold > 1:
        rows.bound_1[row], rows.bound_2[row] = (TOP - threshold + 1) << 32, 0
    if size < most:
        for i in range(size // 2 - 1, -1, -1):
            _sink(key, partner, size, i)
    rows.kept[row] = size
    while size > 1:  # empty the heap into the row: best first
        size -= 1
        k, p = key[0], partner[0]
        key[0], partner[0] = key[size], partner[size]
        _sink(key, partner, size, 0)
        key[size], partner[size] = k, p


@part
def _look(state: GreedyState, hops: HopTrees, rows: HopRows, row: int, other: int) -> Any:
    """Return key 1 of a pair as things stand, NEVER if it joins nothing; the row's topics are marked."""
    total = np.int64(0)
    for slot in range(state.slot_ptr[other], state.slot_ptr[other + 1]):
        own = rows.mark[state.slot_topic[slot]]
        if own < 0:
            continue
        place = state.slot_place[slot]
        label_a, label_b = state.place_label[own], state.place_label[place]
        if label_a == label_b:
            continue
        both = np.int64(hops.reach[own]) + hops.reach[place]
        size = state.label_size[label_a] + state.label_size[label_b]
        if both + 1 <= allowed(hops, state.slot_topic[slot], size):
            total += ONE + both
    return ((TOP - (total >> 32)) << 32) | (total & LOW) if total > 0 else NEVER


@part
def _best_of_row(state: GreedyState, hops: HopTrees, rows: HopRows, row: int) -> tuple[Any, Any]:
    """Return the best remembered pair of a row as things stand: key 1 and position, or NEVER."""
    key, partner = rows.key[row], rows.partner[row]
    for slot in range(state.slot_ptr[row], state.slot_ptr[row + 1]):
        rows.mark[state.slot_topic[slot]] = state.slot_place[slot]
    best, position, kept = NEVER, -1, 0
    for i in range(rows.kept[row]):
        now = key[i]
        if now <= best:  # else it was no better at its last look
            now = max(now, _look(state, hops, rows, row, np.int64(partner[i])))
        if now == NEVER:
            continue
        key[kept], partner[kept] = now, partner[i]
        if now < best or (now == best and partner[kept] < partner[position]):
            best, position = now, kept
        kept += 1
    rows.kept[row] = kept
    for slot in range(state.slot_ptr[row], state.slot_ptr[row + 1]):
        rows.mark[state.slot_topic[slot]] = -1
    return best, position


@kernel
def scan_all(state: GreedyState, hops: HopTrees, rows: HopRows, first: int, last: int) -> None:
    """Scan the rows from `first` to `last` and enter them into the heap, unordered."""
    for row in range(first, last):
        _scan(state, hops, rows, row)
        if rows.kept[row] == 0 and rows.bound_1[row] == NEVER:
            continue
        rows.key_1[row], rows.key_2[row], rows.is_bound[row] = rows.key[row, 0], 0, False
        rows.row[rows.size[0]] = row
        rows.size[0] += 1


@kernel
def order_heap(rows: HopRows) -> None:
    """Order the heap."""
    for i in range(rows.size[0] // 2 - 1, -1, -1):
        settle(rows, i)


@part
def _take(state: GreedyState, hops: HopTrees, edges: HopEdges, x: int, y: int) -> None:
    """Choose the edge between the ports of two units, x < y; one that is there already joins what it can.

    Only where limits grow with the components a pair comes up again. If its edge is at ports of no more depth
    than those now, it joins no less. Once degrees rose, ports are near the roots again: then an edge that
    joins nothing gets another one beside it.
    """
    edge = edges.first[x]
    while edge >= 0:
        if (
            edges.y[edge] == y
            and join_within(state, hops, x, y, edges.depth_x[edge], edges.depth_y[edge]) > 0
        ):
            return
        edge = edges.following[edge]
    n = edges.length[0]
    at_x, at_y = state.member_ptr[x] + hops.port[x], state.member_ptr[y] + hops.port[y]
    edges.x[n], edges.y[n] = x, y
    edges.u[n], edges.v[n] = state.member[at_x], state.member[at_y]
    edges.depth_x[n], edges.depth_y[n] = hops.depth[at_x], hops.depth[at_y]
    edges.contribution[n] = join_within(state, hops, x, y, hops.depth[at_x], hops.depth[at_y])
    edges.following[n], edges.first[x] = edges.first[x], n
    edges.length[0] += 1
    use_port(state, hops, x)
    use_port(state, hops, y)


@kernel
def choose_short(state: GreedyState, hops: HopTrees, rows: HopRows, edges: HopEdges, turns: int) -> int:
    """Add best edges for so many turns, or until none is left; the heap is ordered."""
    for _ in range(turns):
        if rows.size[0] == 0:
            return DONE
        row = np.int64(rows.row[0])
        scanned = rows.is_bound[row]
        if scanned:
            _scan(state, hops, rows, row)
        best, position = _best_of_row(state, hops, rows, row)
        bound_1, bound_2 = rows.bound_1[row], rows.bound_2[row]
        pair = NEVER
        if position >= 0:
            pair = (row << 32) | rows.partner[row, position]
        if best > bound_1 or (best == bound_1 and pair > bound_2):
            rows.key_1[row], rows.key_2[row], rows.is_bound[row] = bound_1, bound_2, True
        elif best == NEVER:
            rows.size[0] -= 1
            rows.row[0] = rows.row[rows.size[0]]
        elif best == rows.key_1[row] and pair == rows.key_2[row]:
            _take(state, hops, edges, row, np.int64(rows.partner[row, position]))
            continue
        else:
            rows.key_1[row], rows.key_2[row], rows.is_bound[row] = best, pair, False
        settle(rows, 0)
    return PAUSED
