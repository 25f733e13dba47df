"""How much a move could save at most, roughly and quickly: most users sit well, and most brokers are needed.

A broker that drops out of a channel's tree saves no more than the link to its nearest member there. Under
terminal spanning trees a new member may make a tree lighter, so these are not bounds in the strict sense;
they only decide what is worth computing exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.kernels.core_trees import UNICAST
from topicloom.kernels.jit import kernel


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
def _start_gain(fixed: Any, state: Any, user: int) -> Any:
    """The most that is saved when a user's publications start from another broker."""
    home, gain = state.broker[user], 0.0
    for k in range(fixed.rate_ptr[user], fixed.rate_ptr[user + 1]):
        c = fixed.rate_channels[k]
        gain += fixed.rates[k] * (state.weight[c, home] - state.lightest[c])
    return gain


@kernel
def promising(fixed: Any, state: Any, user: int, anywhere: bool, least: float) -> Any:
    """May a move of this user save more than `least`?"""
    loss = _access_loss(fixed, state, user, anywhere)
    if loss == np.inf:
        return False
    home = np.int64(state.broker[user])
    hope = _start_gain(fixed, state, user) - loss
    for k in range(fixed.want_ptr[user], fixed.want_ptr[user + 1]):
        for c in range(fixed.want_first[k], fixed.want_last[k] + 1):
            if hope > least:
                return True
            if state.wanted[c, home] == 1:
                hope += _freed(fixed, state, c, home)
    return hope > least


@kernel
def worth_vacating(fixed: Any, state: Any, broker: int, guests: Any, least: float, left: Any) -> Any:
    """May it save more than `least` if these guests leave the broker? `left` is zero before and after."""
    hope = 0.0
    for k in range(len(guests)):
        guest = np.int64(guests[k])
        loss = _access_loss(fixed, state, guest, False)
        if loss == np.inf:
            return False
        hope += _start_gain(fixed, state, guest) - loss
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
