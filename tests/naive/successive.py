"""Successive weighted draws without replacement, as defined: draw, take it out, draw again."""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np

from topicloom.base.arrays import Floats
from topicloom.overlay.workloads.laws import Popularity


def successive_draw(weights: list[float], size: int, rng: random.Random) -> list[int]:
    """`size` distinct positions, each drawn with probability proportional to the weights left."""
    left = dict(enumerate(weights))
    drawn = []
    for _ in range(size):
        topic = rng.choices(list(left), list(left.values()))[0]
        drawn.append(topic)
        del left[topic]
    return drawn


def first_draw(popularity: Popularity, n_topics: int) -> Floats:
    """The probability of each topic in a first draw; the far tail of a steep law may read 0."""
    logs = popularity.log_weights(n_topics)
    weights = np.exp(logs - logs.max(initial=-np.inf))
    return np.asarray(weights / weights.sum())


def set_probabilities(weights: list[float], size: int) -> dict[frozenset[int], float]:
    """The exact probability of every set of `size` positions: the sum over the orders it can come in."""
    result: dict[frozenset[int], float] = {}
    for order in permutations(range(len(weights)), size):
        probability, left = 1.0, sum(weights)
        for topic in order:
            probability *= weights[topic] / left
            left -= weights[topic]
        result[frozenset(order)] = result.get(frozenset(order), 0.0) + probability
    return result
