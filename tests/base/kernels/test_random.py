"""The generator is splitmix64 as published, and every function of it draws from that one stream."""

from __future__ import annotations

import numpy as np
import pytest

from topicloom.base.kernels.random import STEP, draw, mix, scatter, uniform, uniform_above

# The first words of the published generator (Vigna, splitmix64.c) from seed 0.
WORDS = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def counter(k: int) -> np.uint64:
    return np.uint64(k * int(STEP) % 2**64)


def reference(x: int) -> int:
    """One step of splitmix64 from state x, in whole numbers."""
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_the_words_of_a_counter_are_the_published_ones():
    assert [int(mix(counter(k))) for k in (1, 2, 3)] == WORDS


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_numbers_are_the_upper_53_bits_of_a_word():
    for k, word in enumerate(WORDS, 1):
        assert uniform(counter(k)) == (word >> 11) / 2**53
        assert uniform_above(counter(k)) == ((word >> 11) + 1) / 2**53


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_draws_take_one_word_each():
    state = np.zeros(1, np.uint64)
    assert [int(draw(state, 1000)) for _ in WORDS] == [(word >> 11) % 1000 for word in WORDS]
    assert state[0] == counter(3)


@pytest.mark.parametrize("seed", [0, 5, 2**63 + 5, -1])
def test_scattered_keys_depend_on_key_and_seed_alone(seed):
    keys = np.array([0, 1, 7 << 32 | 3], np.int64)
    own = reference(seed % 2**64)
    assert scatter(keys, seed).tolist() == [reference(reference(int(key)) ^ own) for key in keys]
