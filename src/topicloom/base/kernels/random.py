"""The one random generator of all kernels, splitmix64: a counter that goes up by STEP, and a mix of its bits.

Any counter may be looked at on its own, so what one node or slice draws never depends on another's draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.arrays import Longs, Words
from topicloom.base.kernels.jit import bare, inlined, kernel

STEP = np.uint64(0x9E3779B97F4A7C15)
UNIT = 1.0 / (1 << 53)


@inlined
def mix(x: Any) -> Any:
    """A random word of a counter: a bijection of 64 bits in which every input bit counts."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@inlined
def uniform(counter: Any) -> Any:
    """A number in [0, 1), a multiple of 2^-53."""
    return np.float64(mix(counter) >> np.uint64(11)) * UNIT


@inlined
def uniform_above(counter: Any) -> Any:
    """A number in (0, 1], a multiple of 2^-53: its logarithm is finite."""
    return ((mix(counter) >> np.uint64(11)) + np.uint64(1)) * UNIT


@inlined
def draw(state: Words, n: int) -> Any:
    """A number in 0..n-1; the counter is state[0]."""
    state[0] += STEP
    return np.int64((mix(state[0]) >> np.uint64(11)) % np.uint64(n))


@bare
def odds(x: float) -> float:
    """Return about exp(-x): (1 - x / 1024)^1024 by squaring, which gives the same bits on every machine."""
    share = max(1.0 - x / 1024.0, 0.0)
    for _ in range(10):
        share *= share
    return share


@kernel
def _scatter(keys: Words, seed: Any) -> Words:
    own = mix(seed + STEP)
    out = np.empty(len(keys), np.uint64)
    for i in range(len(keys)):
        out[i] = mix((mix(keys[i] + STEP) ^ own) + STEP)
    return out


def scatter(keys: Longs, seed: int) -> Words:
    """A number for each key that looks random and depends on the key and the seed alone."""
    with np.errstate(over="ignore"):  # 64-bit wrap-around is meant; without the JIT numpy would warn
        return _scatter(keys.view(np.uint64), np.uint64(seed % (1 << 64)))
