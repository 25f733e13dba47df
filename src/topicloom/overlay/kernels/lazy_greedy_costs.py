"""Lazy greedy choice of edges that have costs, over single nodes: exact and simple, for smaller instances.

Every row (a node with its partners of larger number) stands in a heap with the best pair it had when it was
last scanned. Contributions only fall and degrees only rise, so no pair ever gets better: a row whose pair
still has the same key when it comes to the top holds the best pair of all, otherwise it is scanned again.
Pairs are ranked by these words, smaller is better:

    tie      -contribution,         cost,  not twins | larger degree,  smaller node,  larger node
    weight   -contribution / cost,  0,     not twins | larger degree,  smaller node,  larger node
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Floats, Ints, Longs, pointers
from topicloom.base.kernels.jit import kernel
from topicloom.overlay.kernels.best_partners import NOT_TWINS, clear_banned, count_in_places
from topicloom.overlay.kernels.greedy_state import GreedyState
from topicloom.overlay.kernels.lazy_greedy import LEVEL_DONE, PAUSED, ChosenEdges, take_edge
from topicloom.overlay.model.constraints import NodePairs


class PairCosts(NamedTuple):
    """What pairs cost, by their smaller node; a pair that is not listed costs 1."""

    ptr: Longs
    other: Ints
    cost: Floats
    scratch: Floats  # node -> 1, but during the scan of a row its pairs' costs


class BestPairs(NamedTuple):
    """For each row its best pair at the last scan (partner -1: never scanned), and the heap of rows."""

    partner: Ints
    cost: Floats
    word_1: Floats
    word_2: Floats
    word_3: Longs
    heap: Ints
    size: Longs  # an array of one


def new_pair_costs(priced: NodePairs, costs: Floats, n_nodes: int) -> PairCosts:
    """Return the costs of canonical pairs, as the kernel reads them."""
    return PairCosts(pointers(priced.u, n_nodes), np.array(priced.v), np.array(costs), np.ones(n_nodes))


def new_best_pairs(lowest: Ints, limit: int) -> BestPairs:
    """Return rows that are not scanned yet: each stands before everything that a scan could give it."""
    n_nodes = len(lowest)
    rows = np.flatnonzero(lowest < limit).astype(np.int32)
    heap = np.zeros(n_nodes, np.int32)
    heap[: len(rows)] = rows
    return BestPairs(
        np.full(n_nodes, -1, np.int32),
        np.ones(n_nodes),
        np.full(n_nodes, -np.inf),
        np.zeros(n_nodes),
        np.zeros(n_nodes, np.int64),
        heap,
        np.array([len(rows)], np.int64),
    )


@kernel
def _before(best: BestPairs, a: int, b: int) -> bool:
    if best.word_1[a] != best.word_1[b]:
        return best.word_1[a] < best.word_1[b]
    if best.word_2[a] != best.word_2[b]:
        return best.word_2[a] < best.word_2[b]
    if best.word_3[a] != best.word_3[b]:
        return best.word_3[a] < best.word_3[b]
    return a < b


@kernel
def _settle_top(best: BestPairs) -> None:
    """Restore the order of the heap after its first row got a worse key."""
    i, row = 0, best.heap[0]
    while True:
        child = 2 * i + 1
        if child >= best.size[0]:
            break
        if child + 1 < best.size[0] and _before(best, best.heap[child + 1], best.heap[child]):
            child += 1
        if not _before(best, best.heap[child], row):
            break
        best.heap[i] = best.heap[child]
        i = child
    best.heap[i] = row


@kernel
def _drop_top(best: BestPairs) -> None:
    best.size[0] -= 1
    best.heap[0] = best.heap[best.size[0]]
    _settle_top(best)


@kernel
def _words(contribution: Any, cost: Any, weigh: Any) -> tuple[Any, Any]:
    if weigh:
        return -(contribution / cost), 0.0
    return -float(contribution), cost


@kernel
def _rank(state: GreedyState, row: int, other: int) -> Any:
    rank = np.int64(max(state.lowest[row], state.lowest[other]))
    return rank if state.twin_class[row] == state.twin_class[other] else rank | NOT_TWINS


@kernel
def _still_true(state: GreedyState, best: BestPairs, row: int, weigh: bool, limit: int) -> bool:
    """Has the row's best pair the key it had at the scan?"""
    other = best.partner[row]
    if other < 0 or state.lowest[other] >= limit:
        return False
    if _rank(state, row, other) != best.word_3[row]:
        return False
    now = 0
    i, j = state.slot_ptr[row], state.slot_ptr[other]
    while i < state.slot_ptr[row + 1] and j < state.slot_ptr[other + 1]:
        s, t = state.slot_topic[i], state.slot_topic[j]
        now += s == t and state.slot_label[i] != state.slot_label[j]
        i += s <= t
        j += t <= s
    return now > 0 and _words(now, best.cost[row], weigh)[0] == best.word_1[row]


@kernel
def _scan(
    state: GreedyState, costs: PairCosts, best: BestPairs, row: int, weigh: bool, limit: int, counts: NDArray
) -> None:
    """Find the row's best pair as things stand (partner -1: it has none)."""
    count_in_places(state, row, counts)
    clear_banned(state, row, counts)
    for i in range(costs.ptr[row], costs.ptr[row + 1]):
        costs.scratch[costs.other[i]] = costs.cost[i]
    best.partner[row] = -1
    for other in range(row + 1, len(state.lowest)):
        count = np.int64(counts[other])
        counts[other] = 0
        if count == 0 or state.lowest[other] >= limit:
            continue
        cost = costs.scratch[other]
        first, second = _words(count, cost, weigh)
        third = _rank(state, row, other)
        if best.partner[row] >= 0:
            if first > best.word_1[row]:
                continue
            if first == best.word_1[row]:
                if second > best.word_2[row]:
                    continue
                if second == best.word_2[row] and third >= best.word_3[row]:
                    continue
        best.partner[row], best.cost[row] = other, cost
        best.word_1[row], best.word_2[row], best.word_3[row] = first, second, third
    for i in range(costs.ptr[row], costs.ptr[row + 1]):
        costs.scratch[costs.other[i]] = 1.0


@kernel
def choose_costed(
    state: GreedyState,
    costs: PairCosts,
    best: BestPairs,
    chosen: ChosenEdges,
    weigh: bool,
    limit: int,
    scans: int,
    counts: NDArray,
) -> int:
    """Add best edges until none is left; comes back after `scans` scans too, to be called again.

    `limit`: a node of that degree takes no edge. `counts` is scratch, zero before and after.
    """
    while best.size[0] > 0:
        row = best.heap[0]
        if state.lowest[row] >= limit:
            _drop_top(best)
        elif _still_true(state, best, row, weigh, limit):
            other = best.partner[row]
            take_edge(state, chosen, row, other, row, other)
        else:
            if scans == 0:
                return PAUSED
            scans -= 1
            _scan(state, costs, best, row, weigh, limit, counts)
            if best.partner[row] < 0:
                _drop_top(best)
            else:
                _settle_top(best)
    return LEVEL_DONE
