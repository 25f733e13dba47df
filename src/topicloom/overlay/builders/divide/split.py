"""Bulk and light nodes [Chen2010, IV-B]: who is dealt out to groups and who waits for the end.

A node that wants very many topics, dealt into a group of nodes that have little in common, has to be linked
to most of them (Lemma 8). So only the light nodes are divided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Ints, freeze_fields
from topicloom.overlay.model.interest import Interest

BULK_SHARE = 5
"""With `eta="auto"` at most one node in so many is bulk: the 80-20 rule of section V."""


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Node numbers, ascending: `bulk` want more than `eta` topics, `light` at most that many."""

    eta: int
    bulk: Ints
    light: Ints

    def __post_init__(self) -> None:
        freeze_fields(self)


def split_bulk(interest: Interest, eta: int | str = "auto") -> Split:
    """Part the nodes by subscription size; `"auto"` takes the smallest eta with at most 20% bulk nodes.

    >>> interest = Interest.from_pairs([*((node, topic) for node in "abcde" for topic in "xy"), ("c", "z")])
    >>> split = split_bulk(interest)
    >>> split.eta, split.bulk.tolist(), split.light.tolist()
    (2, [2], [0, 1, 3, 4])
    """
    sizes = interest.subscription_sizes()
    threshold = smallest_eta(*np.unique(sizes, return_counts=True)) if isinstance(eta, str) else eta
    bulk = sizes > threshold
    return Split(threshold, _numbers(bulk), _numbers(~bulk))


def smallest_eta(sizes: NDArray[Any], counts: NDArray[Any]) -> int:
    """The smallest threshold that at most 20% of the nodes exceed; `counts[i]` want `sizes[i]` topics.

    >>> smallest_eta(np.array([1, 2, 3]), np.array([2, 2, 1])), smallest_eta(np.array([7]), np.array([3]))
    (2, 7)
    """
    if not len(sizes):
        return 0
    above = counts.sum() - np.cumsum(counts)  # nodes that want more than sizes[i]
    return int(sizes[np.argmax(above <= counts.sum() // BULK_SHARE)])


def _numbers(chosen: NDArray[Any]) -> Ints:
    return np.flatnonzero(chosen).astype(np.int32)
