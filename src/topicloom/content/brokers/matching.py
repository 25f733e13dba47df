"""An index of range subscriptions: which of them match an event, without looking at them all.

A packed tree of boxes (sorted tiles) that is built anew when enough has changed, and a short tail in between:
what is added waits there, what is removed is emptied in place.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import ceil, inf
from typing import Any

import numpy as np

from topicloom.base.arrays import Floats, Longs
from topicloom.content.brokers.messages import Box
from topicloom.content.kernels.matching import FAN, LEVELS, match_boxes
from topicloom.errors import UsageError

TAIL = 32  # so many are scanned as fast as a tree; beyond, a twelfth of the tree is allowed
FOUND = 1 << 12
_GROWN = 1 << 22


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
        self._number = np.empty(2 * TAIL, dtype=np.int64)
        self._row: dict[int, int] = {}
        self._owner: dict[int, Hashable] = {}
        self._next = self._packed = self._used = 0
        self._nodes: tuple[Any, Any, Any] = self._no_nodes()
        self._found = np.empty(FOUND, dtype=np.int32)
        self._stack = np.empty((FAN * LEVELS, 2), dtype=np.int32)

    def __len__(self) -> int:
        return len(self._row)

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
        numbers = range(self._next, self._next + count)
        self._reserve(self._used + count)
        rows = slice(self._used, self._used + count)
        self._low[rows], self._high[rows], self._number[rows] = low, high, numbers
        self._row.update(zip(numbers, range(self._used, self._used + count), strict=True))
        self._owner.update(zip(numbers, owners, strict=True))
        self._next += count
        self._used += count
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
        ends, parts, done, total = ptr[1:], [], 0, 0
        while done < len(points):
            reached, count = match_boxes(
                points, done, self._low, self._high, self._packed, self._used, *self._nodes, self._stack,
                ends, self._found,
            )  # fmt: skip
            parts.append(self._number[self._found[:count]])
            ends[done:reached] += total
            total += count
            done = reached
            if done < len(points) and len(self._found) < _GROWN + self._used:
                self._found = np.empty(4 * len(self._found), dtype=np.int32)
        return ptr, parts[0] if len(parts) == 1 else np.concatenate([*parts, np.empty(0, dtype=np.int64)])

    def _no_nodes(self) -> tuple[Any, Any, Any]:
        empty = np.empty((0, self.n_attributes))
        return empty, empty.copy(), np.zeros(1, dtype=np.int32)

    def _reserve(self, rows: int) -> None:
        if rows > len(self._low):
            size = max(rows, 2 * len(self._low))
            for name in ("_low", "_high", "_number"):
                old = getattr(self, name)
                new = np.empty((size, *old.shape[1:]), dtype=old.dtype)
                new[: self._used] = old[: self._used]
                setattr(self, name, new)

    def _tidy(self) -> None:
        """Build the tree anew once the tail, or the emptied rows, cost more than that."""
        spare = max(TAIL, self._packed // 12)
        if self._used - self._packed > spare or self._used - len(self._row) > max(TAIL, self._used // 2):
            self._pack()

    def _pack(self) -> None:
        alive = np.flatnonzero(self._low[: self._used, 0] < inf) if self.n_attributes else np.arange(0)
        # A subscription may itself be empty or begin at infinity: it never matches, but it has a number.
        if len(alive) != len(self._row):
            alive = np.sort(np.fromiter(self._row.values(), dtype=np.int64, count=len(self._row)))
        low, high, number = self._low[alive], self._high[alive], self._number[alive]
        order = _tiles(low, high)
        n = self._packed = self._used = len(order)
        self._low[:n], self._high[:n], self._number[:n] = low[order], high[order], number[order]
        self._row = dict(zip(self._number[:n].tolist(), range(n), strict=True))
        self._nodes = self._bounds(n) if n else self._no_nodes()

    def _bounds(self, n: int) -> tuple[Any, Any, Any]:
        lows: list[Floats] = []
        highs: list[Floats] = []
        starts = [0]
        low, high = self._low[:n], self._high[:n]
        while not lows or len(low) > 1:
            cuts = np.arange(0, len(low), FAN)
            low, high = np.minimum.reduceat(low, cuts), np.maximum.reduceat(high, cuts)
            lows.append(low)
            highs.append(high)
            starts.append(starts[-1] + len(low))
        return np.concatenate(lows), np.concatenate(highs), np.array(starts, dtype=np.int32)


def _tiles(low: Floats, high: Floats) -> Longs:
    """Return an order that puts close boxes into neighboring rows: sort-tile-recursive, by the middles."""
    n, width = low.shape
    group = np.zeros(n, dtype=np.int64)
    order: Longs = np.arange(n)
    leaves = ceil(n / FAN)
    for attribute in range(width):
        middle = _middle(low[:, attribute], high[:, attribute])
        order = np.lexsort((middle, group))
        if attribute == width - 1:
            break
        # So many slabs along this attribute within each group, a tile of rows each.
        slabs = max(1, round(leaves ** (1 / (width - attribute))))
        leaves = ceil(leaves / slabs)
        sizes = np.bincount(group)
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        group = group * slabs + place * slabs // np.maximum(sizes[group], 1)
        group = np.unique(group, return_inverse=True)[1]
    return order


def _middle(low: Floats, high: Floats) -> Floats:
    """Return the middle of each range; infinite ends count as the outermost finite ones."""
    ends = np.concatenate([low, high])
    finite = ends[np.isfinite(ends)]
    if not len(finite):
        return np.zeros(len(low))
    least, most = finite.min(), finite.max()
    middle: Floats = np.clip(low, least, most) / 2 + np.clip(high, least, most) / 2
    return middle
