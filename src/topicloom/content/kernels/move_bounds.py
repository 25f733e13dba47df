"""Quick bounds on what a move could save: most users are well placed, and most brokers are needed.

A broker that drops out of a channel's tree saves no more than the link to its nearest member there. These are
bounds with one exception: a terminal spanning tree (FREE) may get lighter with a new member. What one more
member saves takes longer to compute, so only a `thorough` look does; what several save is never counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.kernels.jit import part
from topicloom.content.kernels.assignment import weigh_trees
from topicloom.content.kernels.broker_trees import FREE, UNICAST

UNKNOWN, HEAVIER, LIGHTER = 0, 1, 2  # do trees get lighter with some new member?


@part
def _freed(fixed: Any, state: Any, channel: int, broker: int) -> Any:
    """Bound what is saved when a broker drops out of a channel's trees."""
    wanted, row = state.wanted[channel], fixed.core.links[broker]
    if fixed.core.code == UNICAST:
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


@part
def access_loss(fixed: Any, state: Any, user: int, anywhere: bool) -> Any:
    """Return how much more the access link costs, at least, on any other broker with room."""
    home, demand = state.broker[user], fixed.demand[user]
    lowest = np.inf
    for b in range(len(state.load)):
        if b != home and (anywhere or state.load[b] + demand <= fixed.capacity[b]):
            lowest = min(lowest, fixed.access[user, b])
    if lowest == np.inf:
        return lowest
    return demand * (lowest - fixed.access[user, home])


@part
def _start_gain(fixed: Any, state: Any, user: int, leaving: int) -> Any:
    """Bound what is saved when a user's publications start from another broker.

    Under UNICAST they no longer go to the old one either, if its last subscribers are among the `leaving`
    users.
    """
    home, gain = state.broker[user], 0.0
    for k in range(fixed.rate_ptr[user], fixed.rate_ptr[user + 1]):
        c = fixed.rate_channels[k]
        gain += fixed.rates[k] * (state.weight[c, home] - state.lightest[c])
    if fixed.core.code == UNICAST:
        away = fixed.core.links[home].max()
        for k in range(fixed.rate_ptr[user], fixed.rate_ptr[user + 1]):
            if 0 < state.wanted[fixed.rate_channels[k], home] <= leaving:
                gain += fixed.rates[k] * away
    return gain


@part
def may_save(fixed: Any, state: Any, user: int, anywhere: bool, least: float, thorough: bool) -> Any:
    """Tell whether a move of this user may save more than `least`.

    The quick look takes it that FREE trees get no lighter; a `thorough` one finds only users it passed over.
    """
    loss = access_loss(fixed, state, user, anywhere)
    if loss == np.inf:
        return False
    home = np.int64(state.broker[user])
    freed, saved = 0.0, _start_gain(fixed, state, user, 1) - loss
    for k in range(fixed.want_ptr[user], fixed.want_ptr[user + 1]):
        for c in range(fixed.want_first[k], fixed.want_last[k] + 1):
            if saved + freed > least:
                return not thorough
            if state.wanted[c, home] == 1:
                freed += _freed(fixed, state, c, home)
    if saved + freed > least:
        return not thorough
    return thorough and fixed.core.code == FREE and _may_lighten(fixed, state, user, anywhere, least - freed)


@part
def _may_lighten(fixed: Any, state: Any, user: int, anywhere: bool, least: float) -> Any:
    """Tell whether lighter trees and all else that a new broker brings may save more than `least`.

    What the old broker saves by dropping out of trees is not counted here.
    """
    home, demand, lighter = np.int64(state.broker[user]), fixed.demand[user], False
    saved, n = state.trials[2], len(state.load)
    for b in range(n):
        saved[b] = demand * (fixed.access[user, home] - fixed.access[user, b])
    for k in range(fixed.want_ptr[user], fixed.want_ptr[user + 1]):
        for c in range(fixed.want_first[k], fixed.want_last[k] + 1):
            if 1 < state.members[c] < n:
                _fill_relief(fixed, state, c)
                saved += state.relief[c]
                lighter |= state.relieved[c] == LIGHTER
    if not lighter:
        return False
    for k in range(fixed.rate_ptr[user], fixed.rate_ptr[user + 1]):
        c = fixed.rate_channels[k]
        row, rate, inside = state.weight[c], fixed.rates[k], state.wanted[c, home] > 0
        for b in range(n):
            gain = rate * (row[home] - row[b])
            if gain > 0.0 or not inside:  # the loss is counted above, if the user wants the channel too
                saved[b] += gain
    for b in range(n):
        if b != home and saved[b] > least and (anywhere or state.load[b] + demand <= fixed.capacity[b]):
            return True
    return False


@part
def _fill_relief(fixed: Any, state: Any, channel: int) -> None:
    """Bring a channel's row of `relief` up to date."""
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


@part
def worth_vacating(fixed: Any, state: Any, broker: int, users: Any, least: float) -> Any:
    """Tell whether it may save more than `least` that these users leave."""
    saved, left = 0.0, state.left
    for k in range(len(users)):
        one = np.int64(users[k])
        loss = access_loss(fixed, state, one, False)
        if loss == np.inf:
            return False
        saved += _start_gain(fixed, state, one, len(users)) - loss
    for user in users:
        for k in range(fixed.want_ptr[user], fixed.want_ptr[user + 1]):
            for c in range(fixed.want_first[k], fixed.want_last[k] + 1):
                left[c] += 1
                if left[c] == state.wanted[c, broker] and saved <= least:
                    saved += _freed(fixed, state, c, broker)
    for user in users:
        for k in range(fixed.want_ptr[user], fixed.want_ptr[user + 1]):
            left[fixed.want_first[k] : fixed.want_last[k] + 1] = 0
    return saved > least


@part
def least_change(fixed: Any, state: Any, user: int, target: int) -> Any:
    """Estimate the least change of cost by a move to `target`, without computing any tree.

    A broker that joins a tree adds about its distance from it; half of that is counted, to be careful.
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
