"""Merge neighboring parts of one attribute, least false traffic first, until few enough are left.

Only counts of users are needed, and they follow from the intervals of the subscriptions: no set of users is
kept per part, so 100,000 users with 200,000 end points need only megabytes.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from topicloom.base.arrays import Longs, first_of_runs, pointers
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.content.model.problem import WantedRanges

_LOOK_EVERY = 1_000  # merges between two checks for a stop


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
    return ChannelChain(messages, ranges, wanted).shortened(max(limit, 1), progress)


class ChannelChain:
    """The channels from left to right, each known by its first part, and a heap of what merges would add.

    A user of a channel is counted by its first range that meets the channel: one that reaches into it from
    the left, or one that begins in it and follows no other of the same user there. Of the latter the channel
    keeps where the user's previous range ends (-1: there is none), in ascending order. When it is merged with
    a channel on its left, those whose previous range ends there are counted by that one, now and ever after.
    """

    def __init__(self, messages: Longs, ranges: WantedRanges, wanted: list[int]) -> None:
        self._before = np.concatenate([[0], np.cumsum(messages)]).tolist()
        previous = np.where(first_of_runs(ranges.user), -1, np.roll(ranges.last, 1))
        previous = previous[np.lexsort((previous, ranges.first))]
        begun, ended = pointers(ranges.first, len(messages)), pointers(ranges.last, len(messages))
        self._reaching = (begun - ended).tolist()
        self._beginning = {part: previous[begun[part] : begun[part + 1]].tolist() for part in wanted}
        self._last = {part: part for part in wanted}
        self._next: dict[int, int] = dict(pairwise(wanted))
        self._previous: dict[int, int] = dict(pairwise(reversed(wanted)))
        self._heap = [entry for part in wanted for entry in self._entry(part)]
        heapq.heapify(self._heap)

    def shortened(self, limit: int, progress: Progress) -> list[tuple[int, int]]:
        """Merge until there are at most `limit` channels; return the first and last part of each."""
        progress.phase("merge channels", float(len(self._last) - limit))
        while len(self._last) > limit:
            _, _, left, left_last, right_last = heapq.heappop(self._heap)
            right = self._next.get(left)
            # An entry is valid only while both its channels are unchanged.
            if right is None or self._last.get(left) != left_last or self._last[right] != right_last:
                continue
            self.merge(left, right)
            if len(self._last) % _LOOK_EVERY == 0:
                check_stop(progress)
                progress.advance(float(_LOOK_EVERY))
        return sorted(self._last.items())

    def users(self, left: int, right: int | None = None) -> int:
        """Count the users of a channel, or of it and the one to the right of it."""
        count: int = self._reaching[left] + len(self._beginning[left])
        return count if right is None else count + bisect_left(self._beginning[right], left)

    def merge(self, left: int, right: int) -> None:
        """Make one channel of two neighbors."""
        self._last[left] = self._last.pop(right)
        own, more = self._beginning[left], self._beginning.pop(right)
        few, many = sorted((own, more[: bisect_left(more, left)]), key=len)
        for end in few:
            insort(many, end)
        self._beginning[left] = many
        del self._previous[right]
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
        users, a, b = self.users(left, right), self.users(left), self.users(right)
        added = (before[end + 1] - before[left]) * users
        added -= (before[middle + 1] - before[left]) * a + (before[end + 1] - before[right]) * b
        yield added, 2 * users - a - b, left, middle, end
