"""What is due when: a queue of timers that stays quick with hundreds of thousands of them.

One heap of all timers is slow where there are many: each step of a search in it is a miss of the processor's
cache. So timers lie in buckets of a few milliseconds, unsorted; only the bucket of this moment is a heap.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

T = TypeVar("T", bound=tuple[float, int, object, object])

PER_SECOND = 256  # buckets
FAR = 1 << 60  # a time beyond all buckets


class TimerQueue(Generic[T]):
    """Entries that begin with (time, order), the smallest first.

    `first` is the heap that the smallest entry is in, after `refill`; it is always the same list.

    >>> queue = TimerQueue()
    >>> for time in (2.0, 0.5, 0.501):
    ...     queue.push((time, 0, None, None))
    >>> [queue.pop()[0] for _ in range(3)], queue.refill()
    ([0.5, 0.501, 2.0], False)
    """

    __slots__ = ("_buckets", "_key", "_keys", "first")

    def __init__(self) -> None:
        self.first: list[T] = []
        self._key = -1  # of the bucket that `first` is; entries before its end are put there too
        self._buckets: dict[int, list[T]] = {}
        self._keys: list[int] = []

    def push(self, entry: T) -> None:
        time = entry[0]
        key = int(time * PER_SECOND) if time < FAR else FAR * PER_SECOND
        if key <= self._key:
            heappush(self.first, entry)
            return
        bucket = self._buckets.get(key)
        if bucket is None:
            self._buckets[key] = [entry]
            heappush(self._keys, key)
        else:
            bucket.append(entry)

    def refill(self) -> bool:
        """See to it that `first` holds the smallest entry; return False if there is none at all."""
        if not self.first and self._keys:
            self._key = heappop(self._keys)
            self.first.extend(self._buckets.pop(self._key))
            heapify(self.first)
        return bool(self.first)

    def pop(self) -> T:
        """Return the smallest entry, and remove it; there must be one."""
        self.refill()
        return heappop(self.first)
