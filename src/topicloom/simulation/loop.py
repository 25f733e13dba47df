"""One loop in virtual time: feed a core, have its effects carried out, re-arm its one timer.

The order of all that happens is fixed: by time; at one moment what arrives comes before what is due (timers
and calls); then in the order in which it was sent or armed. So a seed gives the same run everywhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Any, Generic, TypeAlias, TypeVar

from topicloom.simulation.faults import FrozenCore
from topicloom.simulation.links import Links
from topicloom.simulation.repeats import Repeats
from topicloom.simulation.shaping import Shape
from topicloom.simulation.timers import TimerQueue
from topicloom.wire.core import Core, Effect, Name

C = TypeVar("C", bound=Core)
T = TypeVar("T")
Mail: TypeAlias = tuple[float, int, tuple[Name, ...], Name, Any]
Call: TypeAlias = Callable[[float], object]
# Gets the name of a core, its effects, and the message that caused them (None: a timer, its application).
CarryOut: TypeAlias = Callable[[Any, Sequence[Effect], Any], None]
# The side of each name in a cut of the network; a name that is not there is on side None.
Sides: TypeAlias = Mapping[Any, Any]


class _Seat(Generic[C]):
    """The place of one name: its core (None: away), who gets what arrives, the timer that counts."""

    __slots__ = ("armed", "core", "feeds", "name")

    def __init__(self, name: Name) -> None:
        self.name, self.armed = name, inf
        self.core: C | None = None
        self.feeds: Any = None  # the core, or what stands in for it while it is frozen


class Loop(Generic[C]):
    """Cores by name, what is on its way between them, and what is due."""

    def __init__(self, links: Links, carry_out: CarryOut, repeats: Repeats | None = None) -> None:
        self.now = 0.0
        # Arrivals, timers and calls so far; a message to many that takes all the same time arrives once.
        self.occurrences = 0
        self._links, self._carry_out, self._repeats = links, carry_out, repeats
        self._seats: dict[Name, _Seat[C]] = {}
        self._order = count()
        # With one delay for all, messages arrive in the order they were sent: no heap is needed for them.
        self._mail: Any = deque() if links.constant is not None else []
        self._timers: TimerQueue[tuple[float, int, _Seat[C] | None, Call | None]] = TimerQueue()
        self.cuts: list[Sides] = []  # the cuts of this moment: nothing passes between two sides

    def enter(self, name: Name, core: C) -> None:
        """Start `core` now, under a name that is free."""
        self.seat(name, core)
        self.tell(name, lambda core: core.start(self.now))

    def seat(self, name: Name, core: C) -> None:
        """Make `core` reachable; it is started by `tell`."""
        seat = self._seats.setdefault(name, _Seat(name))
        assert seat.core is None, f"{name} is here already"
        seat.core = seat.feeds = core

    def remove(self, name: Name) -> C:
        """Take a core away: what is on its way to it is lost, its timer rings for nobody."""
        core = self.present(name)
        seat = self._seats[name]
        seat.core = None
        self._feed(seat, None)
        return core

    def freeze(self, name: Name) -> None:
        """Stop a core as if its process were paused: what arrives waits, its timer does not ring."""
        seat = self._seats[name]
        if seat.core is not None and seat.feeds is seat.core:
            self._feed(seat, FrozenCore())

    def thaw(self, name: Name) -> None:
        """Let a frozen core go on: it gets all that came, in order, and then its timer rings."""
        seat = self._seats[name]
        if seat.core is None or seat.feeds is seat.core:
            return
        kept = seat.feeds.kept
        self._feed(seat, seat.core)
        for sender, message in kept:
            self.hand(name, sender, message)
        self.settle(name)

    def is_frozen(self, name: Name) -> bool:
        """Tell whether the core is here and paused."""
        seat = self._seats.get(name)
        return seat is not None and seat.feeds is not seat.core

    def _feed(self, seat: _Seat[C], core: Any) -> None:
        """Let `core` get what arrives from now on."""
        seat.feeds = core
        if self._repeats is not None:
            self._repeats.begin_anew()

    def find(self, name: Name) -> C | None:
        """Return the core, or None while it is away."""
        seat = self._seats.get(name)
        return None if seat is None else seat.core

    def present(self, name: Name) -> C:
        """Return the core, which must be here."""
        core = self.find(name)
        assert core is not None, f"{name} is away"
        return core

    def here(self) -> Iterator[tuple[Name, C]]:
        """Return all cores that are here, in the order in which their names were first used."""
        return ((name, seat.core) for name, seat in self._seats.items() if seat.core is not None)

    def tell(self, name: Name, what: Callable[[C], T]) -> T:
        """Let the application of a core call it: subscribe, publish, ..."""
        answer = what(self.present(name))
        self.settle(name)
        return answer

    def settle(self, name: Name) -> None:
        """Carry out what a core asks for after somebody else than this loop called it."""
        self._settle(self._seats[name], self.present(name), None)

    def hand(self, to: Name, sender: Name, message: Any) -> None:
        """Let a message arrive this moment, whether or not anybody sent it."""
        core = self.find(to)
        if core is not None:
            core.receive(sender, message, self.now)
            self._settle(self._seats[to], core, message)

    def send(self, sender: Name, receivers: tuple[Name, ...], message: Any) -> int:
        """Put a message on its way to each receiver; return how many of them it will never reach."""
        lost = 0
        if self.cuts:
            reached = tuple(receiver for receiver in receivers if not self.is_cut(sender, receiver))
            lost, receivers = len(receivers) - len(reached), reached
        constant = self._links.constant
        if constant is not None:
            if receivers:
                self._mail.append((self.now + constant, 0, receivers, sender, message))
            return lost
        shape = self._links.shape
        for receiver in receivers:
            delay = self._links.delay(sender, receiver)
            if delay is None:
                lost += 1
                continue
            at = self.now + delay
            if shape is not None:
                at = shape.arrival(sender, receiver, message, self.now, delay)
            heappush(self._mail, (at, next(self._order), (receiver,), sender, message))
        return lost

    @property
    def shape(self) -> Shape | None:
        """What connections add to the delays; it may be changed at any time."""
        return self._links.shape

    @property
    def is_steady(self) -> bool:
        """Whether every message arrives, after the same time."""
        return self._links.constant is not None and not self.cuts

    def under_way(self) -> Iterator[tuple[tuple[Name, ...], Name, Any]]:
        """Return what was sent and has not arrived: receivers, sender, message."""
        return ((receivers, sender, message) for _, _, receivers, sender, message in self._mail)

    def is_cut(self, one: Name, other: Name) -> bool:
        """Tell whether a cut of the network lies between the two at this moment."""
        return any(sides.get(one) != sides.get(other) for sides in self.cuts)

    def call_at(self, time: float, call: Call) -> None:
        """Have the driver call `call` at `time`."""
        self._timers.push((time, next(self._order), None, call))

    def run(self, until: float) -> None:
        """Let everything happen up to and including `until`."""
        mail, timers, seats, carry_out = self._mail, self._timers, self._seats, self._carry_out
        repeats, often = self._repeats, None if self._repeats is None else self._repeats.kind
        first = timers.first
        next_mail: Callable[[], Mail] = mail.popleft if isinstance(mail, deque) else partial(heappop, mail)
        occurrences = 0
        while True:
            timer_at = first[0][0] if first or timers.refill() else inf
            if mail and mail[0][0] <= timer_at:
                if mail[0][0] > until:
                    break
                now, _, receivers, sender, message = next_mail()
                self.now = now
                occurrences += 1
                if repeats is not None and type(message) is often:
                    receivers = repeats.note(receivers, sender, message, now, seats)
                for name in receivers:
                    try:
                        seat = seats[name]
                    except KeyError:
                        continue  # nobody was ever called so
                    core = seat.feeds
                    if core is None:
                        continue
                    core.receive(sender, message, now)
                    # As `_settle`, which is not called here: most messages ask for nothing.
                    effects = core.take_effects()
                    if effects:
                        carry_out(name, effects, message)
                    due = core.next_timer()
                    if due < seat.armed:
                        self._arm(seat, due)
                continue
            if timer_at > until:
                break
            now, _, rung, call = heappop(first)
            self.now = now
            if rung is None:
                assert call is not None
                occurrences += 1
                call(now)
            elif rung.armed == now:  # else re-armed for an earlier time since
                rung.armed = inf
                core = rung.feeds
                if core is not None:
                    occurrences += 1
                    core.handle_timer(now)
                    self._settle(rung, core, None)
        self.now = until
        self.occurrences += occurrences

    def _settle(self, seat: _Seat[C], core: C, cause: Any) -> None:
        """Have what the core asks for carried out, and re-arm its timer."""
        effects = core.take_effects()
        if effects:
            self._carry_out(seat.name, effects, cause)
        due = core.next_timer()
        if due < seat.armed:
            self._arm(seat, due)

    def _arm(self, seat: _Seat[C], due: float) -> None:
        """Set the timer; a later time than before is never set: an early call does no harm, and re-arms."""
        if due < self.now:
            due = self.now  # time does not go back
        seat.armed = due
        self._timers.push((due, next(self._order), seat, None))
