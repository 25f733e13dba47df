"""What is counted while nodes talk: messages by kind, links, deliveries and who still waits for an event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from topicloom.spidercast.protocol.messages import Event, EventId, Have, Heartbeat, Prune, Topic, Want

EVENT_MESSAGES: tuple[type, ...] = (Event, Have, Want, Prune)
"""The messages that exist because of published events; all others are control messages."""


@dataclass(slots=True)
class Tally:
    """Running totals. `waiting` holds, for each event, the nodes that must still get it."""

    messages: Counter[type] = field(default_factory=Counter)
    lost: int = 0
    links_made: int = 0
    links_ended: int = 0
    published: int = 0
    delivered: int = 0
    hops: Counter[int] = field(default_factory=Counter)
    expected: int = 0
    waiting: dict[EventId, set[int]] = field(default_factory=dict)
    waited: float = 0.0
    _published_at: dict[EventId, float] = field(default_factory=dict)

    def count(self, kinds: Iterable[type]) -> int:
        """How many messages of these kinds were sent."""
        return sum(self.messages[kind] for kind in kinds)

    @property
    def heartbeats(self) -> int:
        return self.messages[Heartbeat]

    @property
    def event_messages(self) -> int:
        return self.count(EVENT_MESSAGES)

    @property
    def control_messages(self) -> int:
        """Everything else: what building and keeping the overlay costs beside heartbeats."""
        return self.messages.total() - self.heartbeats - self.event_messages

    def publish(self, event: EventId, expected: set[int], now: float) -> None:
        """`expected` are the nodes that are here, want the topic, and must get the event in the end."""
        self.published += 1
        self.expected += len(expected)
        if expected:
            self.waiting[event] = expected
            self._published_at[event] = now

    def deliver(self, node: int, event: EventId, hops: int, now: float) -> None:
        self.delivered += 1
        self.hops[hops] += 1
        waiting = self.waiting.get(event)
        if waiting is None or node not in waiting:
            return
        waiting.discard(node)
        self.waited = max(self.waited, now - self._published_at[event])
        if not waiting:
            self._close(event)

    def excuse(self, node: int, topics: Container[Topic] | None = None) -> None:
        """`node` went away, or does not want `topics` any more: nothing on its way to it is owed."""
        for event in [event for event, nodes in self.waiting.items() if node in nodes]:
            if topics is not None and event.topic not in topics:
                continue
            self.waiting[event].discard(node)
            self.expected -= 1
            if not self.waiting[event]:
                self._close(event)

    def _close(self, event: EventId) -> None:
        del self.waiting[event], self._published_at[event]

    @property
    def missing(self) -> int:
        """(event, node) pairs still owed."""
        return sum(len(nodes) for nodes in self.waiting.values())
