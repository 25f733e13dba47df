"""The search on hitting-set problems, whose answers are found by trying all sets."""

from __future__ import annotations

import math
import threading
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom.base.solver.linear_program as linear
from drawing import examples
from topicloom.base.progress import SILENT, Silent
from topicloom.base.solver.branch_and_cut import BranchAndCut, SearchResult
from topicloom.base.solver.linear_program import Budget, LinearProgram, SumRow, Unfinished
from topicloom.errors import Interrupted

Sets = list[tuple[set[int], int]]


@st.composite
def demands(draw: st.DrawFn) -> tuple[int, Sets]:
    """Sets over up to 8 variables, each with how many of them must be chosen."""
    n = draw(st.integers(2, 8))
    own = st.sets(st.integers(0, n - 1), min_size=1)
    sets = draw(st.lists(own, min_size=1, max_size=10))
    return n, [(columns, draw(st.integers(1, min(2, len(columns))))) for columns in sets]


def brute(n: int, sets: Sets, most: dict[int, int] | None = None) -> int | None:
    """The fewest variables that meet all demands; `most` limits the sum of some sets, by their place."""
    for size in range(n + 1):
        for chosen in combinations(range(n), size):
            sums = [len(columns & set(chosen)) for columns, _ in sets]
            meets = all(total >= least for total, (_, least) in zip(sums, sets, strict=True))
            if meets and all(sums[place] <= cap for place, cap in (most or {}).items()):
                return size
    return None


def row_of(columns: set[int], least: float = -math.inf, most: float = math.inf) -> SumRow:
    return SumRow(np.array(sorted(columns), dtype=np.int32), least, most)


def searched(
    n: int, sets: Sets, *, rows: list[SumRow] | None = None, upper: float | None = None
) -> BranchAndCut:
    """A search that learns its demands one at a time, as they are violated."""

    def oracle(x):
        return [row_of(c, k) for c, k in sets if x[sorted(c)].sum() < k - 1e-6][:1]

    told = []
    search = BranchAndCut(
        n,
        rows or [],
        oracle,
        least=0,
        upper=n + 1 if upper is None else upper,
        budget=Budget(0, SILENT),
        tell=lambda bound, upper: told.append((bound, upper)),
    )
    return search


@examples(150)
@given(demands())
def test_the_search_finds_the_optimum_and_proves_it(case):
    """Otherwise a branch is cut that holds the optimum, or reduced costs fix too much."""
    n, sets = case
    search = searched(n, sets)
    assert search.root()
    assert search.bound <= brute(n, sets)
    search.minimise()
    assert search.bound == search.upper == brute(n, sets) == search.best.sum()
    assert all(search.best[sorted(columns)].sum() >= least for columns, least in sets)


@examples(100)
@given(demands(), st.data())
def test_a_search_for_a_target_decides_it(case, data):
    """FOUND and NONE are both proofs."""
    n, sets = case
    best = brute(n, sets)
    most = data.draw(st.integers(0, n))
    search = searched(n, sets)
    assert search.root()
    if most >= search.bound and search.best is None:
        assert search.search(most) is (SearchResult.FOUND if most >= best else SearchResult.NONE)
        assert search.bound <= best <= search.upper


@examples(60)
@given(demands(), st.integers(1, 3))
def test_rows_from_above_can_be_changed_and_asked_again(case, cap):
    """As the builder does when it raises the cap on the degrees."""
    n, sets = case
    everything = set(range(n))
    search = searched(n, sets, rows=[row_of(everything, most=cap)])
    for most in (cap, n):
        search.lp.change_row(0, -math.inf, most)
        search.restart(math.inf)
        best = brute(n, [*sets, (everything, 0)], {len(sets): most})
        possible = search.root() and (
            search.best is not None or search.search(math.inf) is SearchResult.FOUND
        )
        assert possible == (best is not None)
        if possible:
            search.minimise()
            assert search.bound == search.upper == best


def test_without_improvement_the_callers_solution_stands():
    """Otherwise a known optimum is replaced by nothing."""
    search = searched(2, [({0, 1}, 1)], upper=1)
    assert search.root()
    search.minimise()
    assert (search.bound, search.upper, search.best) == (1, 1, None)


def test_a_number_of_nodes_ends_the_search_undecided():
    """An odd ring: the linear optimum is 2.5, so one node settles nothing about 3 or less."""
    ring = [({i, (i + 1) % 5}, 1) for i in range(5)]
    search = searched(5, ring)
    assert search.root() and search.bound == 3
    assert search.search(3, nodes=0) is SearchResult.OPEN
    search.minimise()
    assert search.upper == 3


def test_a_target_that_nothing_meets_raises_the_bound_by_one():
    """The vertex cover of six nodes, all linked: the linear optimum is 3, the true one 5."""
    search = searched(6, [(set(pair), 1) for pair in combinations(range(6), 2)])
    assert search.root() and search.bound == 3
    for most in (3, 4):
        assert search.search(most) is SearchResult.NONE
        assert search.bound == most + 1
    search.minimise()
    assert search.bound == search.upper == 5


def test_time_that_is_over_is_told_and_charged_without_a_clock():
    """A caller whose clock stands still is charged what the library says it used."""
    budget = Budget(1.0, SILENT)
    program = LinearProgram(2, budget)
    program.add_rows([row_of({0, 1}, 1)])
    assert program.solve() and program.value == pytest.approx(1)
    budget.solving = 2.0
    with pytest.raises(Unfinished):
        program.solve()
    assert Budget(0, SILENT).left() == math.inf


def test_a_cutoff_refuses_what_lies_above():
    """A solution above the cutoff must not be taken for one."""
    program = LinearProgram(3, Budget(0, SILENT))
    program.add_rows([row_of({0, 1}, 1), row_of({2}, 1)])
    assert program.solve(2.0) and not program.solve(1.9)
    program.add_rows([row_of({0, 1, 2}, 4)])
    assert not program.solve()


class Stopping(Silent):
    """Asks to stop from the `after`-th question on."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.left = after

    def should_stop(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_a_request_to_stop_is_seen_before_a_run():
    program = LinearProgram(1, Budget(0, Stopping(1)))
    assert program.solve()
    with pytest.raises(Interrupted):
        program.solve()


def test_a_request_to_stop_reaches_a_run_under_way(monkeypatch):
    """Otherwise Ctrl-C waits for a long run to end, or leaves its thread behind."""
    monkeypatch.setattr(linear, "POLL", 1e-4)
    rng = np.random.default_rng(1)
    n = 3000
    rows = [row_of(set(rng.choice(n, 60, replace=False).tolist()), 1) for _ in range(1500)]
    program = LinearProgram(n, Budget(0, Stopping(2)))
    program.add_rows(rows)  # a second of work or so
    before = threading.active_count()
    with pytest.raises(Interrupted):
        program.solve()
    assert program.budget.progress.left == -1  # the third question: the first one was before the run
    assert threading.active_count() == before
