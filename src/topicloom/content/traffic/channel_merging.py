"""Merge neighboring parts of one attribute, least false traffic first, until few enough are left.

Only counts of users are needed, and they follow from the intervals of the subscriptions: no set of users is
kept per part, so 100,000 users with 200,000 end points need only megabytes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Longs
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.content.model.problem import merged_ranges, times_wanted

_LOOK_EVERY = 1_000  # merges between two checks for a stop


@dataclass(frozen=True, slots=True, eq=False)
class WantedRanges:
    """Ranges of numbered parts that users want, both ends included; those of a user never touch."""

    user: Longs
    first: Longs
    last: Longs

    @classmethod
    def of(
        cls, user: NDArray[np.integer], first: NDArray[np.integer], last: NDArray[np.integer]
    ) -> WantedRanges:
        """Sort by user and place, and join ranges that overlap or touch."""
        return cls(*merged_ranges(user, first, last))

    def wanted(self, n_parts: int) -> Longs:
        """Count the users that want each part."""
        return times_wanted(self.first, self.last, n_parts)


def merge_parts(
    messages: Longs, ranges: WantedRanges, limit: int, *, progress: Progress = SILENT
) -> list[tuple[int, int]]:
    """Return the stretches of parts (first, last) that make at most `limit` channels, in ascending order.

    `messages[x]` is how many messages fall into part x. Every wanted part begins as a channel. When two
    neighboring channels A and B are merged, every user that wants one of them also takes the other's messages
    and those of the unwanted parts in between. The neighbors that add the least false traffic go first:

        messages(A to B) * |users of A or B|  -  messages(A) * |users of A|  -  messages(B) * |users of B|

    Ties go to the fewest users that take something new, then to the left. All counts are whole numbers, so
    the order is exact. [Zhao2011, IV-A]: a subscription is covered by as few intervals as possible.
    """
    wanted = np.flatnonzero(ranges.wanted(len(messages)) > 0).tolist()
    if len(wanted) <= limit:
        return [(part, part) for part in wanted]
    return _Chain(messages, ranges, wanted).shortened(max(limit, 1), progress)


class _Chain:
    """The channels from left to right, each known by its first part, and a heap of what merges would add."""

    def __init__(self, messages: Longs, ranges: WantedRanges, wanted: list[int]) -> None:
        self._before = np.concatenate([[0], np.cumsum(messages)]).tolist()
        self._counter = UserCounter(ranges, len(messages))
        self._last = {part: part for part in wanted}
        self._next: dict[int, int] = dict(pairwise(wanted))
        self._previous: dict[int, int] = dict(pairwise(reversed(wanted)))
        self._users = {part: self._counter.count(part, part) for part in wanted}
        self._heap = [entry for part in wanted for entry in self._entry(part)]
        heapq.heapify(self._heap)

    def shortened(self, limit: int, progress: Progress) -> list[tuple[int, int]]:
        progress.phase("merge channels", float(len(self._last) - limit))
        while len(self._last) > limit:
            _, _, left, left_last, right_last = heapq.heappop(self._heap)
            right = self._next.get(left)
            # An entry is valid only while both its channels are unchanged.
            if right is None or self._last.get(left) != left_last or self._last[right] != right_last:
                continue
            self._merge(left, right)
            if len(self._last) % _LOOK_EVERY == 0:
                check_stop(progress)
                progress.advance(float(_LOOK_EVERY))
        return sorted(self._last.items())

    def _merge(self, left: int, right: int) -> None:
        self._last[left] = self._last.pop(right)
        self._users[left] = self._counter.count(left, self._last[left])
        del self._users[right], self._previous[right]
        after = self._next.pop(right, None)
        if after is None:
            del self._next[left]
        else:
            self._next[left], self._previous[after] = after, left
        for changed in (self._previous.get(left), left):
            for entry in () if changed is None else self._entry(changed):
                heapq.heappush(self._heap, entry)

    def _entry(self, left: int) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield what merging with the right neighbor would add, if there is one."""
        right = self._next.get(left)
        if right is None:
            return
        middle, end, before = self._last[left], self._last[right], self._before
        users, a, b = self._counter.count(left, end), self._users[left], self._users[right]
        added = (before[end + 1] - before[left]) * users
        added -= (before[middle + 1] - before[left]) * a + (before[end + 1] - before[right]) * b
        yield added, 2 * users - a - b, left, middle, end


class UserCounter:
    """Counts the users that want anything in a stretch of parts.

    A user is counted by its first range that meets the stretch [i, j]: the one that begins at j or before,
    ends at i or after, and follows no range of the same user that does so too (the user's previous range
    ends before i). Ranges that end before i satisfy all but the second condition, so

        users(i, j) = |begin <= j and previous end < i|  -  |end < i|

    and the first count is |begin < i| plus those with i <= begin <= j whose previous end is below i.
    """

    def __init__(self, ranges: WantedRanges, n_parts: int) -> None:
        follows = np.zeros(len(ranges.user), np.bool_)
        follows[1:] = ranges.user[1:] == ranges.user[:-1]
        previous = np.where(follows, np.roll(ranges.last, 1), -1)
        begun = np.bincount(ranges.first, minlength=n_parts)[:n_parts]
        ended = np.bincount(ranges.last, minlength=n_parts)[:n_parts]
        self._begun = np.concatenate([[0], np.cumsum(begun)]).tolist()
        self._ended = np.concatenate([[0], np.cumsum(ended)]).tolist()
        by_begin = np.argsort(ranges.first, kind="stable")
        self._previous = WaveletMatrix(previous[by_begin] + 1)

    def count(self, first: int, last: int) -> int:
        start, stop = self._begun[first], self._begun[last + 1]
        inside = self._previous.below(start, stop, first + 1)
        found: int = start + inside - self._ended[first]
        return found


class WaveletMatrix:
    """Counts the values below a bound in any stretch of a sequence of numbers of at least 0 (wavelet matrix).

    >>> WaveletMatrix(np.array([5, 0, 3, 9])).below(0, 3, 4)
    2
    """

    def __init__(self, values: NDArray[np.integer]) -> None:
        values = np.asarray(values, np.int64)
        self._bits = int(values.max(initial=0)).bit_length()
        self._rows: list[tuple[int, memoryview, int]] = []
        for bit in reversed(range(self._bits)):
            zero = (values >> bit) & 1 == 0
            zeros = np.concatenate([[0], np.cumsum(zero)]).astype(np.int32)
            self._rows.append((bit, memoryview(zeros.data), int(zeros[-1])))
            values = np.concatenate([values[zero], values[~zero]])

    def below(self, start: int, stop: int, bound: int) -> int:
        if bound >> self._bits:
            return stop - start
        found = 0
        for bit, zeros, n_zeros in self._rows:
            if start == stop:
                break
            low, high = zeros[start], zeros[stop]
            if bound >> bit & 1:
                found += high - low
                start, stop = n_zeros + start - low, n_zeros + stop - high
            else:
                start, stop = low, high
        return found
