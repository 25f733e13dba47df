"""How much a move could save at most, quickly: most users sit well, and most brokers are needed.

A broker that drops out of a channel's tree saves no more than the link to its nearest member there. These are
bounds, but for one thing: a terminal spanning tree (FREE) may get lighter by a new member. How much by one
more takes longer to see, so only a `thorough` look does; how much by several is never counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.kernels.jit import kernel
from topicloom.content.kernels.assignment import weigh_trees
from topicloom.content.kernels.broker_trees import FREE, UNICAST

UNKNOWN, HEAVIER, LIGHTER = 0, 1, 2  # do trees get lighter by some new member?


@kernel
def _freed(fixed: Any, state: Any, channel: int, broker: int) -> Any:
    """The most that is saved when a broker drops out of a channel's trees."""
    wanted, row = state.wanted[channel], fixed.core[broker]
    if fixed.code == UNICAST:
        total = 0.0
        for p in range(len(row)):
            total += state.sent[channel, p] * row[p]
        return total
    nearest = np.inf
    for b in range(len(row)):
        if b != broker and wanted[b] > 0:
            nearest = min(nearest, row[b])
    if nearest == np.inf:
        return state.cost[channel]
    return fixed.channel_rate[channel] * nearest


@kernel
def _access_loss(fixed: Any, state: Any, user: int, anywhere: bool) -> Any:
    """What the access link costs more, at least, anywhere else where there is room."""
    home, demand = state.broker[user], fixed.demand[user]
    lowest = np.inf
    for b in range(len(state.load)):
        if b != home and (anywhere or state.load[b] + demand <= fixed.capacity[b]):
            lowest = min(lowest, fixed.access[user, b])
    if lowest == np.inf:
        return lowest
    return demand * (lowest - fixed.access[user, home])


@kernel
def _start_gain(fixed: Any, state: Any, user: int, leaving: int) -> Any:
    """The most that is saved when a user's publications start from another broker.

    Under UNICAST they no longer go to the old one either, if the last of its subscribers are among the
    `leaving` users that go.
    """
    home, gain = state.broker[user], 0.0
    for k in range(fixed.rate_ptr[user], fixed.rate_ptr[user + 1]):
        c = fixed.rate_channels[k]
        gain += fixed.rates[k] * (state.weight[c, home] - state.lightest[c])
    if fixed.code == UNICAST:
        away = fixed.core[home].max()
        for k in range(fixed.rate_ptr[user], fixed.rate_ptr[user + 1]):
            if 0 < state.wanted[fixed.rate_channels[k], home] <= leaving:
                gain += fixed.rates[k] * away
    return gain


@kernel
def may_save(fixed: Any, state: Any, user: int, anywhere: bool, least: float, thorough: bool) -> Any:
    """May a move of this user save more than `least`?

    At first glance FREE trees get no lighter by it; a `thorough` look finds those that were passed over then.
    """
    loss = _access_loss(fixed, state, user, anywhere)
    if loss == np.inf:
        return False
    home = np.int64(state.broker[user])
    freed, hope = 0.0, _start_gain(fixed, state, user, 1) - loss
    for k in range(fixed.want_ptr[user], fixed.want_ptr[user + 1]):
        for c in range(fixed.want_first[k], fixed.want_last[k] + 1):
            if hope + freed > least:
                return not thorough
            if state.wanted[c, home] == 1:
                freed += _freed(fixed, state, c, home)
    if hope + freed > least:
        return not thorough
    return thorough and fixed.code == FREE and _relieving(fixed, state, user, anywhere, least - freed)


