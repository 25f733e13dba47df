"""Users placed one after the other, each on a broker that has room for it.

One kernel serves three planners, since they differ in what a user weighs its brokers by: nothing (the
cheapest [Zhao2011, Algorithm 1]), all alike (random), or the traffic of the trees (phase 2 of section IV-B).
"""

from __future__ import annotations

from topicloom.base.arrays import Floats, Ints
from topicloom.base.kernels.jit import kernel


@kernel
def roomiest(load: Floats, limit: Floats) -> int:
    """Return the broker with the most free room, the first of equals: for users that fit nowhere."""
    best = 0
    for broker in range(1, len(load)):
        if limit[broker] - load[broker] > limit[best] - load[best]:
            best = broker
    return best


@kernel
def _weighted(weight: Floats, load: Floats, demand: float, limit: Floats, draw: float) -> int:
    """A broker with room, by its weight: the largest if `draw` < 0, else drawn by it; -1: none has any."""
    total, best = 0.0, -1
    for broker in range(len(load)):
        if weight[broker] > 0 and load[broker] + demand <= limit[broker]:
            total += weight[broker]
            if best < 0 or weight[broker] > weight[best]:
                best = broker
    if draw < 0 or best < 0:
        return best
    passed, last = 0.0, best
    for broker in range(len(load)):
        if weight[broker] > 0 and load[broker] + demand <= limit[broker]:
            passed += weight[broker]
            last = broker  # rounding may leave `passed` a hair below the total
            if passed > draw * total:
                break
    return last


@kernel
def place_users(
    first: int,
    stop: int,
    access: Floats,
    demand: Floats,
    limit: Floats,
    weight: Floats,
    draws: Floats,
    load: Floats,
    assignment: Ints,
) -> int:
    """Place the users first..stop-1 in order; the number of those that fit nowhere.

    `weight` has a row per user, or one row for all. A user goes by weight as `_weighted` says; where no
    broker with a weight has room, to the cheapest with room; where none has room, to the roomiest.
    """
    unplaced = 0
    for user in range(first, stop):
        own = demand[user]
        row = user if len(weight) > 1 else 0
        best = _weighted(weight[row], load, own, limit, draws[user])
        if best < 0:
            for broker in range(len(load)):
                if load[broker] + own <= limit[broker] and (
                    best < 0 or access[user, broker] < access[user, best]
                ):
                    best = broker
        if best < 0:
            best = roomiest(load, limit)
            unplaced += 1
        load[best] += own
        assignment[user] = best
    return unplaced
