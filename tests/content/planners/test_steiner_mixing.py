"""Steiner-tree mixing against the paper's phases word by word, a tree per publisher, one member at a time."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given

import topicloom.content.planners.steiner_mixing as mixing
from content_strategies import content_problems
from drawing import examples
from naive.content_plans import Tables, naive_mixing, naive_tree
from topicloom.base.seeds import generator
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.steiner_mixing import plan_steiner_mixing
from topicloom.content.workload import generate_content
from topicloom.errors import UsageError


@examples(100)
@given(content_problems(max_brokers=6))
def test_plans_are_those_of_the_paper(problem):
    """Otherwise a tree grows from the wrong broker or in the wrong order, or weights are added up wrongly."""
    draws = generator(3, "content", "steiner-mixing").random(problem.n_users).tolist()
    assert plan_steiner_mixing(problem, seed=3).assignment.tolist() == naive_mixing(problem, draws)
    assert plan_steiner_mixing(problem, rule="argmax").assignment.tolist() == naive_mixing(problem, None)


@pytest.mark.parametrize("ratio", [1.0, 20.0])
def test_drawn_problems_for_any_number_of_threads_and_slices(ratio):
    """Otherwise the result depends on who ran what; at ratio 20 trees reach through many brokers."""
    problem = generate_content(60, 8, 6, ratio=ratio, seed=1).problem
    plans = []
    for threads, steps in ((1, mixing.SLICE_STEPS), (3, 1)):
        with (
            patch.object(mixing, "default_threads", lambda t=threads: t),
            patch.object(mixing, "SLICE_STEPS", steps),
        ):
            plans.append(plan_steiner_mixing(problem, rule="argmax").assignment.tolist())
    assert plans[0] == plans[1] == naive_mixing(problem, None)


def test_publishers_on_one_broker_share_a_tree():
    problem = generate_content(60, 4, 6, seed=1).problem
    assert 0 < plan_steiner_mixing(problem).report["trees"] <= 4 * 6


def test_a_tree_grows_from_all_its_brokers():
    """Brokers on a line at 0, 10, 11: the user beyond 11 is reached from 10, where another is, not from 0."""
    spots = np.array([0.0, 10.0, 11.0])
    core = np.abs(spots[:, None] - spots)
    access = np.array([[0.0, 99.0, 99.0], [99.0, 1.0, 99.0], [99.0, 99.0, 1.0]])
    problem = ContentProblem.of(
        ["i", "j", "k"],
        ["a", "b", "c"],
        [9] * 3,
        access,
        core,
        1,
        rates=([0], [0], [1.0]),
        wants=([1, 2], [0, 0], [0, 0]),
    )
    assert naive_tree(Tables(problem), 0, [1, 2]) == {1: 1, 2: 2}
    assert plan_steiner_mixing(problem).assignment.tolist() == [0, 1, 2]


def test_an_unknown_rule_is_refused():
    with pytest.raises(UsageError, match="rule=best"):
        plan_steiner_mixing(generate_content(3, 2, 2).problem, rule="best")
