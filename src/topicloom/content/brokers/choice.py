"""Which users should move, as far as one broker can know [Zhao2011, IV-C].

To a broker every other one is "a bigger user whose interests are the union" of its users': so it looks at a
small problem of its own users and one such user per other broker, and asks the kernel of the local search
what each move would change. With what it was told up to date, that change is the exact one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Floats
from topicloom.content.brokers.flow import NOTHING, Flow
from topicloom.content.kernels.assignment import move
from topicloom.content.kernels.user_moves import NOWHERE, best_move
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.content.planners.cost import search_arrays


@dataclass(frozen=True, slots=True)
class Holder:
    """What a user, or all users of another broker, want and publish; `prices` to all brokers (users only,
    None: not known)."""

    ranges: Sequence[tuple[int, int]]
    flow: Flow
    prices: Sequence[float] | None = None
    movable: bool = True


@dataclass(frozen=True, slots=True)
class Outlook:
    """A broker's picture: its own users, and what it knows of broker 0, 1, ... (None: itself)."""

    here: int
    users: Sequence[Holder]
    others: Sequence[Holder | None]
    loads: Floats
    capacity: Floats


def choose_moves(
    outlook: Outlook, model: CoreModel, n_channels: int, *, threshold: float, most: int
) -> list[tuple[int, int, float]]:
    """(user, broker, change of cost): users with the most traffic first, each as if those before had moved.

    A user is worth moving if that saves more than the share `threshold` of what its own link costs; while we
    carry more than we can, each goes wherever there is room.
    """
    problem = _problem(outlook, model, n_channels)
    homes = [outlook.here] * len(outlook.users) + _places(outlook)
    fixed, state = search_arrays(problem, model, np.array(homes, dtype=np.int32))
    state.load[:] = outlook.loads
    estimate = np.zeros(problem.n_brokers)
    found: list[tuple[int, int, float]] = []
    busiest = np.argsort(-problem.demand[: len(outlook.users)], kind="stable")
    for user in busiest.tolist():
        if len(found) >= most:
            break
        if not outlook.users[user].movable:
            continue
        target, change = best_move(fixed, state, user, problem.n_brokers, False, estimate)
        least = threshold * problem.demand[user] * problem.access[user, outlook.here]
        crowded = state.load[outlook.here] > fixed.capacity[outlook.here]
        if target != NOWHERE and (crowded or (change < 0 and -change > least)):
            move(fixed, state, user, target)
            found.append((user, int(target), float(change)))
    return found


def _places(outlook: Outlook) -> list[int]:
    return [place for place, holder in enumerate(outlook.others) if holder is not None]


def _problem(outlook: Outlook, model: CoreModel, n_channels: int) -> ContentProblem:
    """The small problem: own users, then one big user per other broker, which never moves."""
    others = [holder for holder in outlook.others if holder is not None]
    holders = [*outlook.users, *others]
    n_brokers = len(outlook.others)
    access = np.zeros((len(holders), n_brokers))
    for row, holder in enumerate(outlook.users):
        access[row] = 0.0 if holder.prices is None else holder.prices
    lengths = [len(holder.flow.channels) for holder in holders]
    channels = np.concatenate([*(holder.flow.channels for holder in holders), NOTHING.channels])
    rates = np.concatenate([*(holder.flow.rates for holder in holders), NOTHING.rates])
    wants = [(row, first, last) for row, holder in enumerate(holders) for first, last in holder.ranges]
    columns = np.array(wants, dtype=np.int64).reshape(-1, 3).T
    return ContentProblem.of(
        [""] * len(holders),
        [""] * n_brokers,
        outlook.capacity,
        access,
        model.core,
        n_channels,
        rates=(np.repeat(np.arange(len(holders)), lengths), channels, rates),
        wants=(columns[0], columns[1], columns[2]),
    )
