"""Drive users and brokers [Zhao2011, V] in virtual time: carry out their effects and count what they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from topicloom.content.brokers.broker import Broker
from topicloom.content.brokers.messages import EVENT_BODIES, EventId, Letter, Message, Receipt
from topicloom.content.brokers.user import User
from topicloom.errors import UsageError
from topicloom.simulation.links import Links
from topicloom.simulation.loop import Loop
from topicloom.wire.core import Close, Deliver, Effect, Name, Send

Member: TypeAlias = User | Broker


class ContentCounters:
    """What was sent and delivered so far.

    `messages` are counted by the name of the body, or of a message without one. `control` counts letters that
    carry no event, and their receipts, but no signs of life.
    """

    def __init__(self) -> None:
        self.messages: Counter[str] = Counter()
        self.control = 0
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


class ContentWorld(Loop[Member]):
    """Users and brokers by number, and what they have done so far."""

    def __init__(self, members: Sequence[Member], links: Links, max_delay: float) -> None:
        """Member k has the name k; none is started yet."""
        super().__init__(_bounded(links, max_delay), self._carry_out_of)
        self.members = list(members)
        self.counters = ContentCounters()
        for number, member in enumerate(members):
            self.seat(number, member)

    def start_at(self, time: float, number: int) -> None:
        """Start a member at `time`."""
        self.call_at(time, lambda now: self.tell(number, lambda member: member.start(now)))

    def _carry_out_of(self, number: int, effects: Sequence[Effect], cause: Message | None) -> None:
        for effect in effects:
            if type(effect) is Send:
                message, receivers = effect.message, len(effect.to)
                inside = message.body if type(message) is Letter else message
                self.counters.messages[type(inside).__name__] += receivers
                if _is_control(message) or (type(message) is Receipt and _is_control(cause)):
                    self.counters.control += receivers
                self.send(number, effect.to, message)
            elif type(effect) is Deliver:
                self.counters.deliver(number, effect.event.id)
            elif type(effect) is Close:
                raise AssertionError(f"member {number} found a fault of {effect.peer}: {effect.reason}")


def _bounded(links: Links, max_delay: float) -> Links:
    """Return the same links; a message that takes longer than the protocol allows ends the run."""

    def delay(sender: Name, receiver: Name) -> float:
        seconds = links.delay(sender, receiver)
        if seconds is None or seconds > max_delay:
            raise UsageError(
                f"a message takes {seconds} s, more than max_delay={max_delay:g}; raise max_delay to the "
                "longest latency"
            )
        return seconds

    constant = links.constant
    return Links(delay, constant=constant if constant is not None and constant <= max_delay else None)


def _is_control(message: Message | None) -> bool:
    return type(message) is Letter and type(message.body) not in EVENT_BODIES
