"""Moves of several users at once: they leave a broker together, or come to one together.

One user alone often has no reason to leave while others keep the broker in the same trees.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.kernels.jit import kernel
from topicloom.content.kernels.assignment import move, move_change
from topicloom.content.kernels.move_bounds import worth_vacating
from topicloom.content.kernels.user_moves import NOWHERE, best_move


@kernel
def vacate(fixed: Any, state: Any, broker: int, users: Any, tries: int, least: float) -> Any:
    """Move some users off a broker, each where it costs least; undo it unless that saves `least`.

    With all its users the broker is closed. Returns the number of moves that stay and the change of cost.
    """
    gained, moved = 0.0, 0
    if not worth_vacating(fixed, state, broker, users, least):
        return 0, 0.0
    for k in range(len(users)):
        user = np.int64(users[k])
        target, change = best_move(fixed, state, user, tries, False)
        if target == NOWHERE:
            break
        move(fixed, state, user, target)
        moved += 1
        gained += change
    if moved == len(users) and gained < -least:
        return moved, gained
    for k in range(moved - 1, -1, -1):
        move(fixed, state, np.int64(users[k]), broker)
    return 0, 0.0


@kernel
def gather(fixed: Any, state: Any, channel: int, users: Any, found: Any, tries: int, least: float) -> Any:
    """Move all subscribers of a channel off brokers that have few of them, where that saves.

    `users` are all who want the channel; `found` is scratch, as long as the most subscribers to move. Returns
    the number of moves that stay and the change of cost.
    """
    moves, gained = 0, 0.0
    for broker in range(len(state.load)):
        n = state.wanted[channel, broker]
        if n < 2 or n > len(found):
            continue
        n = 0
        for user in users:
            if state.broker[user] == broker:
                found[n] = user
                n += 1
        more, change = vacate(fixed, state, broker, found[:n], tries, least)
        moves += more
        gained += change
    return moves, gained


@kernel
def attract(fixed: Any, state: Any, broker: int, users: Any, least: float, trail: Any) -> Any:
    """Bring those of `users` to a broker that are nearer to it than to their own; undo it unless that saves.

    The first pays for the broker's place in the trees, the others follow more cheaply. `trail` is scratch, as
    long as `users`. Returns the number of moves that stay and the change of cost.
    """
    gained, moved = 0.0, 0
    trail[:] = -1
    for k in range(len(users)):
        user = np.int64(users[k])
        home = state.broker[user]
        if (
            home == broker
            or fixed.access[user, broker] >= fixed.access[user, home]
            or state.load[broker] + fixed.demand[user] > fixed.capacity[broker]
        ):
            continue
        gained += move_change(fixed, state, user, broker)
        move(fixed, state, user, broker)
        trail[k] = home
        moved += 1
    if gained < -least:
        return moved, gained
    for k in range(len(users) - 1, -1, -1):
        if trail[k] >= 0:
            move(fixed, state, np.int64(users[k]), np.int64(trail[k]))
    return 0, 0.0
