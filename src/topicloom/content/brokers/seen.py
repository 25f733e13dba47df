"""Which numbers of a sender have come, in little memory: all up to a floor, and some above it."""

from __future__ import annotations

from collections import deque

from topicloom.content.brokers.messages import EventId, Name


class Numbers:
    """For numbers without gaps in the end: the floor rises as gaps are filled.

    >>> numbers = Numbers()
    >>> [numbers.add(number) for number in (2, 1, 2, 4)], numbers.floor, numbers.above
    ([True, True, False, True], 2, {4})
    """

    __slots__ = ("above", "floor")

    def __init__(self) -> None:
        self.floor = 0
        self.above: set[int] = set()

    def add(self, number: int) -> bool:
        """True if it is new."""
        if number <= self.floor or number in self.above:
            return False
        self.above.add(number)
        self._close()
        return True

    def settle(self, floor: int) -> None:
        """Nothing up to `floor` will come that has not come."""
        if floor > self.floor:
            self.floor = floor
            self.above = {number for number in self.above if number > floor}
            self._close()

    def _close(self) -> None:
        while self.floor + 1 in self.above:
            self.floor += 1
            self.above.discard(self.floor)


class Memory:
    """Events that a client has had. A client sees only some numbers of a publisher, so no gap ever closes by
    itself: instead the floor follows what came `remember` seconds ago.

    An event with a lower number was published earlier, and nothing is on its way for so long: so nothing is
    refused that has not been delivered, and nothing is ever delivered twice, however late a copy comes.

    >>> memory = Memory(remember=10.0)
    >>> memory.add(EventId("p", 7), 0.0), memory.add(EventId("p", 7), 1.0), memory.add(EventId("p", 3), 2.0)
    (True, False, True)
    >>> memory.add(EventId("p", 20), 15.0), memory.held(), memory.add(EventId("p", 5), 15.0)
    (True, 1, False)
    """

    __slots__ = ("_above", "_floor", "_order", "_remember")

    def __init__(self, remember: float) -> None:
        self._remember = remember
        self._floor: dict[Name, int] = {}
        self._above: dict[Name, set[int]] = {}
        self._order: deque[tuple[float, EventId]] = deque()  # as they came

    def add(self, id: EventId, now: float) -> bool:
        """True if it is new."""
        self._forget(now)
        above = self._above.setdefault(id.publisher, set())
        if id.number <= self._floor.get(id.publisher, 0) or id.number in above:
            return False
        above.add(id.number)
        self._order.append((now, id))
        return True

    def held(self) -> int:
        """How many events are remembered one by one."""
        return len(self._order)

    def _forget(self, now: float) -> None:
        while self._order and self._order[0][0] <= now - self._remember:
            id = self._order.popleft()[1]
            above = self._above[id.publisher]
            above.discard(id.number)
            if not above:
                del self._above[id.publisher]
            self._floor[id.publisher] = max(self._floor.get(id.publisher, 0), id.number)