@kernel
def _relieving(fixed: Any, state: Any, user: int, anywhere: bool, least: float) -> Any:
    """May it save more than `least` that trees get lighter by the user's new broker, and all that goes along?

    But for what its old broker saves by dropping out of trees.
    """
    home, demand, lighter = np.int64(state.broker[user]), fixed.demand[user], False
    hope, n = state.trials[2], len(state.load)
    for b in range(n):
        hope[b] = demand * (fixed.access[user, home] - fixed.access[user, b])
    for k in range(fixed.want_ptr[user], fixed.want_ptr[user + 1]):
        for c in range(fixed.want_first[k], fixed.want_last[k] + 1):
            if 1 < state.members[c] < n:
                _relieve(fixed, state, c)
                hope += state.relief[c]
                lighter |= state.relieved[c] == LIGHTER
    if not lighter:
        return False
    for k in range(fixed.rate_ptr[user], fixed.rate_ptr[user + 1]):
        c = fixed.rate_channels[k]
        row, rate, inside = state.weight[c], fixed.rates[k], state.wanted[c, home] > 0
        for b in range(n):
            gain = rate * (row[home] - row[b])
            if gain > 0.0 or not inside:  # the loss is counted above, if the user wants the channel too
                hope[b] += gain
    for b in range(n):
        if b != home and hope[b] > least and (anywhere or state.load[b] + demand <= fixed.capacity[b]):
            return True
    return False


@kernel
def _relieve(fixed: Any, state: Any, channel: int) -> None:
    """Bring a channel's `relief` up to date."""
    if state.relieved[channel] != UNKNOWN:
        return
    wanted, sent, weight = state.wanted[channel], state.sent[channel], state.weight[channel]
    relief, trial, inside, tree = state.relief[channel], state.trials[0], 0.0, 0.0
    relief[:] = 0.0
    for p in range(len(sent)):
        if wanted[p] > 0:
            inside += sent[p]
            tree = weight[p]
        elif sent[p] > 0.0:
            weigh_trees(fixed, state, channel, -1, p, trial)
            for b in range(len(sent)):
                relief[b] += sent[p] * (weight[p] - trial[b])
    for b in range(len(sent)):
        relief[b] = 0.0 if wanted[b] > 0 else relief[b] + inside * (tree - weight[b])
    state.relieved[channel] = LIGHTER if relief.max() > 0.0 else HEAVIER


@kernel
def worth_vacating(fixed: Any, state: Any, broker: int, guests: Any, least: float, left: Any) -> Any:
    """May it save more than `least` if these guests leave the broker? `left` is zero before and after."""
    hope = 0.0
    for k in range(len(guests)):
        guest = np.int64(guests[k])
        loss = _access_loss(fixed, state, guest, False)
        if loss == np.inf:
            return False
        hope += _start_gain(fixed, state, guest, len(guests)) - loss
    for guest in guests:
        for k in range(fixed.want_ptr[guest], fixed.want_ptr[guest + 1]):
            for c in range(fixed.want_first[k], fixed.want_last[k] + 1):
                left[c] += 1
                if left[c] == state.wanted[c, broker] and hope <= least:
                    hope += _freed(fixed, state, c, broker)
    for guest in guests:
        for k in range(fixed.want_ptr[guest], fixed.want_ptr[guest + 1]):
            left[fixed.want_first[k] : fixed.want_last[k] + 1] = 0
    return hope > least


@kernel
def least_change(fixed: Any, state: Any, user: int, target: int) -> Any:
    """About the least that a move to `target` changes the cost by, without computing any tree.

    A broker that joins a tree adds about what it is away from it; half of that is counted, to be careful.
    """
    home = np.int64(state.broker[user])
    change = fixed.demand[user] * (fixed.access[user, target] - fixed.access[user, home])
    for k in range(fixed.rate_ptr[user], fixed.rate_ptr[user + 1]):
        row = state.weight[fixed.rate_channels[k]]
        change += fixed.rates[k] * (row[target] - row[home])
    for k in range(fixed.want_ptr[user], fixed.want_ptr[user + 1]):
        for c in range(fixed.want_first[k], fixed.want_last[k] + 1):
            if state.wanted[c, target] == 0:
                change += 0.5 * fixed.channel_rate[c] * (state.weight[c, target] - state.lightest[c])
            if state.wanted[c, home] == 1:
                change -= _freed(fixed, state, c, home)
    return change
