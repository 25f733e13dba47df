"""The moves of local search: each finds what it claims, keeps the tables right, makes no plan dearer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from content_strategies import content_problems
from drawing import examples
from naive.content_cost import wants
from parts import called
from topicloom.base.progress import SILENT
from topicloom.content.kernels import assignment
from topicloom.content.kernels.user_moves import NOWHERE, best_move
from topicloom.content.planners.assignment_search import AssignmentSearch, interest_centers, near_brokers
from topicloom.content.planners.broker_trees import CODES, CoreModel
from topicloom.content.planners.cost import measure_cost
from topicloom.content.workload import generate_content

move_change = called(assignment.move_change)
models = st.sampled_from(list(CODES))


def drawn_search(data, problem, model):
    brokers = st.integers(0, problem.n_brokers - 1)
    start = data.draw(st.lists(brokers, min_size=problem.n_users, max_size=problem.n_users))
    core = CoreModel.of(problem.core, model)
    return AssignmentSearch.of(
        problem, core, np.array(start, np.int32), tries=problem.n_brokers, progress=SILENT
    )


@given(content_problems(), st.data(), models, st.booleans())
def test_best_move_beats_all_brokers_that_join_no_tree(problem, data, model, anywhere):
    """Its change must be true, and no broker that has all the user wants, nor any if all must join, better.

    Brokers that would have to join a tree are ranked by an estimate and may be missed behind a known one.
    """
    search = drawn_search(data, problem, model)
    fixed, state = search.fixed, search.state
    user = data.draw(st.integers(0, problem.n_users - 1))
    target, change = best_move(fixed, state, user, problem.n_brokers, anywhere)
    room = problem.load_limits
    open_to = [
        broker
        for broker in range(problem.n_brokers)
        if broker != state.broker[user]
        and (anywhere or state.load[broker] + problem.demand[user] <= room[broker])
    ]
    if not open_to:
        assert target == NOWHERE
        return
    wanted = [channel for channel in wants(problem)[user] if problem.channel_rate[channel] > 0]
    known = [broker for broker in open_to if all(state.wanted[channel, broker] for channel in wanted)]
    assert target in open_to
    assert change == pytest.approx(move_change(fixed, state, user, target), abs=1e-9)
    for broker in known or open_to:
        assert change <= move_change(fixed, state, user, broker) + 1e-9, broker


@given(content_problems(), st.data(), models)
def test_passes_tell_the_truth_and_never_lose(problem, data, model):
    """Each kind of pass: the plan gets cheaper by what it says, and no broker is overloaded that was not."""
    search = drawn_search(data, problem, model)
    for step in (search.descend, search.push, search.gather, search.close, search.regroup):
        before, over = measure_cost(problem, search.state.broker, model), search.overflow
        change = step()
        after = measure_cost(problem, search.state.broker, model)
        assert after.total - before.total == pytest.approx(change, abs=1e-7)
        assert search.total == pytest.approx(after.total, abs=1e-7)
        assert search.overflow <= over + 1e-9
        if over == 0.0:
            assert after.total <= before.total + 1e-9


@given(content_problems(), st.data(), models)
def test_no_sure_migration_is_left(problem, data, model):
    """A local optimum: no user can move to a broker with room that has all it wants, and save."""
    search = drawn_search(data, problem, model)
    search.reach_local_optimum()
    room = problem.load_limits
    for user in range(problem.n_users):
        target, change = best_move(search.fixed, search.state, user, problem.n_brokers, False)
        assert target == NOWHERE or change >= -1e-6 * max(search.total, 1e-6), (user, target)
        home = search.state.broker[user]
        if search.state.load[home] > room[home]:
            assert target == NOWHERE  # it would have gone anywhere


@examples(50)
@given(content_problems(), st.data(), models)
def test_annealing_keeps_the_books_and_the_capacities(problem, data, model):
    search = drawn_search(data, problem, model)
    over = search.overflow
    search.anneal(near_brokers(problem), 7, 200, 1.0)
    assert search.total == pytest.approx(measure_cost(problem, search.state.broker, model).total, abs=1e-7)
    assert search.overflow <= over + 1e-9


def test_closing_and_gathering_find_what_single_moves_miss():
    """Two users keep a broker in a dear tree: neither gains by going alone, both do together."""
    problem = generate_content(400, 8, 40, ratio=0.1, width=0.02, seed=3).problem
    start = np.argmin(problem.access, axis=1).astype(np.int32)
    search = AssignmentSearch.of(problem, CoreModel.of(problem.core, "free"), start, tries=8, progress=SILENT)
    while search.descend() < 0:
        pass
    alone = search.total
    assert search.gather() + search.close() < -0.05 * alone


def test_users_of_like_interest_lie_side_by_side():
    problem = generate_content(50, 2, 20, width=0.1, seed=1).problem
    place = interest_centers(problem)
    for user in range(problem.n_users):
        first, last = problem.want_first[user], problem.want_last[user]
        assert first <= place[user] <= last
