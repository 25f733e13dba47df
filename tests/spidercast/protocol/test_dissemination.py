"""Events over a fake wire with a manual clock: each subscriber once, whatever the wire and the nodes do."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from math import inf
from random import Random

import pytest

from spidercast.protocol.event_wire import Wire, eager, line, mesh
from topicloom.errors import UsageError
from topicloom.spidercast.protocol.announcements import MAX_IDS
from topicloom.spidercast.protocol.dissemination import Dissemination
from topicloom.spidercast.protocol.messages import Event, EventId, Have, Prune
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.wire.core import Send


def test_every_subscriber_gets_each_event_once_and_the_publisher_too() -> None:
    wire = mesh(30, 30)
    ids = []
    for publisher in (0, 11, 0, 25):
        ids.append(wire.publish(publisher, b"hello"))
        wire.run(1.0)
    wire.run(5.0)
    for id in ids:
        assert wire.receivers(id) == list(range(30))
    assert {event.payload for got in wire.got.values() for event in got} == {b"hello"}
    assert wire.got[0][0].hops == 0
    assert wire.total("delivered") == 4 * 30


def test_hops_count_links() -> None:
    wire = line(5)
    wire.publish(0)
    wire.run(1.0)
    assert [wire.got[name][0].hops for name in range(5)] == [0, 1, 2, 3, 4]


def test_a_settled_tree_carries_one_copy_per_subscriber() -> None:
    wire = mesh(40, 60, latency=(0.01, 0.01))
    for _ in range(3):
        wire.publish(7)
        wire.run(4.0)
    wire.sent.clear()
    before = wire.total("duplicates")
    for publisher in (7, 7, 7, 7):
        wire.publish(publisher)
        wire.run(4.0)
    assert wire.total("duplicates") == before
    assert wire.sent["Event"] == 4 * 39
    assert wire.sent["Prune"] == wire.sent["Want"] == 0


def test_the_tree_also_serves_other_publishers() -> None:
    """What is good for one is a detour for another, so the tree goes on changing a little: the first event
    has three duplicates for each delivery, later ones hardly any, also where connections differ."""
    for latency in ((0.01, 0.01), (0.01, 0.03)):
        wire = mesh(40, 60, latency=latency)
        for publisher in range(80):
            wire.publish(publisher % 40)
            wire.run(1.0)
        before = wire.total("duplicates")
        for publisher in range(20):
            wire.publish(publisher)
            wire.run(1.0)
        wire.run(4.0)
        assert all(len(got) == 100 for got in wire.got.values())
        assert wire.total("duplicates") - before <= 0.1 * 20 * 39


def test_a_cut_tree_link_is_replaced_by_a_lazy_one() -> None:
    wire = mesh(20, 20)
    for _ in range(3):
        wire.publish(0)
        wire.run(4.0)
    a, b = next((a, b) for a, b in sorted(eager(wire)) if a < b)
    wire.part(a, b)
    id = wire.publish(0)
    wire.run(2.0)
    assert wire.receivers(id) == list(range(20))
    assert wire.total("repaired") >= 1
    wire.run(3.0)
    wire.publish(0)
    wire.run(4.0)
    wire.sent.clear()
    wire.publish(0)
    wire.run(4.0)
    assert wire.sent["Event"] == 19
    assert wire.sent["Want"] == 0


def test_an_event_under_way_survives_the_crash_of_inner_nodes() -> None:
    wire = mesh(20, 30)
    for _ in range(3):
        wire.publish(0)
        wire.run(4.0)
    parents = Counter(a for a, _ in eager(wire))
    victims = [name for name, _ in parents.most_common() if name != 0][:2]
    id = wire.publish(0)
    for victim in victims:
        wire.crash(victim)
    wire.run(6.0)
    assert wire.receivers(id) == [name for name in range(20) if name not in victims]


def test_a_partition_that_heals_gets_what_it_missed() -> None:
    wire = line(6)
    wire.publish(0)
    wire.run(1.0)
    wire.part(2, 3)
    left, right = wire.publish(0), wire.publish(5)
    wire.run(20.0)
    assert wire.receivers(left) == [0, 1, 2]
    assert wire.receivers(right) == [3, 4, 5]
    wire.join(2, 3)
    wire.run(5.0)
    assert wire.receivers(left) == wire.receivers(right) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("seed", range(5))
def test_a_partition_heals_under_loss_as_well(seed: int) -> None:
    wire = line(6, seed=seed, announce_rounds=8)
    wire.part(2, 3)
    id = wire.publish(0)
    wire.run(20.0)
    wire.loss = 0.2
    wire.join(2, 3)
    wire.run(30.0)
    assert wire.receivers(id) == [0, 1, 2, 3, 4, 5]


def test_what_is_too_old_is_gone_when_a_partition_heals() -> None:
    wire = line(4, keep_seconds=10.0)
    wire.part(1, 2)
    old = wire.publish(0)
    wire.run(6.0)
    young = wire.publish(0)
    wire.run(6.0)
    wire.join(1, 2)
    wire.run(6.0)
    assert wire.receivers(old) == [0, 1]
    assert wire.receivers(young) == [0, 1, 2, 3]


def test_newcomers_get_no_history() -> None:
    wire = mesh(10, 5, relay_seconds=0.0)
    wire.publish(0)
    wire.run(1.0)
    wire.sent.clear()
    wire.add("new")
    for name in (0, 4, 8):
        wire.join("new", name)
    wire.run(5.0)
    assert wire.got["new"] == []
    assert wire.sent["Want"] == wire.sent["Event"] == 0
    new = wire.publish(0)
    wire.run(5.0)
    assert [event.id for event in wire.got["new"]] == [new]


def test_a_topic_subscribed_to_later_comes_without_history() -> None:
    wire = Wire()
    wire.add(0, "xy")
    wire.add(1, "y")
    wire.join(0, 1)
    wire.publish(0, topic="x")
    wire.run(5.0)
    wire.want(1, "xy")
    wire.run(5.0)
    assert wire.got[1] == []
    new = wire.publish(0, topic="x")
    wire.run(5.0)
    assert [event.id for event in wire.got[1]] == [new]


def test_a_newcomer_may_relay_to_those_that_were_there_before() -> None:
    """The link through the newcomer is the only way for an event that is older than the newcomer."""
    for relay_seconds, expected in ((0.0, [0]), (30.0, [0, 1])):
        wire = Wire(relay_seconds=relay_seconds)
        wire.add(0)
        wire.add(1)
        id = wire.publish(0)
        wire.run(10.0)
        wire.add(2)
        wire.join(0, 2)
        wire.join(2, 1)
        wire.run(10.0)
        assert wire.receivers(id) == expected
        assert wire.got[2] == []


@pytest.mark.parametrize("seed", range(5))
def test_loss_does_not_keep_an_event_from_anyone(seed: int) -> None:
    wire = mesh(30, 30, seed=seed)
    wire.loss = 0.2
    ids = []
    for _ in range(20):
        ids.append(wire.publish(wire.random.randrange(30)))
        wire.run(1.0)
    wire.run(10.0)
    for id in ids:
        assert wire.receivers(id) == list(range(30))


def test_reordered_events_are_delivered_in_order() -> None:
    wire = mesh(12, 12, latency=(0.01, 0.4), ordered=True)
    wire.publish(0)
    wire.publish(6)
    wire.run(2.0)
    ids = []
    for _ in range(40):
        for publisher in (0, 6):
            ids.append(wire.publish(publisher))
        wire.run(0.05)
    wire.run(10.0)
    for name, got in wire.got.items():
        for publisher in (0, 6):
            numbers = [event.id.number for event in got if event.id.publisher == publisher]
            assert numbers == sorted(numbers), name
            assert len(numbers) == 41, name
    assert wire.total("late") == 0


def test_without_order_such_a_wire_does_reorder() -> None:
    """Otherwise the test above would show nothing."""
    wire = mesh(12, 12, latency=(0.01, 0.4))
    for _ in range(40):
        wire.publish(0)
        wire.run(0.05)
    wire.run(10.0)
    numbers = [[event.id.number for event in got] for got in wire.got.values()]
    assert any(each != sorted(each) for each in numbers)


def test_order_waits_only_so_long_for_a_lost_event() -> None:
    wire = line(2, ordered=True, announce_rounds=0, order_wait=3.0, repair_timeout=100.0)
    wire.publish(0)
    wire.run(1.0)
    wire.loss = 1.0
    wire.publish(0)
    wire.loss = 0.0
    wire.publish(0)
    wire.run(2.9)
    assert len(wire.got[1]) == 1
    wire.run(0.2)
    assert len(wire.got[1]) == 2


@pytest.mark.slow
def test_memory_is_bounded_over_a_long_run() -> None:
    wire = line(3, keep_bytes=12850, max_missing=50, remember_ids=100, ordered=True)
    left, middle = wire.nodes[0], wire.nodes[1]
    context = wire.contexts[1]
    for number in range(1, 100_001):
        now = number * 0.0001
        middle.receive(0, Event(EventId(f"p{number % 700}", "x", number), 0, 1, 0.0, b""), now)
        middle.receive(2, Prune("x"), now)
        assert len(middle._announcer._queue) <= MAX_IDS
        if number % 3 == 0:
            middle.receive(2, Have((EventId("q", "x", number),), (0.0,)), now)
        if number % 10_000 == 0:
            middle.announce_again(now)
        context.effects.clear()
    assert middle.delivered == 100_000
    store, ordering = middle._store, middle._ordering
    assert store is not None and ordering is not None
    assert 45 <= len(store.held) == len(store._by_age) <= 50
    assert store.held_bytes <= 50 * 257
    assert len(store.fresh) <= 50
    assert len(store._young) + len(store._older) <= 100
    assert len(store._forgotten) <= 100
    assert len(ordering._last) <= 100
    assert len(middle._missing_events._missing) <= 50
    assert left.delivered == 0


def test_a_very_late_copy_is_not_delivered_again() -> None:
    wire = line(2, keep_bytes=1285, remember_ids=10)
    first = wire.publish(0)
    for _ in range(500):
        wire.publish(0)
        wire.run(0.01)
    wire.run(1.0)
    before = len(wire.got[1])
    wire.nodes[1].receive(0, Event(first, 0, 1, 0.0, b""), wire.now)
    wire.loop.settle(1)
    assert len(wire.got[1]) == before == 501


def test_an_idle_node_is_small_and_does_nothing() -> None:
    context = NodeContext("n", frozenset(range(10)), 1, ProtocolSettings(), Random(0))
    shared = [frozenset({topic}) for topic in range(10)]
    nodes = []
    tracemalloc.start()
    for _ in range(200):
        node = Dissemination(context)
        for topic in range(10):
            node.subscribed(topic, 0.0)
        for peer in range(10):
            node.link_up(peer, shared[peer], 0.0)
        node.announce_again(1.0)
        assert node.next_timer() == inf
        nodes.append(node)
    size = tracemalloc.get_traced_memory()[0] / len(nodes)
    tracemalloc.stop()
    assert size < 1_000
    assert context.effects == []


def test_numbers_rise_over_lives_and_subscriptions() -> None:
    wire = line(2)
    first, second = wire.publish(0), wire.publish(0)
    assert (first.number, second.number) == ((1 << 20) + 1, (1 << 20) + 2)
    assert [event.id for event in wire.got[0]] == [first, second]
    node = wire.nodes[0]
    node.unsubscribed("x", 0.0)
    node.subscribed("x", 0.0)
    third = wire.publish(0)  # the life is the same, and yet:
    assert third.number > second.number
    again = Dissemination(NodeContext(0, frozenset("x"), 1, ProtocolSettings(), Random(0), life=2))
    assert again.publish("x", b"", 0.0).number > third.number


def test_previous_names_the_event_before() -> None:
    context = NodeContext("n", frozenset("xy"), 1, ProtocolSettings(), Random(0))
    node = Dissemination(context)
    node.link_up("m", frozenset("xy"), 0.0)
    ids = [node.publish(topic, b"", 0.0) for topic in "xxyx"]
    sent = {e.message.id: e.message.previous for e in context.effects if isinstance(e, Send)}
    assert [sent[id] for id in ids] == [0, ids[0].number, 0, ids[1].number]


def test_publishing_without_interest_names_the_topic() -> None:
    wire = line(2)
    with pytest.raises(UsageError, match="'y'"):
        wire.publish(0, topic="y")
