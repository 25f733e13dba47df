"""An index of range subscriptions: which of them match an event, without looking at them all.

A packed tree of boxes (sorted tiles) that is built anew when enough has changed, and a short tail in between:
what is added waits there, what is removed is emptied in place.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import ceil, inf
from typing import Any

import numpy as np

from topicloom.base.arrays import Floats, Longs
from topicloom.content.brokers.messages import Box
from topicloom.content.kernels.matching import match_boxes
from topicloom.errors import UsageError

FAN = 16  # boxes or nodes below a node
TAIL = 32  # so many are scanned as fast as a tree; beyond, a twelfth of the tree is allowed
FOUND = 1 << 12


class SubscriptionIndex:
    """Subscriptions by number, each with an owner (any hashable value).

    >>> index = SubscriptionIndex(2)
    >>> cheap, near = index.add("u", ((0, 10), (-inf, inf))), index.add("v", ((0, 99), (0, 5)))
    >>> index.match((3, 7)), index.owners((3, 4)), index.owners((10, 5))
    ([0], ['u', 'v'], [])
    >>> index.remove(cheap)
    >>> index.match((3, 4)), len(index)
    ([1], 1)
    """

    def __init__(self, n_attributes: int) -> None:
        self.n_attributes = n_attributes
        self._low, self._high = np.empty((2 * TAIL, n_attributes)), np.empty((2 * TAIL, n_attributes))
        self._skip, self._number = np.empty((2, 2 * TAIL), dtype=np.int64)
        self._row: dict[int, int] = {}
        self._owner: dict[int, Hashable] = {}
        self._assigned: dict[Hashable, dict[Box, int]] = {}
        self._next = self._packed = self._used = 0
        self._found = np.empty(FOUND, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._row)

    def assign(self, owner: Hashable, boxes: Iterable[Box]) -> None:
        """Give an owner these subscriptions instead of those it was assigned before."""
        before, wanted = self._assigned.pop(owner, {}), dict.fromkeys(boxes)
        for box in before.keys() - wanted.keys():
            self.remove(before[box])
        now = {box: before[box] if box in before else self.add(owner, box) for box in wanted}
        if now:
            self._assigned[owner] = now

    def add(self, owner: Hashable, box: Box) -> int:
        """Add a subscription and return its number; a range of `box` is (low, high), half-open."""
        ranges = np.asarray(box, dtype=np.float64).reshape(-1, 2)
        return self.add_many([owner], ranges[None, :, 0], ranges[None, :, 1])[0]

    def add_many(self, owners: Sequence[Hashable], low: Any, high: Any) -> range:
        """Add subscriptions and return their numbers; row k of `low` and `high` is one of `owners[k]`."""
        low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        count = len(owners)
        if low.shape != (count, self.n_attributes) or high.shape != low.shape:
            raise UsageError(f"a subscription needs a range for each of the {self.n_attributes} attributes")
        if np.isnan(low).any() or np.isnan(high).any():
            raise UsageError("the ends of a range are numbers or infinite, never NaN")
        if self._used + count > len(self._low):
            self._tidy()  # subscriptions may come and go without any event in between
        numbers, places = (range(first, first + count) for first in (self._next, self._used))
        self._write(self._used, low, high, np.array(numbers, dtype=np.int64))
        self._row.update(zip(numbers, places, strict=True))
        self._owner.update(zip(numbers, owners, strict=True))
        self._next += count
        return numbers

    def remove(self, number: int) -> None:
        """Forget a subscription; KeyError if there is none of that number."""
        row = self._row.pop(number)
        del self._owner[number]
        self._low[row] = inf

    def match(self, point: Sequence[float]) -> list[int]:
        """Return the subscriptions that match, in ascending order."""
        numbers: list[int] = self.match_batch(np.asarray([point], dtype=np.float64))[1].tolist()
        return sorted(numbers)

    def owners(self, point: Sequence[float]) -> list[Any]:
        """Return the owner of each subscription that matches, in the order of their numbers."""
        return [self._owner[number] for number in self.match(point)]

    def match_batch(self, points: Any) -> tuple[Longs, Longs]:
        """Return (ptr, numbers): `numbers[ptr[k]:ptr[k+1]]` match point k, in no special order."""
        points = np.ascontiguousarray(points, dtype=np.float64).reshape(-1, self.n_attributes)
        self._tidy()
        ptr = np.zeros(len(points) + 1, dtype=np.int64)
        rows = self._low, self._high, self._skip, self._number, self._used
        count = match_boxes(points, *rows, ptr, self._found)
        if count > len(self._found):
            self._found = np.empty(2 * count, dtype=np.int64)
            match_boxes(points, *rows, ptr, self._found)
        return ptr, self._found[:count].copy()

    def _write(self, first: int, low: Floats, high: Floats, number: Longs) -> None:
        """Make these the last rows, from `first` on, each skipped to the next."""
        self._used = first + len(low)
        skip = np.arange(first, self._used) + 1
        for name, new in (("_low", low), ("_high", high), ("_number", number), ("_skip", skip)):
            rows = getattr(self, name)
            if self._used > len(rows):
                room = np.empty((max(self._used, 2 * len(rows)), *rows.shape[1:]), dtype=rows.dtype)
                room[:first] = rows[:first]
                setattr(self, name, room)
                rows = room
            rows[first : self._used] = new

    def _tidy(self) -> None:
        """Build the tree anew once the tail, or the emptied rows, cost more than that."""
        spare = max(TAIL, self._packed // 12)
        if self._used - self._packed > spare or self._used - len(self._row) > max(TAIL, self._used // 2):
            self._pack()

    def _pack(self) -> None:
        """Put all subscriptions into a tree, close ones below the same node, nodes before what they bound."""
        self._packed = self._used = 0
        if not self._row:
            return
        rows = np.fromiter(self._row.values(), dtype=np.int64, count=len(self._row))
        rows = rows[_tiles(_middles(self._low[rows], self._high[rows]))]
        low, high, number = self._low[rows], self._high[rows], self._number[rows]
        sizes = [FAN]  # of what is below a node, level by level
        while sizes[-1] < len(rows):
            sizes.append(sizes[-1] * FAN)
        boxes: Longs = np.arange(len(rows))
        place = boxes + sum(boxes // size + 1 for size in sizes)  # after all nodes that begin before
        self._packed = int(place[-1]) + 1
        nothing = np.empty((self._packed, self.n_attributes))
        self._write(0, nothing, nothing, np.full(self._packed, -1))
        self._low[place], self._high[place], self._number[place] = low, high, number
        for level, size in enumerate(sizes, start=1):
            firsts = boxes[::size]
            nodes = place[firsts] - level
            self._low[nodes] = np.minimum.reduceat(low, firsts)
            self._high[nodes] = np.maximum.reduceat(high, firsts)
            self._skip[nodes] = place[np.minimum(firsts + size, len(rows)) - 1] + 1
        self._row = dict(zip(number.tolist(), place.tolist(), strict=True))


def _tiles(middles: Floats) -> Longs:
    """Return an order that puts close boxes into neighboring rows: sort-tile-recursive, by the middles."""
    order: Longs = np.argsort(middles[:, 0], kind="stable")
    width = middles.shape[1]
    if width == 1:
        return order
    slabs = max(1, round(ceil(len(order) / FAN) ** (1 / width)))
    parts = np.array_split(order, slabs)
    return np.concatenate([part[_tiles(middles[part, 1:])] for part in parts])


def _middles(low: Floats, high: Floats) -> Floats:
    """Return the middle of each range; infinite ends count as the outermost finite ones."""
    ends = np.concatenate([low, high])
    finite = np.isfinite(ends)
    least = np.min(ends, axis=0, initial=inf, where=finite)
    most = np.max(ends, axis=0, initial=-inf, where=finite)
    least, most = np.where(least <= most, (least, most), 0.0)
    middles: Floats = np.clip(low, least, most) / 2 + np.clip(high, least, most) / 2
    return middles
