"""Moves of single users on the exact cost: migrate one, or let it push another out of a full broker.

The best broker for a user is found in two steps. Where a broker already has subscribers of everything the
user wants, the change of cost follows from the tables. Elsewhere the broker would join some trees: its price
is estimated by what it adds to the present trees, and only the most promising brokers are computed exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.kernels.jit import kernel, part
from topicloom.content.kernels.assignment import move, move_change, weigh_trees
from topicloom.content.kernels.broker_trees import UNICAST
from topicloom.content.kernels.move_bounds import UNKNOWN, access_loss, may_save

NOWHERE = -1
MISSES = 2  # brokers computed in vain before the rest, of higher estimates, is left alone


@part
def _add_channel(fixed: Any, state: Any, channel: int, home: int, own: Any) -> None:
    """Add a wanted channel to the estimated change of cost, for every target.

    Without the user its home may lose the channel; `weight` then holds the trees without it.
    """
    n, estimate = len(state.load), state.estimate
    wanted, sent, old = state.wanted[channel], state.sent[channel], state.weight[channel]
    weight, members, stays = old, state.members[channel], 0.0
    leaves = wanted[home] == 1
    if leaves:
        weight = state.trials[1]
        members = weigh_trees(fixed, state, channel, home, -1, weight)
        for p in range(n):
            stays += sent[p] * weight[p]
        stays -= state.cost[channel]
        for b in range(n):
            estimate[b] += stays + own * (weight[b] - weight[home] - old[b] + old[home])
    if members == n:
        return
    alone = members == 0 or fixed.core.code == UNICAST
    if alone:  # the new member gets a message of its own from every publisher
        added = state.trials[2]
        added[:] = 0.0
        for p in range(n):
            if sent[p] > 0.0:
                for b in range(n):
                    added[b] += sent[p] * fixed.core.links[p, b]
    lightest = state.lightest[channel]
    if leaves:
        for b in range(n):
            lightest = min(lightest, weight[b])
    for b in range(n):
        if wanted[b] == 0 or (b == home and leaves):
            if alone:
                estimate[b] += state.trials[2][b]
            else:
                estimate[b] += fixed.channel_rate[channel] * (weight[b] - lightest)
            state.sure[b] = 0


@kernel
def best_move(fixed: Any, state: Any, user: int, tries: int, anywhere: bool) -> Any:
    """Return the broker to which a move changes the cost least (most negative), and that change.

    Only brokers with room count, unless `anywhere`; NOWHERE if there is none. At most `tries` brokers are
    computed beyond those whose change follows from the tables.
    """
    home, n, demand = np.int64(state.broker[user]), len(state.load), fixed.demand[user]
    estimate = state.estimate
    state.sure[:] = 1
    for b in range(n):
        estimate[b] = demand * (fixed.access[user, b] - fixed.access[user, home])
    at, end = fixed.rate_ptr[user], fixed.rate_ptr[user + 1]
    for k in range(at, end):
        c = fixed.rate_channels[k]
        if state.members[c] < n or fixed.core.code == UNICAST:
            row, rate = state.weight[c], fixed.rates[k]
            for b in range(n):
                estimate[b] += rate * (row[b] - row[home])
    for k in range(fixed.want_ptr[user], fixed.want_ptr[user + 1]):
        for c in range(fixed.want_first[k], fixed.want_last[k] + 1):
            if fixed.channel_rate[c] == 0.0 or (state.members[c] == n and state.wanted[c, home] > 1):
                continue
            while at < end and fixed.rate_channels[at] < c:
                at += 1
            own = fixed.rates[at] if at < end and fixed.rate_channels[at] == c else 0.0
            _add_channel(fixed, state, c, home, own)
    for b in range(n):
        if b == home or not (anywhere or state.load[b] + demand <= fixed.capacity[b]):
            estimate[b] = np.inf
    return _choose(fixed, state, user, tries)


@part
def _choose(fixed: Any, state: Any, user: int, tries: int) -> Any:
    """Return the best of the estimated targets; compute `tries` of those not known exactly, lowest first."""
    target, change, misses, estimate = NOWHERE, np.inf, 0, state.estimate
    while True:
        b = 0
        for other in range(1, len(estimate)):
            if estimate[other] < estimate[b]:
                b = other
        if estimate[b] == np.inf:
            return target, change
        if state.sure[b]:
            return (b, estimate[b]) if estimate[b] < change else (target, change)
        if tries > 0 and misses < MISSES:
            tries -= 1
            misses += 1
            exact = move_change(fixed, state, user, b)
            if exact < change:
                target, change, misses = b, exact, 0
        estimate[b] = np.inf


@kernel
def descend(fixed: Any, state: Any, users: Any, tries: int, least: float, thorough: bool) -> Any:
    """Let each of `users` migrate to its best broker with room, if that saves more than `least`.

    A user of an overloaded broker leaves in any case. Returns the number of moves and the change of cost.
    """
    moves, gained = 0, 0.0
    for k in range(len(users)):
        user = np.int64(users[k])  # one type of number everywhere: each further one is compiled anew
        home = state.broker[user]
        overloaded = state.load[home] > fixed.capacity[home]
        if not (overloaded or may_save(fixed, state, user, False, least, thorough)):
            continue
        target, change = best_move(fixed, state, user, tries, False)
        if target != NOWHERE and (change < -least or overloaded):
            move(fixed, state, user, target)
            moves += 1
            gained += change
            if thorough:
                state.relieved[:] = UNKNOWN
    return moves, gained


@part
def _pushed(fixed: Any, state: Any, broker: int, users: Any, found: Any) -> Any:
    """Fill `found` with the users of a full broker that another with room takes at the lowest price.

    Only users that would make enough room count. Returns how many there are.
    """
    regret = np.full(len(found), np.inf)
    count = 0
    for user in users:
        left = state.load[broker] - fixed.demand[user]
        if state.broker[user] != broker or left > fixed.capacity[broker]:
            continue
        loss = access_loss(fixed, state, np.int64(user), False)
        if loss < regret[-1]:
            k = len(found) - 1
            while k > 0 and regret[k - 1] > loss:
                regret[k], found[k] = regret[k - 1], found[k - 1]
                k -= 1
            regret[k], found[k] = loss, user
            count = min(count + 1, len(found))
    return count


@kernel
def push(
    fixed: Any, state: Any, users: Any, homes: Any, tries: int, least: float, thorough: bool, found: Any
) -> Any:
    """Let each of `users` take the place of another one on a full broker that it prefers.

    The other goes where it costs least: to the freed place (a swap) or elsewhere (a chain). `homes` are
    (pointers, users): `homes[1][homes[0][b]:homes[0][b+1]]` were b's users when the pass began. `found` is
    scratch, an entry per user that is tried as the one to leave.
    """
    (ptr, by_broker), moves, gained = homes, 0, 0.0
    for place in range(len(users)):
        user = np.int64(users[place])
        if not may_save(fixed, state, user, True, least, thorough):
            continue
        home = np.int64(state.broker[user])
        target, change = best_move(fixed, state, user, tries, True)
        if target == NOWHERE or change >= -least:
            continue
        move(fixed, state, user, target)
        if thorough:
            state.relieved[:] = UNKNOWN
        if state.load[target] <= fixed.capacity[target]:
            moves += 1
            gained += change
            continue
        best, where, whole = np.int64(NOWHERE), np.int64(NOWHERE), -least
        number = _pushed(fixed, state, target, by_broker[ptr[target] : ptr[target + 1]], found)
        for k in range(number):
            candidate = np.int64(found[k])
            if candidate == user:
                continue
            other, further = best_move(fixed, state, candidate, tries, False)
            if other != NOWHERE and change + further < whole:
                best, where, whole = candidate, other, change + further
        if best == NOWHERE:
            move(fixed, state, user, home)
        else:
            move(fixed, state, best, where)
            moves += 2
            gained += whole
    return moves, gained
