"""What moves could save at most: none that saves is passed over, and none is left when a search has ended."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from content_strategies import content_problems
from parts import called
from topicloom.base.progress import SILENT
from topicloom.content.kernels import assignment, move_bounds
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.assignment_search import AssignmentSearch
from topicloom.content.planners.broker_trees import CODES, CoreModel
from topicloom.content.planners.cost import measure_cost

move_change = called(assignment.move_change)
may_save, worth_vacating = called(move_bounds.may_save), called(move_bounds.worth_vacating)
FAR = 99.0
RING = [[0, 1, 2, 1.5], [1, 0, 1, 2], [2, 1, 0, 1], [1.5, 2, 1, 0]]
"""Four brokers in a ring; the shared tree is the path 0, 1, 2, 3."""
STAR = [[0, 2, 2, 1], [2, 0, 2, 1], [2, 2, 0, 1], [1, 1, 1, 0]]
"""Three brokers around a fourth."""


def search_from(problem, model, start):
    core = CoreModel.of(problem.core, model)
    return AssignmentSearch.of(
        problem, core, np.array(start, np.int32), tries=problem.n_brokers, progress=SILENT
    )


def drawn_search(data, problem, model):
    brokers = st.integers(0, problem.n_brokers - 1)
    return search_from(
        problem, model, data.draw(st.lists(brokers, min_size=problem.n_users, max_size=problem.n_users))
    )


def small_problem(access, core, rates, wants, capacity=FAR):
    """`rates` are (user, channel, rate), `wants` (user, first channel, last channel)."""
    n_users, n_brokers = len(access), len(core)
    return ContentProblem.of(
        [f"u{number}" for number in range(n_users)],
        [f"b{number}" for number in range(n_brokers)],
        np.broadcast_to(np.array(capacity, dtype=float), n_brokers),
        np.array(access, dtype=float),
        np.array(core, dtype=float),
        1 + max(channel for _, channel, _ in rates),
        rates=tuple(zip(*rates, strict=True)),
        wants=tuple(zip(*wants, strict=True)),
    )


@given(content_problems(), st.data(), st.sampled_from(list(CODES)), st.booleans())
def test_no_move_that_saves_is_passed_over(problem, data, model, anywhere):
    search = drawn_search(data, problem, model)
    fixed, state = search.fixed, search.state
    for user in range(problem.n_users):
        if any(may_save(fixed, state, user, anywhere, 0.0, thorough) for thorough in (False, True)):
            continue
        for broker in range(problem.n_brokers):
            if anywhere or state.load[broker] + problem.demand[user] <= fixed.capacity[broker]:
                assert move_change(fixed, state, user, broker) >= -1e-9, (user, broker)


@given(
    content_problems(max_users=5, max_brokers=4), st.data(), st.sampled_from(["shared", "unicast", "steiner"])
)
def test_no_users_whose_leaving_saves_are_passed_over(problem, data, model):
    """Wherever they go. Free trees may get lighter by several new brokers: there it is only a hope."""
    search = drawn_search(data, problem, model)
    fixed, state = search.fixed, search.state
    home = data.draw(st.sampled_from(state.broker.tolist()))
    leaving = np.flatnonzero(state.broker == home).astype(np.int32)[: data.draw(st.integers(1, 3))]
    if worth_vacating(fixed, state, home, leaving, 0.0):
        return
    before = measure_cost(problem, state.broker, model).total
    others = [broker for broker in range(problem.n_brokers) if broker != home]
    fits = state.load + problem.demand[leaving][:, None] <= fixed.capacity
    for targets in itertools.product(others, repeat=len(leaving)):
        if all(fits[place, target] for place, target in enumerate(targets)):
            after = state.broker.copy()
            after[leaving] = targets
            assert measure_cost(problem, after, model).total >= before - 1e-9, targets


def test_a_publisher_follows_the_last_subscriber_it_sent_to():
    """Unicast: the home is no longer sent to, and the publications no longer start there."""
    problem = small_problem(
        [[16, 8], [12, 12]], [[0, 6], [6, 0]], [(1, 0, 0.25)], [(0, 0, 0), (1, 0, 0)], capacity=1.5
    )
    search = search_from(problem, "unicast", [0, 0])
    search.reach_local_optimum()
    assert search.state.broker.tolist() == [1, 1]


def test_users_leave_together_that_send_to_each_other():
    """Unicast: neither saves alone, together they need not be sent to where they were."""
    problem = small_problem(
        [[0, 1], [0, 1], [FAR, 0]], [[0, 6], [6, 0]], [(0, 0, 1.0)], [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
    )
    search = search_from(problem, "unicast", [0, 0, 1])
    assert search.descend() == 0.0
    assert search.gather() == pytest.approx(-4.0)
    assert search.state.broker.tolist() == [1, 1, 1]


def test_a_broker_that_leaves_the_shared_tree_saves_its_whole_path():
    """Brokers 0 and 3 are neighbours, but not on the tree: messages between them go over three links."""
    problem = small_problem(
        [[FAR, FAR, FAR, 0], [0, FAR, FAR, 2]], RING, [(0, 0, 1.0)], [(0, 0, 0), (1, 0, 0)]
    )
    search = search_from(problem, "shared", [3, 0])
    assert search.descend() == pytest.approx(-1.0)
    assert search.state.broker.tolist() == [3, 3]


def test_users_leave_the_shared_tree_together_for_its_whole_path():
    problem = small_problem(
        [[FAR, FAR, FAR, 0], [0, FAR, FAR, 1], [0, FAR, FAR, 1]],
        RING,
        [(0, 0, 1.0)],
        [(user, 0, 0) for user in range(3)],
    )
    search = search_from(problem, "shared", [3, 0, 0])
    assert search.descend() == 0.0
    assert search.gather() == pytest.approx(-1.0)
    assert search.state.broker.tolist() == [3, 3, 3]


def star_problem():
    """Users 0 to 2 stay on the brokers around; user 3 is as near to the one in the middle as to broker 0."""
    near = [[0 if user == broker else FAR for broker in range(4)] for user in range(3)]
    wants = [(user, 0, 0) for user in range(4)]
    return small_problem([*near, [0, FAR, FAR, 0]], STAR, [(0, 0, 1.0)], wants)


def test_a_user_makes_a_tree_lighter_by_a_new_broker():
    """Free: the spanning tree of three brokers weighs 4, with the one in the middle 3."""
    search = search_from(star_problem(), "free", [0, 1, 2, 0])
    assert search.descend() == 0.0
    search.reach_local_optimum()
    assert search.state.broker.tolist() == [0, 1, 2, 3]
    assert search.total == pytest.approx(3.0)


def test_a_user_takes_a_full_broker_to_make_a_tree_lighter():
    """User 4, who publishes to user 0, pays to make room for it, and that is less than what is saved."""
    star = star_problem()
    problem = small_problem(
        [*star.access, [1.5, FAR, FAR, 0]],
        STAR,
        [(0, 0, 1.0), (4, 1, 0.5)],
        [(0, 0, 1), (1, 0, 0), (2, 0, 0), (3, 0, 0)],
        capacity=[FAR, FAR, FAR, 1.0],
    )
    search = search_from(problem, "free", [0, 1, 2, 0, 3])
    search.reach_local_optimum()
    assert search.state.broker.tolist() == [0, 1, 2, 3, 0]


def test_a_publisher_outside_the_trees_counts_where_they_get_lighter():
    """Two brokers with subscribers and one with the publisher lie around the one in the middle."""
    problem = small_problem(
        [[0, FAR, FAR, FAR], [FAR, 0, FAR, FAR], [FAR, FAR, 0, FAR], [0, FAR, FAR, 0]],
        STAR,
        [(2, 0, 1.0)],
        [(0, 0, 0), (1, 0, 0), (3, 0, 0)],
    )
    search = search_from(problem, "free", [0, 1, 2, 0])
    search.reach_local_optimum()
    assert search.state.broker.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("price", [0.25, 0.5])
def test_search_goes_on_after_a_user_paid_to_leave_an_overload(price):
    """A pass may cost more than it saves, if brokers were overloaded; there is more to do all the same."""
    core = np.array([[0.0, 0.25, 0.25, 0.25, 0.25], *([[0.25, 0, 0, 0, 0]] * 4)])
    access = np.zeros((6, 5))
    access[1, 1] = price
    problem = small_problem(
        access,
        core,
        [(0, 0, 0.25), (2, 1, 0.25)],
        [(0, 0, 0), (1, 0, 1), (2, 0, 0)],
        capacity=[0.5, 0.75, 0, 0, 0],
    )
    search = search_from(problem, "free", [0, 0, 2, 0, 0, 0])
    search.reach_local_optimum()
    assert search.overflow == 0.0
    before = search.total
    assert search.descend() == 0.0
    assert search.total == before
