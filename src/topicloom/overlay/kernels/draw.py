"""Weighted draws without replacement, one independent random stream per node.

Successive draws: the next topic is i with probability w_i / (sum of the weights not drawn yet). With the
topics in falling order of weight and f the first one not drawn, this kernel draws from the suffix f.. and
draws again when the topic was drawn before. Rejection leaves the distribution of the next new topic exactly
as defined, and f itself is still free, so an attempt succeeds with probability at least w_f / S_f, where
S_i = sum of w_j over j >= i. That is 1/T at worst, so it ends under any law, however steep.
S is kept as a logarithm: under e^(-0.1 i) with 10,000 topics the tail is 10^-434 and yet can be drawn.

Random numbers are a hash of (stream key, node, attempt): any slice of nodes gives the same rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs
from topicloom.base.kernels.jit import inlined, kernel
from topicloom.base.kernels.random import STEP, mix, uniform_above


@inlined
def _stream(key: Any, node: Any) -> Any:
    """Return where the random stream of one node begins."""
    return mix(key + (np.uint64(node) + np.uint64(1)) * STEP)


@kernel
def _draw_sizes(key: Any, start: Any, low: Any, span: Any, out: Any) -> None:
    for i in range(len(out)):
        # 1 - u lies in [0, 1), so the floor below is never `span`.
        out[i] = low + np.int64((1.0 - uniform_above(_stream(key, start + i))) * span)


@inlined
def _last_at_least(survival: Any, first: Any, bound: Any) -> Any:
    """Return the last i >= first with survival[i] >= bound; survival falls, and holds at `first`."""
    low, high = first, len(survival)
    while high - low > 1:
        middle = (low + high) >> 1
        if survival[middle] >= bound:
            low = middle
        else:
            high = middle
    return low


@kernel
def _draw_topics(key: Any, start: Any, pointers: Any, survival: Any, drawn_by: Any, out: Any) -> None:
    """Fill out[pointers[i]:pointers[i+1]] for node start + i; `drawn_by[t]` is the last i that drew t."""
    for i in range(len(pointers) - 1):
        state = _stream(key, start + i)
        first = 0
        slot = pointers[i]
        while slot < pointers[i + 1]:
            state += STEP
            # S_topic >= u * S_first > S_(topic+1) has probability w_topic / S_first.
            topic = _last_at_least(survival, first, survival[first] + math.log(uniform_above(state)))
            if drawn_by[topic] != i:
                drawn_by[topic] = i
                out[slot] = topic
                slot += 1
                while first < len(survival) - 1 and drawn_by[first] == i:
                    first += 1
        out[pointers[i] : pointers[i + 1]].sort()


def log_survival(log_weights: Floats) -> Floats:
    """Return log S_i, S_i being the sum of the weights from topic i on, without leaving logarithms."""
    return np.ascontiguousarray(np.logaddexp.accumulate(log_weights[::-1])[::-1])


def draw_sizes(key: int, start: int, stop: int, low: int, high: int) -> Longs:
    """Draw subscription sizes of nodes start..stop-1: uniform integers from low to high, both included."""
    out = np.empty(stop - start, dtype=np.int64)
    with np.errstate(over="ignore"):  # 64-bit wrap-around is meant; without the JIT numpy would warn
        _draw_sizes(np.uint64(key), np.int64(start), np.int64(low), np.int64(high - low + 1), out)
    return out


def draw_topics(key: int, start: int, pointers: Longs, survival: Floats) -> Ints:
    """Draw topics, ascending per node, for the nodes from `start` on; node i draws ptr[i+1] - ptr[i]."""
    out = np.empty(int(pointers[-1]), dtype=np.int32)
    drawn_by = np.full(len(survival), -1, dtype=np.int64)
    with np.errstate(over="ignore"):
        _draw_topics(np.uint64(key), np.int64(start), pointers, survival, drawn_by, out)
    return out
