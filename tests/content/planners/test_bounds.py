"""The lower bound lies below the cheapest plan, is worth having, and the judge of it can say no."""

from __future__ import annotations

from math import isinf
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import topicloom.content.planners.bounds as bounds
from content_strategies import content_problems
from drawing import examples
from naive.content_plans import cheapest
from topicloom.base.progress import Silent
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.bounds import lower_bound
from topicloom.content.planners.broker_trees import CODES
from topicloom.content.planners.cost import measure_cost
from topicloom.content.planners.placement import plan_greedy_packing
from topicloom.content.workload import generate_content
from topicloom.errors import Interrupted


def claims_too_much(problem: ContentProblem, core_model: str, best: float) -> bool:
    return lower_bound(problem, core_model).total > best


@examples(120)
@given(content_problems(max_users=5, max_brokers=4, max_channels=4), st.sampled_from(list(CODES)))
def test_no_plan_within_the_capacities_is_cheaper(problem, core_model):
    """Otherwise "within x% of optimal" is a lie."""
    best = cheapest(problem, core_model)
    assume(not isinf(best))
    assert not claims_too_much(problem, core_model, best)


def two_far_users() -> ContentProblem:
    """A publisher and a subscriber, each at its own broker; the way between them costs 1."""
    return ContentProblem.of(
        ["i", "j"], ["a", "b"], [3.0, 3.0], [[0, 5], [5, 0]], [[0, 1], [1, 0]], 1,
        rates=([0, 1], [0, 0], [1.0, 2.0]), wants=([0, 1], [0, 0], [0, 0]),
    )  # fmt: skip


@pytest.mark.parametrize("core_model", list(CODES))
def test_the_judge_rejects_a_bound_that_claims_more(core_model):
    """Capacities put one user on each broker: all 3 messages/s cross the core, and the bound sees that."""
    problem = two_far_users()
    best = cheapest(problem, core_model)
    assert best == 3.0
    assert lower_bound(problem, core_model).total == pytest.approx(3.0)
    with patch.object(bounds, "_least_weights", lambda model: np.array([0.0, 0.0, 1.01])):
        assert claims_too_much(problem, core_model, best)


def test_a_wrong_opening_price_would_be_noticed():
    """Without taking back the root's share the second core bound counts a message that never travels."""
    problem = ContentProblem.of(
        ["i", "j"], ["a", "b"], [99.0, 99.0], [[0, 5], [0, 5]], [[0, 1], [1, 0]], 1,
        rates=([0], [0], [1.0]), wants=([1], [0], [0]),
    )  # fmt: skip
    assert cheapest(problem, "free") == 0.0
    assert not claims_too_much(problem, "free", 0.0)
    real = bounds._ascend
    with patch.object(bounds, "_ascend", lambda *given: (real(*given)[0] + 0.1, 1)):
        assert claims_too_much(problem, "free", 0.0)


def test_tolls_beat_the_sum_of_the_cheapest_links():
    """All users like the first broker, which has room for half of them."""
    problem = generate_content(200, 2, 5, seed=1).problem
    access = np.column_stack([np.zeros(200), np.linspace(1, 2, 200)])
    crowded = ContentProblem.of(
        problem.users, problem.brokers, np.array([0.5, 0.6]) * problem.demand.sum(), access, problem.core, 5,
        rates=(np.repeat(np.arange(200), np.diff(problem.rate_ptr)), problem.rate_channels, problem.rates),
        wants=(np.repeat(np.arange(200), np.diff(problem.want_ptr)), problem.want_first, problem.want_last),
    )  # fmt: skip
    cost = measure_cost(crowded, plan_greedy_packing(crowded).assignment)
    assert cost.overflow == 0
    bound = lower_bound(crowded)
    assert 0.6 * cost.access < bound.access <= cost.access


def test_on_the_papers_workload_packing_is_near_the_bound():
    """With room to spare the bound tells so: it would be useless if it were far below."""
    problem = generate_content(600, 10, 10, seed=1).problem
    cost = measure_cost(problem, plan_greedy_packing(problem).assignment)
    bound = lower_bound(problem)
    assert bound.total <= cost.total <= 1.15 * bound.total
    assert bound.core > 0.5 * cost.core


def test_the_search_for_a_bound_stops_on_request():
    class Stopping(Silent):
        def should_stop(self) -> bool:
            return True

    with pytest.raises(Interrupted):
        lower_bound(two_far_users(), progress=Stopping())
