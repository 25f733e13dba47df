"""Which users should move, as far as one broker can know [Zhao2011, IV-C].

To a broker every other one is "a bigger user whose interests are the union" of its users'. So it looks at a
small problem of its own users and one such user per other broker, and asks the kernel of the local search
what each move would change. If what it was told is up to date, that change is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Floats
from topicloom.content.brokers.broker_state import BrokerState
from topicloom.content.brokers.messages import Name
from topicloom.content.brokers.user_records import UserRecord
from topicloom.content.brokers.user_rules import UserState
from topicloom.content.brokers.wants_and_rates import NOTHING, Flow
from topicloom.content.kernels.assignment import move
from topicloom.content.kernels.user_moves import NOWHERE, best_move
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.content.planners.cost import search_arrays


@dataclass(frozen=True, slots=True)
class Participant:
    """What a user, or all users of another broker, want and publish.

    `prices` are those from a user to each broker (None: not known).
    """

    ranges: Sequence[tuple[int, int]]
    flow: Flow
    prices: Sequence[float] | None = None
    movable: bool = True


@dataclass(frozen=True, slots=True)
class LocalProblem:
    """The problem as one broker knows it: its own users, and broker 0, 1, ... (None: itself)."""

    here: int
    users: Sequence[Participant]
    others: Sequence[Participant | None]
    loads: Floats
    capacity: Floats


def choose_moves(
    local: LocalProblem, model: CoreModel, n_channels: int, *, threshold: float, most: int
) -> list[tuple[int, int, float]]:
    """Return (user, broker, change of cost): the busiest users first, each as if those before had moved.

    A user is worth moving if that saves more than the share `threshold` of what its own link costs. While the
    broker carries more than it can, users go wherever there is room.
    """
    problem = _problem(local, model, n_channels)
    places = [place for place, other in enumerate(local.others) if other is not None]
    homes = [local.here] * len(local.users) + places
    fixed, state = search_arrays(problem, model, np.array(homes, dtype=np.int32))
    state.load[:] = local.loads
    estimate = np.zeros(problem.n_brokers)
    found: list[tuple[int, int, float]] = []
    busiest = np.argsort(-problem.demand[: len(local.users)], kind="stable")
    for user in busiest.tolist():
        if len(found) >= most:
            break
        if not local.users[user].movable:
            continue
        target, change = best_move(fixed, state, user, problem.n_brokers, False, estimate)
        least = threshold * problem.demand[user] * problem.access[user, local.here]
        crowded = state.load[local.here] > fixed.capacity[local.here]
        if target != NOWHERE and (crowded or (change < 0 and -change > least)):
            move(fixed, state, user, target)
            found.append((user, int(target), float(change)))
    return found


def _problem(local: LocalProblem, model: CoreModel, n_channels: int) -> ContentProblem:
    """Return the small problem: own users, then one big user per other broker, which never moves."""
    others = [participant for participant in local.others if participant is not None]
    participants = [*local.users, *others]
    n_brokers = len(local.others)
    access = np.zeros((len(participants), n_brokers))
    for row, participant in enumerate(local.users):
        access[row] = 0.0 if participant.prices is None else participant.prices
    lengths = [len(participant.flow.channels) for participant in participants]
    channels = np.concatenate(
        [*(participant.flow.channels for participant in participants), NOTHING.channels]
    )
    rates = np.concatenate([*(participant.flow.rates for participant in participants), NOTHING.rates])
    wants = [
        (row, first, last)
        for row, participant in enumerate(participants)
        for first, last in participant.ranges
    ]
    columns = np.array(wants, dtype=np.int64).reshape(-1, 3).T
    return ContentProblem.of(
        [""] * len(participants),
        [""] * n_brokers,
        local.capacity,
        access,
        model.core,
        n_channels,
        rates=(np.repeat(np.arange(len(participants)), lengths), channels, rates),
        wants=(columns[0], columns[1], columns[2]),
    )


def local_problem(
    state: BrokerState, brokers: Sequence[Name], records: Sequence[UserRecord], now: float
) -> LocalProblem:
    """Return what `choose_moves` needs; `brokers` are all of them in the order of the prices.

    Users on the move, and those that moved or declined recently, are counted but not moved. A dead broker has
    negative capacity.
    """
    users = []
    for record in records:
        prices = state.prices(record.name)
        movable = prices is not None and record.state is UserState.ATTACHED and record.rest <= now
        users.append(Participant(record.ranges, record.flow(now), prices, movable=movable))
    others: list[Participant | None] = []
    loads, capacity = np.zeros(len(brokers)), np.full(len(brokers), -1.0)
    for place, name in enumerate(brokers):
        if name == state.name:
            others.append(None)
            loads[place], capacity[place] = state.load, state.capacity
            continue
        peer = state.others.peers[name]
        others.append(Participant(peer.ranges, peer.flow))
        if peer.alive:
            loads[place], capacity[place] = peer.load, peer.capacity
    return LocalProblem(brokers.index(state.name), users, others, loads, capacity)
