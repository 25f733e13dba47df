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
from topicloom.content.brokers.user_records import UserRecord
from topicloom.content.brokers.user_rules import UserState
from topicloom.content.kernels.assignment import move
from topicloom.content.kernels.user_moves import NOWHERE, best_move
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.content.planners.cost import search_arrays


@dataclass(frozen=True, slots=True)
class LocalProblem:
    """The problem as broker `here` knows it: its own users, of whom some are `movable`, then one big user per
    other broker, which never moves. A dead broker has negative capacity."""

    problem: ContentProblem
    here: int
    movable: Sequence[bool]
    loads: Floats


def choose_moves(
    local: LocalProblem, model: CoreModel, *, threshold: float, most: int
) -> list[tuple[int, int, float]]:
    """Return (user, broker, change of cost): the busiest users first, each as if those before had moved.

    A user is worth moving if that saves more than the share `threshold` of what its own link costs. While the
    broker carries more than it can, users go wherever there is room.
    """
    problem, here, own = local.problem, local.here, len(local.movable)
    homes = [here] * own + [place for place in range(problem.n_brokers) if place != here]
    fixed, state = search_arrays(problem, model, np.array(homes, dtype=np.int32))
    state.load[:] = local.loads
    found: list[tuple[int, int, float]] = []
    for user in np.argsort(-problem.demand[:own], kind="stable").tolist():
        if len(found) >= most:
            break
        if not local.movable[user]:
            continue
        target, change = best_move(fixed, state, user, problem.n_brokers, False)
        least = threshold * problem.demand[user] * problem.access[user, here]
        crowded = state.load[here] > fixed.capacity[here]
        if target != NOWHERE and (crowded or (change < 0 and -change > least)):
            move(fixed, state, user, target)
            found.append((user, int(target), float(change)))
    return found


def local_problem(
    state: BrokerState, core: Floats, records: Sequence[UserRecord], now: float
) -> LocalProblem:
    """Return what is known of `records`, our users, and of all brokers, in the order of the prices.

    Users on the move, and those that moved or declined recently, are counted but not moved.
    """
    here, peers = state.brokers.index(state.name), list(state.others.peers.values())
    known = [(peer.last.load, peer.last.capacity) if peer.alive else (0.0, -1.0) for peer in peers]
    known.insert(here, (state.load, state.capacity))
    loads, capacity = np.array(known).T
    prices = [state.prices(record.name) for record in records]
    ranges = [*(record.ranges for record in records), *(peer.last.ranges for peer in peers)]
    flows = [record.flow(now) for record in records] + [peer.flow for peer in peers]
    access = np.zeros((len(flows), len(known)))
    for row, price in enumerate(prices):
        access[row] = 0.0 if price is None else price
    wants = [(row, first, last) for row, runs in enumerate(ranges) for first, last in runs]
    user, first, last = np.array(wants, dtype=np.int64).reshape(-1, 3).T
    problem = ContentProblem.of(
        [""] * len(flows),
        [""] * len(known),
        capacity,
        access,
        core,
        state.channels.count,
        rates=(
            np.repeat(np.arange(len(flows)), [len(flow.channels) for flow in flows]),
            np.concatenate([flow.channels for flow in flows]),
            np.concatenate([flow.rates for flow in flows]),
        ),
        wants=(user, first, last),
    )
    movable = [
        price is not None and record.state is UserState.ATTACHED and record.rest <= now
        for price, record in zip(prices, records, strict=True)
    ]
    return LocalProblem(problem, here, movable, loads)
