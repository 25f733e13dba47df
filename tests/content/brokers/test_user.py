"""The memory of a user for delivered events."""

from __future__ import annotations

from topicloom.content.brokers.messages import EventId
from topicloom.content.brokers.user import DeliveredEvents


def test_memory_of_events_is_bounded_and_refuses_late_copies():
    memory = DeliveredEvents(remember=10.0)
    for step in range(1_000):
        assert memory.add(EventId("p", 1 + 3 * step), float(step))
    assert memory.held() <= 11
    assert not memory.add(EventId("p", 1), 2_000.0), "a copy that comes after any time is still a copy"
    assert memory.add(EventId("q", 1), 2_000.0)
