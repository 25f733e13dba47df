"""Random plans: drawn from the brokers with room, and from all of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from content_strategies import content_problems
from drawing import examples
from naive.content_plans import naive_random
from topicloom.base.seeds import generator
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.random_placement import plan_random


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
