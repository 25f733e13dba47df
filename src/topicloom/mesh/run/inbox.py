"""What clients got so far, and waiting until all of it is there, no more comes, or far too much does."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress

from topicloom.mesh.run.adapter import Arrival, Publication

STORM_FACTOR, STORM_FLOOR = 3, 1000
LOOK = 0.2  # seconds between two checks of the clock and the brokers


class Inbox:
    """Counts arrivals; `expect` names those that are waited for.

    A storm, messages that go round and round, is taken for one when far more arrives than is due.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.counts: Counter[Arrival] = Counter()
        self.total = 0
        self.due = 0
        self.delays: dict[str, list[float]] = {}  # seconds from a publisher to others, by topic
        self._open: set[Arrival] = set()
        self._handed: dict[int, tuple[str, float]] = {}
        self._now = now
        self._woken = asyncio.Event()

    def arrived(self, arrival: Arrival) -> None:
        """Count what a client got."""
        self.total += 1
        self.counts[arrival] += 1
        node, when = self._handed.get(arrival.message, (arrival.node, 0.0))
        if node != arrival.node and self.counts[arrival] == 1:
            self.delays.setdefault(arrival.topic, []).append(self._now() - when)
        self._open.discard(arrival)
        if not self._open or self.storm:
            self._woken.set()

    def handed(self, publication: Publication) -> None:
        """Note that this is published now: how long it takes is measured from here."""
        self._handed[publication.message] = publication.node, self._now()

    def expect(self, arrivals: Iterable[Arrival]) -> None:
        """Wait for these as well."""
        more = set(arrivals)
        self.due += len(more)
        self._open |= more - self.counts.keys()

    @property
    def storm(self) -> bool:
        return self.total > STORM_FACTOR * self.due + STORM_FLOOR

    @property
    def missing(self) -> int:
        """Return how many of those expected have not come."""
        return len(self._open)

    def give_up(self) -> None:
        """Stop waiting for what has not come by now."""
        self._open.clear()

    async def wait(self, quiet: float, check: Callable[[], None]) -> bool:
        """Wait until all is there (True), or nothing came for `quiet` seconds, or there is a storm.

        `check` may raise; it is called now and then. Time in which this process stood still does not count:
        what came meanwhile has not been read yet.
        """
        idle, total = 0.0, self.total
        while self._open and not self.storm:
            check()
            if idle > quiet:
                return False
            before = self._now()
            self._woken.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), min(LOOK, quiet))
            idle = idle + min(self._now() - before, 2 * LOOK) if self.total == total else 0.0
            total = self.total
        return not self._open and not self.storm

    async def settle(self, seconds: float, check: Callable[[], None]) -> None:
        """Let time pass in which duplicates and strays would show; a storm ends it."""
        end = self._now() + seconds
        while not self.storm and self._now() < end:
            check()
            await asyncio.sleep(min(LOOK, max(end - self._now(), 0.0)))
