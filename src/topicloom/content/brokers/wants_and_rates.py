"""What users want and publish: boxes, channels, rates.

Boxes are used to forward events, so nothing is delivered that nobody wants. Channels only serve to compute
costs ([Zhao2011, IV-A]: "sub-channeling is not used in message forwarding").
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple, TypeVar

import numpy as np

from topicloom.base.arrays import Floats, Longs
from topicloom.content.brokers.messages import Box, Point, Rates, Wants

N = TypeVar("N", int, float)
MOST = 1e12  # messages per second on a channel; with more, sums would lose all that is small


def find_fault(wants: Wants, rates: Rates | None, n_attributes: int, n_channels: float) -> str:
    """Return what is wrong with what a user wants and publishes, or an empty text.

    >>> find_fault((), ((0, 1.5),), 1, 1), find_fault((), ((1, 1.5),), 1, 1)
    ('', 'channel 1 has the rate 1.5: that channel does not exist, or nobody publishes so much')
    """
    for box in wants:
        if len(box) != n_attributes:
            return f"a subscription has {len(box)} ranges where there are {n_attributes} attributes"
        if not all(low <= high for low, high in box):  # NaN fails too, here and below
            return f"a range of subscription {box} ends before it begins"
    for channel, rate in rates or ():
        if not (0 <= channel < n_channels and 0 <= rate <= MOST):
            what = "that channel does not exist, or nobody publishes so much"
            return f"channel {channel} has the rate {rate:g}: {what}"
    return ""


def matches(wants: Wants, point: Point) -> bool:
    """Tell whether one of the boxes holds the point.

    >>> matches((((0, 5),), ((9, 10),)), (9,)), matches((((0, 5),),), (5,))
    (True, False)
    """
    return any(
        all(low <= value < high for (low, high), value in zip(box, point, strict=True)) for box in wants
    )


def union(wants: Iterable[Box]) -> Wants:
    """Return boxes that together hold what the given ones hold, in a fixed order, as few as is easy.

    >>> union([((3, 5),), ((0, 2),), ((2, 4),), ((7, 7),)])
    (((0, 5),),)
    """
    boxes = sorted({box for box in wants if all(low < high for low, high in box)})
    if not boxes:
        return ()
    if len(boxes[0]) == 1:
        return tuple((run,) for run in joined((run for (run,) in boxes), gap=0))
    low, high = np.array(boxes).transpose(2, 0, 1)
    around = (((low <= low[k]) & (high >= high[k])).all(axis=1) for k in range(len(boxes)))
    # Each box lies inside itself; those inside another one are left out.
    return tuple(box for box, holds in zip(boxes, around, strict=True) if np.count_nonzero(holds) == 1)


def joined(runs: Iterable[tuple[N, N]], gap: int = 1) -> list[tuple[N, N]]:
    """Return ranges that cover the runs, ascending, each more than `gap` above the one before.

    The ends of ranges of channels are both included, so they touch if one begins 1 above the other.

    >>> joined([(5, 6), (0, 1), (2, 3)])
    [(0, 3), (5, 6)]
    """
    found: list[tuple[N, N]] = []
    for first, last in sorted(set(runs)):
        if found and first <= found[-1][1] + gap:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found


class Channels:
    """A grid over the attributes: `bounds[a]` cuts attribute a, channels are numbered last attribute first.

    >>> from math import inf
    >>> grid = Channels([[0, 1, 2, 3], [0, 10, 20]])
    >>> grid.channel_of((1.5, 12)), grid.ranges_of((((0.5, 2), (-inf, 10)),)), grid.count
    (3, [(0, 0), (2, 2)], 6)
    >>> grid.channel_of((7, 12))
    -1
    """

    def __init__(self, bounds: Sequence[Sequence[float]]) -> None:
        self._bounds = [list(map(float, cuts)) for cuts in bounds]
        self._sizes = [len(cuts) - 1 for cuts in self._bounds]
        self.count = int(np.prod(self._sizes))

    @classmethod
    def numbered(cls, n_channels: int) -> Channels:
        """Return a grid with one attribute, the number of the channel itself."""
        return cls([range(n_channels + 1)])

    @property
    def n_attributes(self) -> int:
        return len(self._bounds)

    def channel_of(self, point: Point) -> int:
        """Return the channel of an event; -1 outside of the grid."""
        channel = 0
        for value, cuts, size in zip(point, self._bounds, self._sizes, strict=True):
            cell = bisect_right(cuts, value) - 1
            if not 0 <= cell < size:
                return -1
            channel = channel * size + cell
        return channel

    def ranges_of(self, wants: Wants) -> list[tuple[int, int]]:
        """Return ranges of channels, both ends included, that cover the wants; ascending, never touching."""
        return joined(run for box in wants for run in self._runs(box))

    def _runs(self, box: Box) -> Iterator[tuple[int, int]]:
        cells = []
        for (low, high), cuts, size in zip(box, self._bounds, self._sizes, strict=True):
            first, end = max(bisect_right(cuts, low) - 1, 0), min(bisect_left(cuts, high), size)
            if low >= high or first >= end:
                return
            cells.append(range(first, end))
        for outer in product(*cells[:-1]):
            base = 0
            for cell, size in zip(outer, self._sizes, strict=False):
                base = base * size + cell
            base *= self._sizes[-1]
            yield base + cells[-1][0], base + cells[-1][-1]


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
        """Return the part of the rate that lies in these ranges of channels."""
        if not ranges or not len(self.rates):
            return 0.0
        ends = np.array(ranges)
        first = np.searchsorted(self.channels, ends[:, 0])
        last = np.searchsorted(self.channels, ends[:, 1], side="right")
        before = np.concatenate([[0.0], np.cumsum(self.rates)])
        return float((before[last] - before[first]).sum())


NOTHING = Flow(np.zeros(0, dtype=np.int64), np.zeros(0))


def flow_of(rates: Rates | None) -> Flow:
    """Return sparse rates as arrays; None counts as nothing."""
    if not rates:
        return NOTHING
    table = np.array(rates, dtype=np.float64)
    # Somebody may not have kept to the order, or repeat a channel.
    channels, place = np.unique(table[:, 0].astype(np.int64), return_inverse=True)
    return Flow(channels, np.bincount(place, weights=table[:, 1]).astype(np.float64))
