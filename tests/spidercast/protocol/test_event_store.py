"""The memory for events is bounded, and what it forgets is still not delivered again."""

from __future__ import annotations

from topicloom.spidercast.protocol.event_store import EventStore
from topicloom.spidercast.protocol.messages import Event, EventId
from topicloom.spidercast.protocol.settings import ProtocolSettings


def event(number: int, publisher: str = "p", topic: str = "x") -> Event:
    return Event(EventId(publisher, topic, number), 0, 0, 0.0, b"")


def test_a_new_event_is_known_held_and_fresh() -> None:
    store = EventStore(ProtocolSettings())
    assert not store.knows(event(1).id)
    store.add(event(1), 0.0, "q")
    assert store.knows(event(1).id)
    held = store.held[event(1).id]
    assert store.held == {event(1).id: held} and held.event == event(1)
    assert store.fresh == {event(1).id: held}
    assert held.holders == ("q",)


def test_the_oldest_event_goes_first_even_if_it_came_last() -> None:
    store = EventStore(ProtocolSettings(keep_bytes=516))
    store.add(event(1), 10.0, None)
    store.add(event(2), 11.0, None)
    store.add(event(3), 5.0, None)
    assert [id.number for id in store.held] == [1, 2]
    assert list(store.fresh) == list(store.held)
    assert store.knows(event(3).id)


def test_nothing_older_than_keep_seconds_is_held() -> None:
    store = EventStore(ProtocolSettings(keep_seconds=10.0))
    for number, born in ((1, 4.0), (2, 1.0), (3, 3.0)):
        store.add(event(number), born, None)
    store.expire(13.0)
    assert [id.number for id in store.held] == [1, 3]
    store.expire(13.5)
    assert [id.number for id in store.held] == [1]
    assert all(store.knows(event(number).id) for number in (1, 2, 3))


def test_an_event_is_fresh_for_so_many_rounds() -> None:
    store = EventStore(ProtocolSettings(announce_rounds=2))
    store.add(event(1), 0.0, None)
    store.round_passed()
    store.add(event(2), 0.0, None)
    assert [id.number for id in store.fresh] == [1, 2]
    store.round_passed()
    assert [id.number for id in store.fresh] == [2]
    store.round_passed()
    assert not store.fresh
    assert len(store.held) == 2


def test_forgotten_ids_are_known_by_their_highest_number() -> None:
    store = EventStore(ProtocolSettings(keep_bytes=0, remember_ids=4))
    for number in range(1, 101):
        store.add(event(number), 0.0, None)
    assert all(store.knows(event(number).id) for number in range(1, 101))
    assert not store.knows(event(101).id)
    assert not store.knows(event(1, topic="y").id)
    assert not store.knows(event(1, publisher="q").id)


def test_held_events_are_known_even_where_ids_are_forgotten() -> None:
    store = EventStore(ProtocolSettings(keep_bytes=12900, remember_ids=2))
    for number in range(50):
        store.add(event(1, topic=f"x{number}"), 0.0, None)
    assert all(store.knows(id) for id in store.held)


def test_no_table_grows_with_the_run() -> None:
    store = EventStore(ProtocolSettings(keep_bytes=25800, remember_ids=200))
    most_held = most_known = most_forgotten = 0
    for number in range(1, 20_001):
        store.add(event(number, publisher=f"p{number % 1_000}"), number * 0.001, None)
        most_held = max(most_held, len(store.held), len(store.fresh), len(store._by_age))
        most_known = max(most_known, len(store._young) + len(store._older))
        most_forgotten = max(most_forgotten, len(store._forgotten))
    assert most_held == 99, "names of four letters weigh a little more"
    assert most_known <= 200
    assert most_forgotten == 200


def test_a_topic_is_dropped_but_stays_known() -> None:
    store = EventStore(ProtocolSettings(keep_bytes=774))
    store.add(event(1), 1.0, None)
    store.add(event(1, topic="y"), 0.0, None)
    store.drop_topic("y")
    assert [id.topic for id in store.held] == ["x"]
    assert store.knows(event(1, topic="y").id)
    for number in (2, 3, 4):
        store.add(event(number), float(number), None)
    assert [id.number for id in store.held] == [2, 3, 4]


def test_age_still_rules_after_a_topic_was_dropped() -> None:
    store = EventStore(ProtocolSettings(keep_seconds=10.0))
    for number, (topic, born) in enumerate(zip("yxyxxx", (1.0, 5.0, 2.0, 6.0, 7.0, 3.0), strict=True)):
        store.add(event(number, topic=topic), born, None)
    store.drop_topic("y")
    store.expire(14.0)
    assert [id.number for id in store.held] == [1, 3, 4]


def test_ids_take_no_more_than_remember_bytes_and_are_still_not_delivered_again() -> None:
    """Long names: far fewer ids than `remember_ids` fill the memory."""
    store = EventStore(ProtocolSettings(keep_bytes=0, remember_bytes=100_000))
    for number in range(1, 1_001):
        store.add(event(number, "p" * 200, "x" * 200), 0.0, None)
    assert len(store._young) + len(store._older) < 200
    assert all(store.knows(event(number, "p" * 200, "x" * 200).id) for number in range(1, 1_001))
    assert not store.knows(event(1_001, "p" * 200, "x" * 200).id)


def test_the_highest_numbers_of_streams_take_no_more_than_remember_bytes() -> None:
    store = EventStore(ProtocolSettings(keep_bytes=0, remember_ids=200, remember_bytes=50_000))
    for number in range(1, 1_001):
        store.add(event(1, f"{number:0200}", "x" * 200), 0.0, None)
    assert 40 < len(store._forgotten) < 100
    assert store._forgotten_bytes == sum(256 + 400 for _ in store._forgotten)
    assert store.knows(event(1, f"{990:0200}", "x" * 200).id), "those used last are kept"
