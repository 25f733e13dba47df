"""Letters: bodies that arrive exactly once, in any order, while both ends live.

A letter goes out again until its receipt comes; the receiver knows the numbers it has had. `withdraw` takes
back what is no longer wanted, `give_up` all that is under way to a dead end.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import inf

from topicloom.content.brokers.effects import Effect, Send
from topicloom.content.brokers.messages import Body, Letter, Name, Receipt
from topicloom.content.brokers.seen import Numbers


class _Line:
    """What one party has with one other."""

    __slots__ = ("had", "life", "next", "open")

    def __init__(self) -> None:
        self.next = 1
        self.open: dict[int, Body] = {}  # sent, no receipt yet; ascending numbers
        self.life = -1  # of the other
        self.had = Numbers()

    @property
    def settled(self) -> int:
        return next(iter(self.open), self.next) - 1


class Post:
    """One party's letters to and from all others."""

    __slots__ = ("_effects", "_lines", "_order", "_resend", "_timers", "life")

    def __init__(self, life: int, resend: float, effects: list[Effect]) -> None:
        self.life = life
        self._resend, self._effects = resend, effects
        self._lines: dict[Name, _Line] = {}
        self._order = count()  # names need not be comparable
        self._timers: list[tuple[float, int, Name, int]] = []

    def send(self, to: Name, body: Body, now: float) -> int:
        """The number of the letter."""
        line = self._line(to)
        number = line.next
        line.next += 1
        line.open[number] = body
        self._effects.append(Send(to, Letter(self.life, number, line.settled, body)))
        heappush(self._timers, (now + self._resend, next(self._order), to, number))
        return number

    def receive(self, peer: Name, letter: Letter) -> Body | None:
        """The body if it comes for the first time; the receipt goes out in any case."""
        self._effects.append(Send(peer, Receipt(letter.life, letter.number)))
        line = self._line(peer)
        if letter.life < line.life:
            return None  # of a life before its last start
        if letter.life > line.life:
            line.life, line.had = letter.life, Numbers()
        fresh = line.had.add(letter.number)
        line.had.settle(letter.settled)
        return letter.body if fresh else None

    def receipt(self, peer: Name, receipt: Receipt) -> None:
        line = self._lines.get(peer)
        if line is not None and receipt.life == self.life:
            line.open.pop(receipt.number, None)

    def withdraw(self, to: Name, kind: Callable[[Body], bool]) -> list[Body]:
        """The bodies under way to `to` that are of this kind; none of them goes out again."""
        line = self._lines.get(to)
        if line is None:
            return []
        taken = {number: body for number, body in line.open.items() if kind(body)}
        for number in taken:
            del line.open[number]
        return list(taken.values())

    def give_up(self, to: Name) -> list[Body]:
        """All that is under way to `to`."""
        return self.withdraw(to, lambda body: True)

    def under_way(self, to: Name) -> int:
        line = self._lines.get(to)
        return len(line.open) if line is not None else 0

    def next_timer(self) -> float:
        timers = self._timers
        while timers:
            _, _, to, number = timers[0]
            if number in self._lines[to].open:
                return timers[0][0]
            heappop(timers)
        return inf

    def handle_timer(self, now: float) -> None:
        """Send again what has waited too long."""
        while self.next_timer() <= now:
            _, _, to, number = heappop(self._timers)
            line = self._lines[to]
            self._effects.append(Send(to, Letter(self.life, number, line.settled, line.open[number])))
            heappush(self._timers, (now + self._resend, next(self._order), to, number))

    def _line(self, peer: Name) -> _Line:
        line = self._lines.get(peer)
        if line is None:
            line = self._lines[peer] = _Line()
        return line
