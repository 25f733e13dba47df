"""Greedy packing against Algorithm 1 word by word, and the one rule of capacity; random plans."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from content_strategies import content_problems
from drawing import examples
from naive.content_plans import naive_packing, naive_random
from topicloom.base.seeds import generator
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.cost import measure_cost
from topicloom.content.planners.placement import plan_greedy_packing, plan_random


def full_brokers(demand: float, capacity: list[float]) -> ContentProblem:
    """A user that sends `demand` to two others, and brokers of the same price."""
    brokers = len(capacity)
    return ContentProblem.of(
        ["i", "j", "k"],
        [f"b{b}" for b in range(brokers)],
        capacity,
        np.ones((3, brokers)),
        np.ones((brokers, brokers)) - np.eye(brokers),
        1,
        rates=([0], [0], [demand]),
        wants=([1, 2], [0, 0], [0, 0]),
    )


@examples(150)
@given(content_problems())
def test_every_user_takes_the_cheapest_broker_with_room(problem):
    """Otherwise loads are not kept, or ties and overflow go elsewhere than promised."""
    plan = plan_greedy_packing(problem)
    assignment, unplaced = naive_packing(problem)
    assert plan.assignment.tolist() == assignment
    assert plan.report["users_without_room"] == unplaced


def test_users_without_room_are_counted_and_spread_by_free_room():
    """Otherwise a user is lost, as in the printed algorithm, or all pile up on the first broker."""
    plan = plan_greedy_packing(full_brokers(4.0, [1.0, 3.0, 2.0]))
    assert plan.assignment.tolist() == [1, 2, 0]
    assert plan.report["users_without_room"] == 3
    assert measure_cost(full_brokers(4.0, [1.0, 3.0, 2.0]), plan.assignment).overflow == 6.0


def test_a_broker_that_is_full_to_the_last_digit_takes_its_user():
    """0.1 + 0.1 + 0.1 is above 0.3 by rounding only; without the slack the third user would be sent away."""
    problem = full_brokers(0.1, [0.3, 9.0])
    assert 0.1 + 0.1 + 0.1 > 0.3
    plan = plan_greedy_packing(problem)
    assert plan.assignment.tolist() == [0, 0, 0]
    assert measure_cost(problem, plan.assignment).overflow == 0


def test_the_slack_is_for_rounding_and_nothing_else():
    problem = full_brokers(0.1, [0.29999, 9.0])
    assert plan_greedy_packing(problem).assignment.tolist() == [0, 0, 1]
    assert np.all(problem.load_limits < problem.capacity * (1 + 1e-8))


@examples(60)
@given(content_problems())
def test_draws_pick_from_the_brokers_with_room(problem):
    """Otherwise a full broker is drawn, or some brokers more often than others."""
    draws = generator(5, "content", "random").random(problem.n_users).tolist()
    assert plan_random(problem, seed=5).assignment.tolist() == naive_random(problem, draws)


def test_all_brokers_are_equally_likely_and_seeds_differ():
    users, brokers = 4000, 5
    problem = ContentProblem.of(
        [f"u{i:04}" for i in range(users)],
        [f"b{b}" for b in range(brokers)],
        np.ones(brokers),
        np.zeros((users, brokers)),
        np.zeros((brokers, brokers)),
        1,
        rates=([], [], []),
        wants=([], [], []),
    )
    plan = plan_random(problem, seed=1)
    counts = np.bincount(plan.assignment, minlength=brokers)
    assert np.all(np.abs(counts - 800) < 6 * np.sqrt(800 * 0.8))
    assert plan.assignment.tolist() == plan_random(problem, seed=1).assignment.tolist()
    assert plan.assignment.tolist() != plan_random(problem, seed=2).assignment.tolist()
