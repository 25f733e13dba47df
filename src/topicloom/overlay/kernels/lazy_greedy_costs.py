"""Lazy greedy choice of edges that have costs, over single nodes: exact and simple, for smaller instances.

Every row (a node with its partners of larger number) stands with the best pair it had when it was last
scanned. Contributions only fall and degrees only rise, so no pair ever gets better: if the pair of the best
row still has the same key it is the best pair of all, otherwise the row is scanned again. A scan looks at all
later nodes, so looking through all rows for the best one costs no more. Pairs are ranked by these words,
smaller is better:

    tie      -contribution,         cost,  not twins | larger degree,  smaller node,  larger node
    weight   -contribution / cost,  0,     not twins | larger degree,  smaller node,  larger node
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Bools, Floats, Ints, Longs, pointers
from topicloom.base.kernels.jit import inlined, kernel, part
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
    """For each row its best pair at the last scan (partner -1: never scanned); a row without one is out."""

    partner: Ints
    cost: Floats
    word_1: Floats
    word_2: Floats
    word_3: Longs
    out: Bools


def new_pair_costs(priced: NodePairs, costs: Floats, n_nodes: int) -> PairCosts:
    """Return the costs of canonical pairs, as the kernel reads them."""
    return PairCosts(pointers(priced.u, n_nodes), np.array(priced.v), np.array(costs), np.ones(n_nodes))


def new_best_pairs(lowest: Ints, limit: int) -> BestPairs:
    """Return rows that are not scanned yet: each stands before everything that a scan could give it."""
    n_nodes = len(lowest)
    return BestPairs(
        np.full(n_nodes, -1, np.int32),
        np.ones(n_nodes),
        np.full(n_nodes, -np.inf),
        np.zeros(n_nodes),
        np.zeros(n_nodes, np.int64),
        lowest >= limit,
    )


@part
def _key(best: BestPairs, row: int) -> tuple[Any, Any, Any]:
    return best.word_1[row], best.word_2[row], best.word_3[row]


@part
def _best_row(best: BestPairs) -> int:
    """Return the row of the smallest words, the smallest of several; -1 if all are out."""
    found = -1
    for row in range(len(best.out)):
        if not best.out[row] and (found < 0 or _key(best, row) < _key(best, found)):
            found = row
    return found


@inlined
def _words(contribution: Any, cost: Any, weigh: Any) -> tuple[Any, Any]:
    if weigh:
        return -(contribution / cost), 0.0
    return -float(contribution), cost


@inlined
def _rank(state: GreedyState, row: int, other: int) -> Any:
    rank = np.int64(max(state.lowest[row], state.lowest[other]))
    return rank if state.twin_class[row] == state.twin_class[other] else rank | NOT_TWINS


@part
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


@part
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
        if best.partner[row] < 0 or (first, second, third) < _key(best, row):
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
    row = _best_row(best)
    while row >= 0:
        if state.lowest[row] >= limit:
            best.out[row] = True
        elif _still_true(state, best, row, weigh, limit):
            other = best.partner[row]
            take_edge(state, chosen, row, other, row, other)
        else:
            if scans == 0:
                return PAUSED
            scans -= 1
            _scan(state, costs, best, row, weigh, limit, counts)
            best.out[row] = best.partner[row] < 0
        row = _best_row(best)
    return LEVEL_DONE
