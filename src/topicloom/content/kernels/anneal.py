"""Simulated annealing of an assignment: random moves and swaps, accepted by the Metropolis rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.kernels.jit import kernel, part
from topicloom.base.kernels.random import STEP, uniform
from topicloom.content.kernels.assignment import move, move_change
from topicloom.content.kernels.move_bounds import least_change


@kernel
def anneal(fixed: Any, state: Any, near: Any, counter: Any, proposals: int, start: float, end: float) -> Any:
    """Propose random changes while the temperature falls geometrically from `start` to `end`.

    About a third are swaps of two users; the others move one user to a broker near it (`near[user]`), to any
    broker, or to the broker of another user. Capacities are always kept. Returns the counter of the random
    stream and the number of changes taken.
    """
    n_users, n_brokers = fixed.access.shape
    taken = 0
    cooling = (end / start) ** (1.0 / max(proposals, 1))
    heat = start
    for _ in range(proposals):
        heat *= cooling
        counter += STEP
        user = int(uniform(counter) * n_users)
        counter += STEP
        kind = uniform(counter)
        counter += STEP
        draw = uniform(counter)
        counter += STEP
        limit = -heat * np.log(1.0 - uniform(counter))
        home = state.broker[user]
        if kind < 0.3:
            taken += _try_swap(fixed, state, user, int(draw * n_users), limit)
            continue
        if kind < 0.65:
            target = np.int64(near[user, int(draw * near.shape[1])])
        elif kind < 0.85:
            target = np.int64(draw * n_brokers)
        else:
            target = np.int64(state.broker[int(draw * n_users)])
        if target == home or state.load[target] + fixed.demand[user] > fixed.capacity[target]:
            continue
        if least_change(fixed, state, user, target) > limit:
            continue
        if move_change(fixed, state, user, target) <= limit:
            move(fixed, state, user, target)
            taken += 1
    return counter, taken


@part
def _try_swap(fixed: Any, state: Any, user: int, other: int, limit: float) -> bool:
    """Swap the brokers of two users if there is room and it costs at most `limit`; tell whether it did."""
    home, target = np.int64(state.broker[user]), np.int64(state.broker[other])
    difference = fixed.demand[user] - fixed.demand[other]
    if (
        home == target
        or state.load[target] + difference > fixed.capacity[target]
        or state.load[home] - difference > fixed.capacity[home]
    ):
        return False
    one, two = least_change(fixed, state, user, target), least_change(fixed, state, other, home)
    if one + two > 2.0 * limit:  # each may gain by the other's move: what both join, and what they leave
        return False
    change = move_change(fixed, state, user, target)
    move(fixed, state, user, target)
    change += move_change(fixed, state, other, home)
    taken = change <= limit
    move(fixed, state, other if taken else user, home)
    return taken
