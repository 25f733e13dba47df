"""The exact planner against trying everything, and what it says when it cannot or may not finish."""

from __future__ import annotations

from itertools import count
from math import isinf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from content_strategies import content_problems
from drawing import examples
from naive.content_plans import Tables, cheapest, naive_cost
from topicloom.base.progress import Silent
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.broker_trees import CODES
from topicloom.content.planners.cost import measure_cost
from topicloom.content.planners.exact import count_variables, plan_exact
from topicloom.content.workload import generate_content
from topicloom.errors import InputError, Interrupted, UsageError


class Ticking(Silent):
    """A clock that moves by one second whenever it is read."""

    def __init__(self) -> None:
        ticks = count()
        super().__init__(lambda: float(next(ticks)))


def packed_badly() -> ContentProblem:
    """Three users of demand 2, 2 and 4 and brokers of 5 and 3: one fits on each in every way but one."""
    return ContentProblem.of(
        ["i", "j", "k"], ["a", "b"], [5.0, 3.0], np.ones((3, 2)), [[0, 1], [1, 0]], 2,
        rates=([0, 1], [0, 1], [2.0, 2.0]), wants=([2], [0], [1]),
    )  # fmt: skip


@examples(120)
@given(content_problems(max_users=5, max_brokers=4, max_channels=4), st.sampled_from(list(CODES)))
def test_no_plan_is_cheaper(problem, core_model):
    """Otherwise a row forbids the optimum, or a cost is missing."""
    best = cheapest(problem, core_model)
    if isinf(best):
        with pytest.raises(InputError, match="no assignment keeps every broker within its capacity"):
            plan_exact(problem, core_model=core_model)
        return
    plan = plan_exact(problem, core_model=core_model)
    cost = naive_cost(Tables(problem), core_model, tuple(plan.assignment.tolist()))
    assert cost == pytest.approx(best, rel=1e-6, abs=1e-9)
    assert measure_cost(problem, plan.assignment, core_model).overflow == 0
    assert plan.report["optimal"]
    assert plan.bound is not None and best * (1 - 1e-5) - 1e-9 <= plan.bound <= best + 1e-9
    assert plan.report["variables"] == count_variables(problem)


def test_brokers_that_are_exactly_full_are_no_trouble():
    """With the slack of the capacities in its rows the library found this infeasible."""
    problem = ContentProblem.of(
        ["i", "j", "k"], ["a", "b"], [0.25, 0.5], [[0, 0], [0, 0.25], [0, 0]], np.zeros((2, 2)), 1,
        rates=([1], [0], [0.25]), wants=([0, 2], [0, 0], [0, 0]),
    )  # fmt: skip
    plan = plan_exact(problem)
    assert plan.assignment[1] == 0 and plan.report["optimal"] and plan.bound == 0.0


def test_demands_that_cannot_be_divided_are_an_input_error():
    """Total capacity is enough, and yet no assignment fits."""
    problem = packed_badly()
    assert problem.demand.sum() == problem.capacity.sum() == 8.0
    with pytest.raises(InputError, match="no assignment keeps every broker within its capacity"):
        plan_exact(problem)


def test_large_problems_are_refused_with_a_way_out():
    with pytest.raises(
        UsageError, match="at most 20,000 variables, this problem has 331,082: .*use `algorithm=local-search`"
    ):
        plan_exact(generate_content(20, 8, 20, seed=1).problem)
    with pytest.raises(UsageError, match="has over .*use `algorithm=local-search`"):
        plan_exact(generate_content(3000, 100, 20, seed=1).problem)


def test_a_time_limit_leaves_the_best_start_without_a_false_proof():
    """By this clock the time is over before the search begins."""
    problem = generate_content(7, 3, 6, seed=1).problem
    plan = plan_exact(problem, time_limit=1.0, progress=Ticking())
    assert measure_cost(problem, plan.assignment).overflow == 0
    assert not plan.report["optimal"] and plan.bound is None


def test_a_search_cut_short_gives_a_bound_below_its_cost():
    problem = generate_content(10, 4, 20, ratio=0.1, seed=1).problem
    plan = plan_exact(problem, time_limit=0.4)
    cost = measure_cost(problem, plan.assignment).total
    assert plan.bound is None or plan.bound <= cost
    assert not plan.report["optimal"] or (plan.bound is not None and plan.bound > cost * (1 - 1e-5))


def test_a_request_to_stop_reaches_the_library():
    class Later(Silent):
        left = 3

        def should_stop(self) -> bool:
            self.left -= 1
            return self.left < 0

    with pytest.raises(Interrupted):
        plan_exact(generate_content(12, 4, 20, ratio=0.1, seed=1).problem, progress=Later())
