"""The evaluator against the definition, message by message."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from content_strategies import content_problems
from naive import content_cost as naive
from parts import called
from topicloom.content.kernels.assignment import move
from topicloom.content.kernels.assignment import move_change as move_change_part
from topicloom.content.planners.broker_trees import CODES, CoreModel
from topicloom.content.planners.cost import measure_cost, search_arrays, trees_of

move_change = called(move_change_part)


def assignments(problem):
    return st.lists(
        st.integers(0, problem.n_brokers - 1), min_size=problem.n_users, max_size=problem.n_users
    ).map(lambda brokers: np.array(brokers, dtype=np.int32))


@given(content_problems(), st.data(), st.sampled_from(["free", "unicast", "steiner"]))
def test_cost_is_that_of_the_definition(problem, data, model):
    """Publishers that share a tree, first and last subscribers, own messages: all must add up."""
    assignment = data.draw(assignments(problem))
    access, core = naive.cost(problem, assignment.tolist(), model)
    found = measure_cost(problem, assignment, model)
    assert (found.access, found.core) == (pytest.approx(access), pytest.approx(core))
    loads = np.bincount(assignment, weights=problem.demand, minlength=problem.n_brokers)
    assert found.loads == pytest.approx(loads)
    assert found.overflow == pytest.approx(np.maximum(loads - problem.capacity, 0).sum(), abs=1e-6)


@given(content_problems(), st.data(), st.sampled_from(list(CODES)))
def test_a_move_changes_the_cost_by_what_was_foretold(problem, data, model):
    """Local search stands on this: a wrong change would lead it to dearer plans, unseen."""
    assignment = data.draw(assignments(problem))
    fixed, state = search_arrays(problem, CoreModel.of(problem.core, model), assignment)
    for _ in range(4):
        user = data.draw(st.integers(0, problem.n_users - 1))
        target = data.draw(st.integers(0, problem.n_brokers - 1))
        before = measure_cost(problem, state.broker, model).total
        change = move_change(fixed, state, user, target)
        move(fixed, state, user, target)
        after = measure_cost(problem, state.broker, model)
        assert after.total - before == pytest.approx(change, abs=1e-9)
        assert state.cost.sum() == pytest.approx(after.core, abs=1e-9)
        assert state.load == pytest.approx(after.loads, abs=1e-9)


@given(content_problems(), st.data(), st.sampled_from(list(CODES)))
def test_trees_carry_all_core_cost(problem, data, model):
    """Rates times edges of the listed trees must be the core cost: no tree is missing, none too many."""
    assignment = data.draw(assignments(problem))
    published = naive.rates(problem)
    total = 0.0
    seen = set()
    for broker, channel, edges in trees_of(problem, assignment, model):
        assert (broker, channel) not in seen
        seen.add((broker, channel))
        rate = sum(
            published[user].get(channel, 0.0) for user in range(problem.n_users) if assignment[user] == broker
        )
        assert rate > 0
        total += rate * sum(problem.core[a, b] for a, b in edges)
    assert total == pytest.approx(measure_cost(problem, assignment, model).core)
