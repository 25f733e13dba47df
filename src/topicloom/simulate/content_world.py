"""The driver of clients and brokers (paper 001, section V): one virtual clock, and the messages between them.

Feed a party, carry out its effects, re-arm its one timer. The order of all that happens is fixed by (time,
order of arrival), so a seed gives the same run everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Any, TypeAlias

from topicloom.content.brokers.broker import Broker
from topicloom.content.brokers.client import Client
from topicloom.content.brokers.effects import Deliver, Fault, Send
from topicloom.content.brokers.envelope import Letter, Message, Receipt
from topicloom.content.brokers.messages import EVENT_BODIES, EventId
from topicloom.errors import UsageError
from topicloom.simulate.network import Network

Party: TypeAlias = Client | Broker
Call: TypeAlias = Callable[[float], None]


class ContentTally:
    """What was sent and delivered so far."""

    def __init__(self) -> None:
        self.messages: Counter[str] = Counter()
        """By the name of the body, or of a message without one."""
        self.control = 0
        """Letters that carry no event, and their receipts. Signs of life are not counted."""
        self.published = self.expected = self.delivered = self.duplicates = 0
        self._pending: dict[EventId, set[int]] = {}

    @property
    def missing(self) -> int:
        """Deliveries that are due and have not been made."""
        return sum(len(users) for users in self._pending.values())

    def publish(self, id: EventId, expected: set[int]) -> None:
        self.published += 1
        self.expected += len(expected)
        if expected:
            self._pending[id] = expected

    def deliver(self, user: int, id: EventId) -> None:
        due = self._pending.get(id, set())
        if user not in due:
            self.duplicates += 1  # twice, or not wanted at all
            return
        self.delivered += 1
        due.discard(user)
        if not due:
            del self._pending[id]


class ContentWorld:
    """All clients and brokers by number, what is on its way, and what is due."""

    def __init__(self, parties: Sequence[Party], network: Network, max_delay: float) -> None:
        """Party k has the name k."""
        self.parties = list(parties)
        self.tally = ContentTally()
        self.now = 0.0
        self._network, self._max_delay = network, max_delay
        self._armed = [inf] * len(self.parties)
        self._order = count()
        self._mail: list[tuple[float, int, int, int, Message]] = []
        self._timers: list[tuple[float, int, int, Call | None]] = []

    def tell(self, number: int, what: Callable[[Any], Any]) -> Any:
        """Let the application of a party call it: start, publish, subscribe, ..."""
        party = self.parties[number]
        answer = what(party)
        self._settle(number, party, control=False)
        return answer

    def call_at(self, time: float, call: Call) -> None:
        """Something of the simulator's own to be done at `time`."""
        heappush(self._timers, (time, next(self._order), -1, call))

    def run(self, until: float) -> None:
        """All that happens up to and including `until`."""
        mail, timers, parties, armed = self._mail, self._timers, self.parties, self._armed
        while True:
            timer_at = timers[0][0] if timers else inf
            if mail and mail[0][0] <= timer_at:
                if mail[0][0] > until:
                    break
                self.now, _, number, sender, message = heappop(mail)
                party = parties[number]
                party.receive(sender, message, self.now)
                self._settle(number, party, control=_is_control(message))
                continue
            if timer_at > until:
                break
            self.now, _, number, call = heappop(timers)
            if call is not None:
                call(self.now)
            elif armed[number] == self.now:  # else re-armed for an earlier time since
                armed[number] = inf
                parties[number].handle_timer(self.now)
                self._settle(number, parties[number], control=False)
        self.now = until

    def _settle(self, number: int, party: Party, *, control: bool) -> None:
        """Carry out what the party asks for and re-arm its timer; `control`: it answers a control letter."""
        if party.effects:
            for effect in party.effects:
                if type(effect) is Send:
                    self._send(number, effect, control)
                elif type(effect) is Deliver:
                    self.tally.deliver(number, effect.event.id)
                elif type(effect) is Fault:
                    raise AssertionError(f"party {number} found a fault of {effect.peer}: {effect.reason}")
            party.effects.clear()
        if party.due < self._armed[number]:
            self._armed[number] = party.due
            heappush(self._timers, (party.due, next(self._order), number, None))

    def _send(self, sender: int, effect: Send, control: bool) -> None:
        message, receiver = effect.message, int(effect.to)
        inside = message.body if type(message) is Letter else message
        self.tally.messages[type(inside).__name__] += 1
        if (type(message) is Receipt and control) or _is_control(message):
            self.tally.control += 1
        delay = self._network.delay(sender, receiver)
        if delay is None or delay > self._max_delay:
            raise UsageError(
                f"a message takes {delay} s, more than max_delay={self._max_delay:g}; raise max_delay to the "
                "longest latency"
            )
        heappush(self._mail, (self.now + delay, next(self._order), receiver, sender, message))


def _is_control(message: Message) -> bool:
    return type(message) is Letter and type(message.body) not in EVENT_BODIES
