"""Order per publisher and topic: what a gap holds back, and what lets it go."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from topicloom.spidercast.protocol.messages import Event, EventId
from topicloom.spidercast.protocol.ordering import Ordering
from topicloom.wire.core import Deliver


def delivery(id: EventId, previous: int) -> Deliver:
    return Deliver(Event(id, previous, 1, 0.0, b""))


def accept(
    ordering: Ordering, number: int, previous: int, now: float = 0.0, topic: str = "x"
) -> list[int] | None:
    out = ordering.accept(delivery(EventId("p", topic, number), previous), now)
    return None if out is None else [ready.event.id.number for ready in out]


def expire(ordering: Ordering, now: float) -> list[int]:
    return [ready.event.id.number for ready in ordering.expire(now)]


def started(wait: float = 5.0, most: int = 100, streams: int = 100) -> Ordering:
    ordering = Ordering(wait, most, streams)
    assert accept(ordering, 1, 0) == [1]
    return ordering


def test_the_first_event_of_a_publisher_waits_for_its_predecessor_for_a_while() -> None:
    """Two events that overtake each other must not cost the first."""
    ordering = Ordering(5.0, 100, 100)
    assert accept(ordering, 7, 6) == []
    assert accept(ordering, 6, 0) == [6, 7]
    ordering = Ordering(5.0, 100, 100)
    assert accept(ordering, 7, 6) == []
    assert expire(ordering, 5.0) == [7], "what was published before the subscription never comes"


def test_a_gap_holds_back_until_it_is_filled() -> None:
    ordering = started()
    assert accept(ordering, 4, 3) == []
    assert accept(ordering, 3, 2) == []
    assert ordering.due == 5.0
    assert accept(ordering, 2, 1) == [2, 3, 4]
    assert ordering.due == inf


def test_numbers_may_have_gaps_of_their_own() -> None:
    assert accept(started(), 9, 1) == [9]


def test_after_the_wait_what_is_held_is_delivered_in_order_and_the_missing_one_is_late() -> None:
    ordering = started()
    assert accept(ordering, 5, 4, now=1.0) == []
    assert accept(ordering, 3, 2, now=2.0) == []
    assert accept(ordering, 8, 7, now=2.0) == []
    assert expire(ordering, 5.9) == []
    assert expire(ordering, 6.0) == [3, 5]
    assert ordering.due == 7.0
    assert accept(ordering, 2, 1) is None
    assert expire(ordering, 7.0) == [8]
    assert ordering.due == inf


def test_a_publisher_that_begins_anew_ends_the_wait_for_its_former_life() -> None:
    ordering = started()
    assert accept(ordering, 3, 2) == []
    assert accept(ordering, 1_000, 0) == [3, 1_000]
    assert accept(ordering, 2, 1) is None


def test_streams_do_not_wait_for_each_other() -> None:
    ordering = started()
    assert accept(ordering, 3, 2) == []
    assert accept(ordering, 1, 0, topic="y") == [1]
    assert accept(ordering, 2, 1, topic="y") == [2]


def test_a_dropped_topic_waits_no_more() -> None:
    ordering = started()
    accept(ordering, 3, 2)
    ordering.drop_topic("x")
    assert ordering.due == inf
    assert expire(ordering, 100.0) == []


def test_too_many_waiting_events_push_the_first_out() -> None:
    ordering = started(most=2)
    assert accept(ordering, 10, 9) == []
    assert accept(ordering, 5, 4) == []
    assert accept(ordering, 20, 19) == [5, 10]


def test_only_so_many_streams_are_remembered() -> None:
    ordering = Ordering(5.0, 10, 3)
    for number in range(1, 50):
        accept(ordering, number, 0, topic=f"x{number}")
    assert len(ordering._last) == 3


@given(
    st.lists(st.tuples(st.integers(1, 12), st.integers(0, 12), st.floats(0.0, 3.0)), max_size=60),
    st.integers(1, 5),
    st.integers(1, 3),
)
def test_whatever_comes_numbers_only_rise_and_nothing_is_kept_for_ever(
    arrivals: list[tuple[int, int, float]], most: int, topics: int
) -> None:
    ordering = Ordering(2.0, most, 100)
    now = 0.0
    out: list[EventId] = []
    accepted: list[EventId] = []
    for number, previous, pause in arrivals:
        now += pause
        out += [found.event.id for found in ordering.expire(now)]
        id = EventId("p", f"x{number % topics}", number)
        ready = ordering.accept(delivery(id, previous), now)
        if ready is not None:
            accepted.append(id)
            out += [found.event.id for found in ready]
        assert len(ordering._waiting) <= most
        assert ordering.due > now
    out += [found.event.id for found in ordering.expire(now + 2.0)]
    assert ordering.due == inf
    assert not ordering._numbers
    assert sorted(out, key=str) == sorted(accepted, key=str)
    for topic in {id.topic for id in out}:
        numbers = [id.number for id in out if id.topic == topic]
        assert numbers == sorted(set(numbers))


def test_what_waits_takes_no_more_than_its_bytes() -> None:
    ordering = Ordering(5.0, 100, 100, most_bytes=10_000)
    delivered = []
    for number in range(2, 50):
        event = Event(EventId("p", "x", 2 * number), 2 * number - 1, 1, 0.0, b"x" * 1_000)
        delivered += ordering.accept(Deliver(event), 0.0) or []
        assert ordering._waiting_bytes <= 10_000
    assert [one.event.id.number for one in delivered] == list(range(4, 86, 2))
    ordering.expire(10.0)
    assert ordering._waiting_bytes == 0


def test_the_streams_that_are_remembered_take_no_more_than_their_bytes() -> None:
    ordering = Ordering(5.0, 100, 1_000, stream_bytes=10_000)
    for number in range(100):
        accept(ordering, 1, 0, topic=f"{number:0100}")
    assert 20 < len(ordering._last) < 40
    assert accept(ordering, 1, 0, topic=f"{99:0100}") is None
