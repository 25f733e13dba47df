"""Simulated annealing of an assignment: random moves and swaps, accepted by the Metropolis rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.kernels.jit import kernel
from topicloom.base.kernels.random import STEP, uniform
from topicloom.content.kernels.assignment import move, move_change
from topicloom.content.kernels.move_bounds import least_change


@kernel
def anneal(fixed: Any, state: Any, near: Any, counter: Any, proposals: int, start: float, end: float) -> Any:
    """Propose random changes while the temperature falls geometrically from `start` to `end`.

    About a third are swaps of two users; the others move one user to a broker near it (`near[user]`), to any
    broker, or to the broker of another user. Capacities are always kept. Returns the counter of the random
    stream, the change of cost and the number of changes taken.
    """
    n_users, n_brokers = fixed.access.shape
    gained, taken = 0.0, 0
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
            other = int(draw * n_users)
            change = _try_swap(fixed, state, user, other, limit)
            if change != np.inf:
                gained += change
                taken += 1
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
        change = move_change(fixed, state, user, target)
        if change <= limit:
            move(fixed, state, user, target)
            gained += change
            taken += 1
    return counter, gained, taken


@kernel
def _try_swap(fixed: Any, state: Any, user: int, other: int, limit: float) -> Any:
    """Swap the brokers of two users if there is room and it costs at most `limit`; return inf if not."""
    home, target = np.int64(state.broker[user]), np.int64(state.broker[other])
    difference = fixed.demand[user] - fixed.demand[other]
    if (
        home == target
        or state.load[target] + difference > fixed.capacity[target]
        or state.load[home] - difference > fixed.capacity[home]
    ):
        return np.inf
    one, two = least_change(fixed, state, user, target), least_change(fixed, state, other, home)
    if one + two > 2.0 * limit:  # each may gain by the other's move: what both join, and what they leave
        return np.inf
    change = move_change(fixed, state, user, target)
    move(fixed, state, user, target)
    change += move_change(fixed, state, other, home)
    if change <= limit:
        move(fixed, state, other, home)
        return change
    move(fixed, state, user, home)
    return np.inf
