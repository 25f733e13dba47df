"""Rates as arrays: what a user, or all users of a broker, publish per channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from topicloom.base.arrays import Floats, Longs
from topicloom.content.brokers.messages import Rates

MOST = 1e12
"""Messages per second that nobody publishes on a channel: with more, sums would lose all that is small."""


def check_rates(rates: Rates | None, n_channels: float) -> str:
    """What is wrong with these rates, or an empty text.

    >>> check_rates(((0, 1.5),), 1), check_rates(((1, 1.5),), 1)
    ('', 'channel 1 has the rate 1.5: that channel does not exist, or nobody publishes so much')
    """
    for channel, rate in rates or ():
        if not (0 <= channel < n_channels and 0 <= rate <= MOST):  # NaN fails too
            return (
                f"channel {channel} has the rate {rate:g}: that channel does not exist, or nobody publishes "
                "so much"
            )
    return ""


class Flow(NamedTuple):
    """Channels, ascending and distinct, with their rates.

    >>> flow = flow_of(((2, 0.5), (7, 1.0)))
    >>> flow.total, flow.within([(0, 2), (8, 9)])
    (1.5, 0.5)
    """

    channels: Longs
    rates: Floats

    @property
    def total(self) -> float:
        return float(self.rates.sum())

    def within(self, ranges: Sequence[tuple[int, int]]) -> float:
        """What of it lies in these ranges of channels."""
        if not ranges or not len(self.rates):
            return 0.0
        ends = np.array(ranges)
        first = np.searchsorted(self.channels, ends[:, 0])
        last = np.searchsorted(self.channels, ends[:, 1], side="right")
        before = np.concatenate([[0.0], np.cumsum(self.rates)])
        return float((before[last] - before[first]).sum())


NOTHING = Flow(np.zeros(0, dtype=np.int64), np.zeros(0))


def flow_of(rates: Rates | None) -> Flow:
    """The arrays of sparse rates; None counts as nothing."""
    if not rates:
        return NOTHING
    table = np.array(rates, dtype=np.float64)
    channels = table[:, 0].astype(np.int64)
    if np.all(channels[1:] > channels[:-1]):
        return Flow(channels, table[:, 1])
    distinct, place = np.unique(channels, return_inverse=True)  # somebody did not keep to the order
    return Flow(distinct, np.bincount(place, weights=table[:, 1]).astype(np.float64))
