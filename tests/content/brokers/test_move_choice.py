"""A broker's decision against the exact cost of the whole problem: it must see what everybody would see."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.brokers.fake_wire import Wire
from content_strategies import content_problems
from drawing import examples
from topicloom.content.brokers.move_choice import LocalProblem, choose_moves
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.content.planners.cost import measure_cost


def local_problem(
    problem: ContentProblem, assignment: np.ndarray, here: int
) -> tuple[LocalProblem, list[int]]:
    """What a broker knows when all are up to date, and which users are its own."""
    own = [user for user in range(problem.n_users) if assignment[user] == here]
    others = [broker for broker in range(problem.n_brokers) if broker != here]
    groups = [[user] for user in own] + [np.flatnonzero(assignment == broker).tolist() for broker in others]
    rates, wants = [], []
    for row, users in enumerate(groups):
        for user in users:
            ends = slice(problem.rate_ptr[user], problem.rate_ptr[user + 1])
            rates += [
                (row, *pair) for pair in zip(problem.rate_channels[ends], problem.rates[ends], strict=True)
            ]
            ends = slice(problem.want_ptr[user], problem.want_ptr[user + 1])
            wants += [
                (row, *pair) for pair in zip(problem.want_first[ends], problem.want_last[ends], strict=True)
            ]
    known = ContentProblem.of(
        [""] * len(groups), problem.brokers, problem.capacity,
        np.concatenate([problem.access[own], np.zeros((len(others), problem.n_brokers))]),
        problem.core, problem.n_channels,
        rates=tuple(zip(*rates, strict=True)) or ((), (), ()),
        wants=tuple(zip(*wants, strict=True)) or ((), (), ()),
    )  # fmt: skip
    loads = np.bincount(assignment, weights=problem.demand, minlength=problem.n_brokers)
    return LocalProblem(known, here, [True] * len(own), loads), own


@examples(80)
@given(content_problems(), st.integers(0, 10**6))
def test_the_change_a_broker_sees_is_the_exact_one(problem, seed):
    random = Random(seed)
    assignment = np.array([random.randrange(problem.n_brokers) for _ in range(problem.n_users)], np.int32)
    here = random.randrange(problem.n_brokers)
    local, own = local_problem(problem, assignment, here)
    model = CoreModel.of(problem.core, "free")
    before = measure_cost(problem, assignment)
    crowded = before.loads[here] > problem.capacity[here] * (1 + 1e-9)
    found = choose_moves(local, model, threshold=0.0, most=1)
    for user, broker, change in found:
        moved = assignment.copy()
        moved[own[user]] = broker
        after = measure_cost(problem, moved)
        assert after.total - before.total == pytest.approx(change, abs=1e-6)
        assert crowded or change < 0
        assert after.loads[broker] <= problem.capacity[broker] * (1 + 1e-6)
    if not found:
        for user in own:
            for broker in range(problem.n_brokers):
                moved = assignment.copy()
                moved[user] = broker
                after = measure_cost(problem, moved)
                fits = after.loads[broker] <= problem.capacity[broker]
                assert broker == here or not fits or after.total >= before.total - 1e-6, (user, broker)


def test_the_threshold_and_the_number_of_moves_are_kept():
    access = [[2.0, 1.0]] * 3
    problem = ContentProblem.of(
        ["p", "q", "r"], ["a", "b"], [99, 99], access, [[0, 0.1], [0.1, 0]], 1,
        rates=([0, 1], [0, 0], [1.0, 5.0]), wants=([0, 1, 2], [0, 0, 0], [0, 0, 0]),
    )  # fmt: skip
    local, _ = local_problem(problem, np.zeros(3, dtype=np.int32), 0)
    model = CoreModel.of(problem.core, "free")
    assert len(choose_moves(local, model, threshold=0.0, most=9)) == 3
    assert len(choose_moves(local, model, threshold=0.0, most=2)) == 2
    assert choose_moves(local, model, threshold=0.9, most=9) == [], "it saves half at best"


def test_brokers_come_to_rest_at_the_best_place():
    """Users far from their broker move to the near one by themselves, and then stay: no going to and fro."""
    near = {"u0": [9.0, 1.0], "u1": [9.0, 1.0], "u2": [1.0, 9.0]}
    wire = Wire("AB", prices=near.__getitem__, round=1.0, stay=1, core=[[0, 0.5], [0.5, 0]])
    for number, name in enumerate(near):
        wire.add(name, (((0, 10),),), "A", rates=((number, 1.0),))
    wire.run(12.0)
    assert {name: user.broker for name, user in wire.users.items()} == {"u0": "B", "u1": "B", "u2": "A"}
    asked = wire.sent["request-to-move"]
    assert asked == 2
    wire.run(20.0)
    assert wire.sent["request-to-move"] == asked
    assert wire.brokers["B"].state.load == pytest.approx(2 * 3.0) and wire.brokers[
        "A"
    ].state.load == pytest.approx(3.0)
    assert wire.unquiet() == []


def test_no_broker_takes_more_than_it_can_carry():
    """All would like to be on B, which has room for two; A has three at first and must let one go."""
    wire = Wire("AB", prices=lambda user: [5.0, 1.0], capacity=9.0, round=1.0, stay=1)
    for number in range(4):
        wire.add(f"u{number}", (((0, 10),),), "A" if number else "B", rates=((number, 1.0),))
    wire.run(30.0)
    assert [len(broker.users) for broker in wire.brokers.values()] == [2, 2]
    assert [broker.state.load for broker in wire.brokers.values()] == pytest.approx([8.0, 8.0])
    # B is cheaper for both users of A, but they are not sent where there is no room.
    assert wire.sent["request-to-move"] == 1 and wire.sent["no-room"] == 0


def test_a_crowded_broker_lets_users_go_at_a_loss():
    wire = Wire("AB", prices=lambda user: [1.0, 5.0], capacity=9.0, round=1.0, stay=1)
    for number in range(4):
        wire.add(f"u{number}", (((0, 10),),), "A" if number else "B", rates=((number, 1.0),))
    wire.run(30.0)
    assert [broker.state.load for broker in wire.brokers.values()] == pytest.approx([8.0, 8.0])
