"""Counting the bits of a word: the same number compiled or not, and one instruction where compiled."""

from __future__ import annotations

import platform

import numpy as np
import pytest
from numba import config, njit

from topicloom.base.arrays import Longs, Words
from topicloom.base.kernels.bits import ones


@njit
def counted(words: Words) -> Longs:
    counts = np.zeros(len(words), np.int64)
    for i in range(len(words)):
        counts[i] = ones(words[i])
    return counts


def test_ones_equal_the_digits_one():
    drawn = np.random.default_rng(7).integers(0, 2**64, 500, dtype=np.uint64)
    single = np.uint64(1) << np.arange(64, dtype=np.uint64)
    words = np.concatenate((drawn, single, ~single, np.array([0, 2**64 - 1], np.uint64)))
    naive = [f"{word:b}".count("1") for word in words.tolist()]
    assert counted(words).tolist() == naive
    assert [ones(word) for word in words] == naive


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="other names of the instruction")
def test_compiled_code_has_the_instruction():
    counted(np.zeros(1, np.uint64))
    assert "popcnt" in "\n".join(counted.inspect_asm().values())
