"""Letters: messages that arrive exactly once, in any order, while both ends live; events, once at most.

A letter is sent again until its receipt comes; the receiver knows the numbers it has received. Numbers
belong to the sender and not to a pair, so two ends may forget each other after a long silence.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import TypeVar

from topicloom.content.brokers.messages import Body, EventId, Letter, Name, Receipt
from topicloom.wire.core import Effect, Send
from topicloom.wire.messages import WireMessage

B = TypeVar("B", bound=WireMessage)


@dataclass(slots=True)
class ReceivedNumbers:
    """The numbers received from one sender: all up to `floor`, which rises as gaps close, and some above.

    >>> numbers = ReceivedNumbers()
    >>> [numbers.add(number) for number in (2, 1, 2, 4)], numbers.floor, numbers.above
    ([True, True, False, True], 2, {4})
    """

    floor: int = 0
    above: set[int] = field(default_factory=set)

    def add(self, number: int) -> bool:
        """Note a number; return True if it is new."""
        if number <= self.floor or number in self.above:
            return False
        self.above.add(number)
        self._close()
        return True

    def settle(self, floor: int) -> None:
        """Expect nothing up to `floor` any more."""
        if floor > self.floor:
            self.floor = floor
            self.above = {number for number in self.above if number > floor}
            self._close()

    def _close(self) -> None:
        while self.floor + 1 in self.above:
            self.floor += 1
            self.above.discard(self.floor)


class DeliveredEvents:
    """The events that a user has received. It sees only some numbers of a publisher, so gaps never close by
    themselves: instead the floor follows what came `remember` seconds ago.

    An event with a lower number was published earlier, and nothing is on its way for so long: so nothing is
    refused that has not been delivered, and nothing is ever delivered twice, however late a copy comes.

    >>> memory = DeliveredEvents(remember=10.0)
    >>> memory.add(EventId("p", 7), 0.0), memory.add(EventId("p", 7), 1.0), memory.add(EventId("p", 3), 2.0)
    (True, False, True)
    >>> memory.add(EventId("p", 20), 15.0), memory.held(), memory.add(EventId("p", 5), 15.0)
    (True, 1, False)
    """

    __slots__ = ("_had", "_order", "_remember")

    def __init__(self, remember: float) -> None:
        self._remember = remember
        self._had: defaultdict[Name, ReceivedNumbers] = defaultdict(ReceivedNumbers)
        self._order: deque[tuple[float, EventId]] = deque()  # as they came

    def add(self, id: EventId, now: float) -> bool:
        """Note an event; return True if it is new."""
        while self._order and self._order[0][0] <= now - self._remember:
            old = self._order.popleft()[1]
            had = self._had[old.publisher]
            had.floor = max(had.floor, old.number)
            had.above.discard(old.number)
        fresh = self._had[id.publisher].add(id.number)
        if fresh:
            self._order.append((now, id))
        return fresh

    def held(self) -> int:
        """Return how many events are remembered one by one."""
        return len(self._order)


@dataclass(slots=True)
class _Line:
    """The letters between this end and one other."""

    # Sent, no receipt yet; ascending numbers. The first one is asked for with every letter: in a plain dict
    # that means to step over all that were removed before it.
    open: OrderedDict[int, Body] = field(default_factory=OrderedDict)
    life: int = -1  # of the other
    had: ReceivedNumbers = field(default_factory=ReceivedNumbers)
    used: bool = True  # since the last look


class Mailbox:
    """The letters of one user or broker to and from all others."""

    def __init__(self, life: int, resend: float, effects: list[Effect], remember: float = inf) -> None:
        """No letter is under way for longer than `remember`: an end silent for so long may be forgotten."""
        self.life = life
        self._resend, self._effects, self._remember = resend, effects, remember
        self._next = 1
        self._look = -inf
        self._lines: dict[Name, _Line] = {}
        self._order = count()  # names need not be comparable
        self._timers: list[tuple[float, int, Name, int]] = []

    def send(self, to: Name, body: Body, now: float) -> None:
        """Send a body until its receipt comes."""
        line, number = self._line(to), self._next
        self._next += 1
        line.open[number] = body
        self._write(to, line, number, now)

    def receive(self, peer: Name, letter: Letter) -> Body | None:
        """Send a receipt; return the body if it comes for the first time."""
        self._effects.append(Send((peer,), Receipt(letter.life, letter.number)))
        line = self._line(peer)
        if letter.life < line.life:
            return None  # of a life before its last start
        if letter.life > line.life:
            line.life, line.had = letter.life, ReceivedNumbers()
        fresh = line.had.add(letter.number)
        line.had.settle(letter.settled)
        return letter.body if fresh else None

    def receipt(self, peer: Name, receipt: Receipt) -> None:
        line = self._lines.get(peer)
        if line is not None and receipt.life == self.life:
            line.open.pop(receipt.number, None)

    def withdraw(self, to: Name, kind: type[B] = WireMessage) -> list[B]:  # type: ignore[assignment]
        """Return the bodies of this kind that are under way to `to`; none of them is sent again."""
        line = self._lines.get(to, _Line())
        taken = {number: body for number, body in line.open.items() if isinstance(body, kind)}
        for number in taken:
            del line.open[number]
        return list(taken.values())

    def close(self) -> None:
        """Send nothing again."""
        for line in self._lines.values():
            line.open.clear()

    def next_timer(self) -> float:
        timers = self._timers
        while timers:
            _, _, to, number = timers[0]
            line = self._lines.get(to)
            if line is not None and number in line.open:
                return timers[0][0]
            heappop(timers)
        return inf

    def handle_timer(self, now: float) -> None:
        """Send again what has waited too long; from time to time forget ends with nothing under way."""
        while self.next_timer() <= now:
            _, _, to, number = heappop(self._timers)
            self._write(to, self._lines[to], number, now)
        if self._look <= now:
            self._look = now + self._remember
            self._lines = {name: line for name, line in self._lines.items() if line.used or line.open}
            for line in self._lines.values():
                line.used = False

    def _write(self, to: Name, line: _Line, number: int, now: float) -> None:
        settled = next(iter(line.open)) - 1
        self._effects.append(Send((to,), Letter(self.life, number, settled, line.open[number])))
        heappush(self._timers, (now + self._resend, next(self._order), to, number))

    def _line(self, peer: Name) -> _Line:
        line = self._lines.get(peer)
        if line is None:
            line = self._lines[peer] = _Line()
        line.used = True
        return line
