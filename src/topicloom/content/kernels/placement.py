"""Users placed one after another, each on a broker that has room for it.

One kernel serves three planners, which differ in the weights of a user's brokers: none (the cheapest broker
[Zhao2011, Algorithm 1]), all equal (random), or the traffic of the trees (phase 2 of section IV-B).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.kernels.jit import kernel


@kernel
def roomiest(load: Any, limit: Any) -> Any:
    """Return the broker with the most free room, the first of equals: for users that fit nowhere."""
    return np.argmax(limit - load)


@kernel
def _weighted(weight: Any, load: Any, demand: float, limit: Any, draw: float) -> int:
    """Return a broker with room: the one of largest weight if `draw` < 0, else drawn by weight; -1: none."""
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
    users: Any, access: Any, demand: Any, limit: Any, weight: Any, draws: Any, load: Any, broker: Any
) -> int:
    """Place the users users[0]..users[1]-1 in order; return how many of them fit nowhere.

    `weight` has a row per user, or one row for all. A user is placed by weight (`_weighted`); if no broker
    with a weight has room, on the cheapest with room; if none has room, on the roomiest.
    """
    unplaced = 0
    for user in range(users[0], users[1]):
        own = demand[user]
        row = user if len(weight) > 1 else 0
        best = _weighted(weight[row], load, own, limit, draws[user])
        if best < 0:
            for b in range(len(load)):
                if load[b] + own <= limit[b] and (best < 0 or access[user, b] < access[user, best]):
                    best = b
        if best < 0:
            best = roomiest(load, limit)
            unplaced += 1
        load[best] += own
        broker[user] = best
    return unplaced
