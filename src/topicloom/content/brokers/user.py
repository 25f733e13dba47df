"""One user's side of the protocol. Driven like `Broker`.

What a user publishes and receives is here; `attachment.py` finds and keeps its broker.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf, isfinite

from topicloom.content.brokers.attachment import Attachment, MovePolicy, UserStage, UserStatement
from topicloom.content.brokers.letters import Mailbox
from topicloom.content.brokers.messages import (
    Delivery,
    Event,
    EventId,
    Letter,
    Message,
    Name,
    Point,
    Pong,
    Rates,
    Receipt,
    Wants,
)
from topicloom.content.brokers.settings import BrokerSettings
from topicloom.content.brokers.wants_and_rates import check_rates, check_wants, matches
from topicloom.errors import UsageError
from topicloom.wire.core import BaseCore, Close, Deliver, Effect


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

    __slots__ = ("_above", "_floor", "_order", "_remember")

    def __init__(self, remember: float) -> None:
        self._remember = remember
        self._floor: dict[Name, int] = {}
        self._above: dict[Name, set[int]] = {}
        self._order: deque[tuple[float, EventId]] = deque()  # as they came

    def add(self, id: EventId, now: float) -> bool:
        """Note an event; return True if it is new."""
        self._forget(now)
        above = self._above.setdefault(id.publisher, set())
        if id.number <= self._floor.get(id.publisher, 0) or id.number in above:
            return False
        above.add(id.number)
        self._order.append((now, id))
        return True

    def held(self) -> int:
        """Return how many events are remembered one by one."""
        return len(self._order)

    def _forget(self, now: float) -> None:
        while self._order and self._order[0][0] <= now - self._remember:
            id = self._order.popleft()[1]
            above = self._above[id.publisher]
            above.discard(id.number)
            if not above:
                del self._above[id.publisher]
            self._floor[id.publisher] = max(self._floor.get(id.publisher, 0), id.number)


class User(BaseCore):
    """One user; see the file's head for how it is driven."""

    def __init__(
        self,
        name: Name,
        wants: Wants,
        *,
        brokers: Sequence[Name],
        n_attributes: int = 1,
        rates: Rates | None = None,
        policy: MovePolicy = lambda foreign: True,
        settings: BrokerSettings | None = None,
        life: int = 1,
        number: int = 0,
    ) -> None:
        """`brokers` are those it may turn to, the first one first; `rates` what it says it will publish
        (None: its broker shall count). After a restart `life` must be higher, `number` its last event's.
        """
        self.name, self.settings, self._width = name, settings or BrokerSettings(), n_attributes
        if not brokers:
            raise UsageError(f"user {name}: it needs at least one broker to turn to")
        self._check(wants, rates)
        effects: list[Effect] = []
        super().__init__(effects)
        self.number = number
        self._first = brokers[0]
        self._mailbox = Mailbox(life, self.settings.resend, effects)
        self._memory = DeliveredEvents(self.settings.remember)
        self._statement = UserStatement(wants, rates, life * 1_000_000)
        self._attachment = Attachment(self._statement, brokers, policy, self.settings, self._mailbox, effects)
        self._handlers = self._attachment.handlers() | {Delivery: self._on_delivery}

    def start(self, now: float) -> None:
        """Look for a broker."""
        self._attachment.register(self._first, now)
        self._rearm()

    def publish(self, point: Point, payload: bytes, now: float) -> EventId:
        """Publish an event: a value for every attribute."""
        if self.stage is UserStage.IDLE:
            raise UsageError(f"user {self.name}: it has left or not started; it cannot publish")
        if len(point) != self._width or not all(isfinite(value) for value in point):
            raise UsageError(f"user {self.name}: an event needs {self._width} finite values, not {point}")
        self.number += 1
        event = Event(EventId(self.name, self.number), tuple(point), payload)
        self._attachment.publish(event, now)
        self._rearm()
        return event.id

    def subscribe(self, wants: Wants, now: float, *, rates: Rates | None = None) -> None:
        """Want this from now on, instead of what was wanted before."""
        self._check(wants, rates)
        self._statement.wants, self._statement.rates = wants, rates
        self._statement.version += 1
        self._attachment.tell_wants(now)
        self._rearm()

    def leave(self, now: float) -> None:
        """Leave: nothing is delivered any more. Publications that no broker has confirmed are sent a little
        longer; without a broker they are lost."""
        self._attachment.leave(now)
        self._rearm()

    def receive(self, peer: Name, message: Message, now: float) -> None:
        """Handle a message from `peer`. Nothing that a peer says raises."""
        self._attachment.heard(peer, now)
        if type(message) is Letter:
            body = self._mailbox.receive(peer, message)
            if body is not None and self.stage is not UserStage.IDLE:
                self._handlers.get(type(body), self._fault)(peer, body, now)
        elif type(message) is Receipt:
            self._mailbox.receipt(peer, message)
        elif type(message) is Pong:
            self._attachment.on_pong(peer, message, now)
        else:
            self._fault(peer, message, now)
        self._rearm()

    def handle_timer(self, now: float) -> None:
        """Do what is due; calling it too early does no harm."""
        self._attachment.handle_timer(now)
        self._mailbox.handle_timer(now)
        self._rearm()

    @property
    def wants(self) -> Wants:
        return self._statement.wants

    @property
    def broker(self) -> Name | None:
        """None while it looks for one."""
        return self._attachment.broker

    @property
    def stage(self) -> UserStage:
        return self._attachment.stage

    @property
    def term(self) -> int:
        return self._attachment.term

    def _on_delivery(self, peer: Name, body: Delivery, now: float) -> None:
        event = body.event
        if len(event.point) != self._width:
            self._fault(peer, body, now)
        elif matches(self.wants, event.point) and self._memory.add(event.id, now):
            self._effects.append(Deliver(event))

    def _check(self, wants: Wants, rates: Rates | None) -> None:
        wrong = check_wants(wants, self._width) or check_rates(rates, inf)
        if wrong:
            raise UsageError(f"user {self.name}: {wrong}")

    def _fault(self, peer: Name, said: object, now: float) -> None:
        self._effects.append(Close(peer, f"{type(said).__name__} is nothing to say to a user"))

    def _rearm(self) -> None:
        self._due = min(self._attachment.next_timer(), self._mailbox.next_timer())
