"""The exact cost of an assignment of users to brokers, and how one move changes it [Zhao2011, IV].

cost = sum over users of demand * access price
     + sum over channels c and brokers p of sent[c, p] * weight[c, p]
where sent[c, p] is the rate of p's users on c, and weight[c, p] the weight of the tree from p to all brokers
with a subscriber of c. A move changes `weight` only where a broker gains its first subscriber or loses the
last one.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from topicloom.base.kernels.jit import kernel, part
from topicloom.content.kernels.broker_trees import fill_weights


class ProblemArrays(
    namedtuple(
        "ProblemArrays",
        "access demand capacity rate_ptr rate_channels rates want_ptr want_first want_last channel_rate core",
    )
):
    """What a search never changes: the problem as plain arrays; `core` are the CoreArrays of the model."""

    __slots__ = ()


class AssignmentState(
    namedtuple(
        "AssignmentState",
        "broker load wanted sent weight members lightest cost relief relieved"
        " listed ints floats trials sure estimate left",
    )
):
    """An assignment and all that follows from it; from `listed` on scratch, of which `left` is kept zero.

    Channels x brokers: `wanted` counts subscribers, `sent` adds up rates, `weight` holds the trees' weights.
    `members[c]` is the number of brokers with a subscriber, `lightest[c]` the least of the weights, `cost[c]`
    the channel's core cost, `relief[c, b]` what b saves by joining (kept by move_bounds.py).
    """

    __slots__ = ()


@part
def weigh_trees(fixed: Any, state: Any, channel: int, without: int, added: int, out: Any) -> Any:
    """Weigh a channel's trees if `without` left and `added` joined (-1: none); return its broker count."""
    n = 0
    row = state.wanted[channel]
    for b in range(len(row)):
        if (row[b] > 0 and b != without) or b == added:
            state.listed[n] = b
            n += 1
    fill_weights(fixed.core, state.listed, n, state.ints, state.floats, out)
    return n


@kernel
def fill_state(fixed: Any, state: Any) -> None:
    """Compute everything that follows from `state.broker`."""
    state.load[:] = 0.0
    state.wanted[:] = 0
    state.sent[:] = 0.0
    for user in range(len(state.broker)):
        b = state.broker[user]
        state.load[b] += fixed.demand[user]
        for k in range(fixed.rate_ptr[user], fixed.rate_ptr[user + 1]):
            state.sent[fixed.rate_channels[k], b] += fixed.rates[k]
        for k in range(fixed.want_ptr[user], fixed.want_ptr[user + 1]):
            for c in range(fixed.want_first[k], fixed.want_last[k] + 1):
                state.wanted[c, b] += 1
    for c in range(len(state.cost)):
        refresh(fixed, state, c)


@part
def refresh(fixed: Any, state: Any, channel: int) -> None:
    """Recompute a channel's weights, members and core cost."""
    weight, sent = state.weight[channel], state.sent[channel]
    state.members[channel] = weigh_trees(fixed, state, channel, -1, -1, weight)
    total, least = 0.0, weight[0]
    for p in range(len(sent)):
        total += sent[p] * weight[p]
        least = min(least, weight[p])
    state.cost[channel] = total
    state.lightest[channel] = least


@part
def move_change(fixed: Any, state: Any, user: int, target: int) -> Any:
    """Return how the total cost would change if `user` moved to broker `target`."""
    home = np.int64(state.broker[user])
    if home == target:
        return 0.0
    change = fixed.demand[user] * (fixed.access[user, target] - fixed.access[user, home])
    at, end = fixed.rate_ptr[user], fixed.rate_ptr[user + 1]
    for k in range(at, end):
        row = state.weight[fixed.rate_channels[k]]
        change += fixed.rates[k] * (row[target] - row[home])
    for k in range(fixed.want_ptr[user], fixed.want_ptr[user + 1]):
        for c in range(fixed.want_first[k], fixed.want_last[k] + 1):
            leaves, joins = state.wanted[c, home] == 1, state.wanted[c, target] == 0
            if not (leaves or joins) or fixed.channel_rate[c] == 0.0:
                continue
            while at < end and fixed.rate_channels[at] < c:
                at += 1
            own = fixed.rates[at] if at < end and fixed.rate_channels[at] == c else 0.0
            trial, sent, weight = state.trials[0], state.sent[c], state.weight[c]
            weigh_trees(fixed, state, c, home if leaves else -1, target if joins else -1, trial)
            for p in range(len(sent)):
                change += sent[p] * trial[p]
            change -= state.cost[c]
            change += own * (trial[target] - trial[home] - weight[target] + weight[home])
    return change


@kernel
def move(fixed: Any, state: Any, user: int, target: int) -> None:
    """Move `user` to broker `target`."""
    home = state.broker[user]
    state.broker[user] = target
    state.load[home] -= fixed.demand[user]
    state.load[target] += fixed.demand[user]
    for k in range(fixed.rate_ptr[user], fixed.rate_ptr[user + 1]):
        c = fixed.rate_channels[k]
        state.sent[c, home] -= fixed.rates[k]
        state.sent[c, target] += fixed.rates[k]
        state.cost[c] += fixed.rates[k] * (state.weight[c, target] - state.weight[c, home])
    for k in range(fixed.want_ptr[user], fixed.want_ptr[user + 1]):
        for c in range(fixed.want_first[k], fixed.want_last[k] + 1):
            state.wanted[c, home] -= 1
            state.wanted[c, target] += 1
            if state.wanted[c, home] == 0 or state.wanted[c, target] == 1:
                refresh(fixed, state, c)
