"""Events over a fake wire with a manual clock: each subscriber once, whatever the wire and the nodes do."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import pairwise
from math import inf, nan
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topicloom.errors import UsageError
from topicloom.protocol.context import Context
from topicloom.protocol.dissemination import Dissemination
from topicloom.protocol.effects import Deliver, Send
from topicloom.protocol.messages import Event, EventId, Have, Message, NodeId, Prune, Topic, Want
from topicloom.protocol.settings import Settings

Spread = Event | Have | Want | Prune


class Wire:
    """Some nodes, links between them, and messages under way. Latencies differ, so messages overtake."""

    def __init__(
        self, seed: int = 1, latency: tuple[float, float] = (0.01, 0.03), **constants: object
    ) -> None:
        self.settings = Settings(**constants)  # type: ignore[arg-type]
        self.random = Random(seed)
        self.latency = latency
        self.loss = 0.0
        self.now = 0.0
        self.queue: list[tuple[float, int, Callable[[], None]]] = []
        self.count = 0
        self.nodes: dict[NodeId, Dissemination] = {}
        self.contexts: dict[NodeId, Context] = {}
        self.links: set[tuple[NodeId, NodeId]] = set()
        self.got: dict[NodeId, list[Deliver]] = {}
        self.sent: Counter[str] = Counter()

    def at(self, time: float, action: Callable[[], None]) -> None:
        self.count += 1
        heappush(self.queue, (time, self.count, action))

    def add(self, name: NodeId, topics: Iterable[Topic] = "x") -> Dissemination:
        context = Context(name, frozenset(topics), 1, self.settings, Random(0))
        node = self.nodes[name] = Dissemination(context)
        self.contexts[name] = context
        self.got[name] = []
        for topic in sorted(context.interest, key=str):
            node.subscribed(topic, self.now)
        self.at(self.now + self.random.uniform(0.0, self.settings.heartbeat), lambda: self.beat(name, node))
        return node

    def beat(self, name: NodeId, node: Dissemination) -> None:
        if self.nodes.get(name) is node:
            node.round(self.now)
            self.carry_out(name)
            self.at(self.now + self.settings.heartbeat, lambda: self.beat(name, node))

    def join(self, a: NodeId, b: NodeId) -> None:
        shared = self.contexts[a].interest & self.contexts[b].interest
        self.links |= {(a, b), (b, a)}
        for one, other in ((a, b), (b, a)):
            self.nodes[one].link_up(other, shared, self.now)
            self.carry_out(one)

    def part(self, a: NodeId, b: NodeId) -> None:
        self.links -= {(a, b), (b, a)}
        for one, other in ((a, b), (b, a)):
            if one in self.nodes:
                self.nodes[one].link_down(other, self.now)
                self.carry_out(one)

    def crash(self, name: NodeId) -> None:
        """No last word; the neighbors notice when their detector tells them."""
        del self.nodes[name]
        for one, other in sorted(self.links):
            if one == name:
                self.at(self.now + self.settings.detector, lambda other=other: self.part(name, other))

    def want(self, name: NodeId, topics: Iterable[Topic]) -> None:
        """Change an interest; both ends of each link hear of it at once."""
        context = self.contexts[name]
        before, context.interest = context.interest, frozenset(topics)
        context.version += 1
        for one, other in sorted(self.links):
            if name in (one, other):
                shared = self.contexts[one].interest & self.contexts[other].interest
                self.nodes[one].shared_changed(other, shared, self.now)
        for topic in context.interest - before:
            self.nodes[name].subscribed(topic, self.now)
        for topic in before - context.interest:
            self.nodes[name].unsubscribed(topic, self.now)
        for one in list(self.nodes):
            self.carry_out(one)

    def publish(self, name: NodeId, payload: bytes = b"", topic: Topic = "x") -> EventId:
        id = self.nodes[name].publish(topic, payload, self.now)
        self.carry_out(name)
        return id

    def carry_out(self, name: NodeId) -> None:
        effects = self.contexts[name].effects
        for effect in effects:
            if isinstance(effect, Send):
                for to in effect.to:
                    self.sent[type(effect.message).__name__] += 1
                    if self.random.random() >= self.loss:
                        self.carry(name, to, effect.message)
            else:
                assert isinstance(effect, Deliver)
                self.got[name].append(effect)
        effects.clear()
        due = self.nodes[name].next_timer()
        if due < inf:
            self.at(max(due, self.now), lambda: self.wake(name))

    def carry(self, name: NodeId, to: NodeId, message: Message) -> None:
        def arrive() -> None:
            if to in self.nodes and (name, to) in self.links:
                assert isinstance(message, Spread)
                self.nodes[to].receive(name, message, self.now)
                self.carry_out(to)

        self.at(self.now + self.random.uniform(*self.latency), arrive)

    def wake(self, name: NodeId) -> None:
        if name in self.nodes and self.nodes[name].next_timer() <= self.now:
            self.nodes[name].handle_timer(self.now)
            self.carry_out(name)

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while self.queue and self.queue[0][0] <= end:
            self.now, _, action = heappop(self.queue)
            action()
        self.now = end

    def receivers(self, id: EventId) -> list[NodeId]:
        """Who got the event, each as often as it did."""
        return sorted(name for name, got in self.got.items() for event in got if event.id == id)

    def total(self, counter: str) -> int:
        return sum(getattr(node, counter) for node in self.nodes.values())


def mesh(n: int, extra: int, **constants: object) -> Wire:
    """A ring of n nodes with some chords."""
    wire = Wire(**constants)  # type: ignore[arg-type]
    for name in range(n):
        wire.add(name)
    chords = [(a, b) for a in range(n) for b in range(a + 2, n) if (a, b) != (0, n - 1)]
    for a, b in [*pairwise(range(n)), (n - 1, 0), *wire.random.sample(chords, extra)]:
        wire.join(a, b)
    return wire


def line(n: int, **constants: object) -> Wire:
    wire = Wire(**constants)  # type: ignore[arg-type]
    for name in range(n):
        wire.add(name)
    for a, b in pairwise(range(n)):
        wire.join(a, b)
    return wire


def eager(wire: Wire) -> set[tuple[NodeId, NodeId]]:
    return {(a, b) for a, node in wire.nodes.items() for b, is_eager in node._topics["x"].items() if is_eager}


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
    wire = mesh(40, 60)
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
    wire = mesh(40, 60, latency=(0.01, 0.01))
    for publisher in range(8):
        wire.publish(publisher)
        wire.run(4.0)
    wire.sent.clear()
    before = wire.total("duplicates")
    for publisher in range(10, 20):
        wire.publish(publisher)
        wire.run(4.0)
    assert all(len(got) == 18 for got in wire.got.values())
    assert wire.total("duplicates") == before
    assert wire.sent["Event"] == 10 * 39


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


def test_memory_is_bounded_over_a_long_run() -> None:
    wire = line(3, keep_events=50, remember_ids=100, ordered=True)
    left, middle = wire.nodes[0], wire.nodes[1]
    context = wire.contexts[1]
    for number in range(1, 100_001):
        now = number * 0.0001
        middle.receive(0, Event(EventId(f"p{number % 700}", "x", number), 0, 1, 0.0, b""), now)
        middle.receive(2, Prune("x"), now)
        assert len(middle._announcer._queue) <= 50
        if number % 3 == 0:
            middle.receive(2, Have((EventId("q", "x", number),), (0.0,)), now)
        if number % 10_000 == 0:
            middle.round(now)
        context.effects.clear()
    assert middle.delivered == 100_000
    store, ordering = middle._store, middle._ordering
    assert store is not None and ordering is not None
    assert len(store.held) == len(store._by_age) == 50
    assert len(store.fresh) <= 50
    assert len(store._young) + len(store._older) <= 100
    assert len(store._forgotten) <= 100
    assert len(ordering._last) <= 100
    assert len(middle._repairs._missing) <= 50
    assert left.delivered == 0


def test_a_very_late_copy_is_not_delivered_again() -> None:
    wire = line(2, keep_events=5, remember_ids=10)
    first = wire.publish(0)
    for _ in range(500):
        wire.publish(0)
        wire.run(0.01)
    wire.run(1.0)
    before = len(wire.got[1])
    wire.nodes[1].receive(0, Event(first, 0, 1, 0.0, b""), wire.now)
    wire.carry_out(1)
    assert len(wire.got[1]) == before == 501


def test_an_idle_node_is_small_and_does_nothing() -> None:
    context = Context("n", frozenset(range(10)), 1, Settings(), Random(0))
    shared = [frozenset({topic}) for topic in range(10)]
    nodes = []
    tracemalloc.start()
    for _ in range(200):
        node = Dissemination(context)
        for topic in range(10):
            node.subscribed(topic, 0.0)
        for peer in range(10):
            node.link_up(peer, shared[peer], 0.0)
        node.round(1.0)
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
    third = wire.publish(0)  # the version did not rise, and yet:
    assert third.number > second.number
    again = Dissemination(Context(0, frozenset("x"), 2, Settings(), Random(0)))
    assert again.publish("x", b"", 0.0).number > third.number


def test_previous_names_the_event_before() -> None:
    context = Context("n", frozenset("xy"), 1, Settings(), Random(0))
    node = Dissemination(context)
    node.link_up("m", frozenset("xy"), 0.0)
    ids = [node.publish(topic, b"", 0.0) for topic in "xxyx"]
    sent = {e.message.id: e.message.previous for e in context.effects if isinstance(e, Send)}
    assert [sent[id] for id in ids] == [0, ids[0].number, 0, ids[1].number]


def test_publishing_without_interest_names_the_topic() -> None:
    wire = line(2)
    with pytest.raises(UsageError, match="'y'"):
        wire.publish(0, topic="y")


class One:
    """A single node with neighbors a, b, c that the test speaks for."""

    def __init__(self, **constants: object) -> None:
        self.context = Context("me", frozenset("xy"), 1, Settings(**constants), Random(0))  # type: ignore[arg-type]
        self.node = Dissemination(self.context)
        for topic in "xy":
            self.node.subscribed(topic, 0.0)
        for peer in "abc":
            self.node.link_up(peer, frozenset("xy"), 0.0)

    def says(self, peer: str, message: Spread, now: float = 100.0) -> list[Send]:
        self.node.receive(peer, message, now)
        return self.sends()

    def wakes(self, now: float) -> list[Send]:
        self.node.handle_timer(now)
        return self.sends()

    def sends(self) -> list[Send]:
        out = [effect for effect in self.context.effects if isinstance(effect, Send)]
        self.context.effects.clear()
        return out


def event(
    number: int, *, age: float = 0.0, hops: int = 0, publisher: NodeId = "p", topic: Topic = "x"
) -> Event:
    return Event(EventId(publisher, topic, number), 0, hops, age, b"!")


def test_a_duplicate_is_answered_by_prune_and_the_link_becomes_lazy() -> None:
    one = One()
    assert one.says("a", event(1)) == [Send(("b", "c"), event(1, hops=1))]
    assert one.says("b", event(1)) == [Send(("b",), Prune("x"))]
    assert one.node.duplicates == 1
    assert one.says("a", event(2)) == [Send(("c",), event(2, hops=1))]
    assert one.node.next_timer() == 100.05
    assert one.wakes(100.05) == [Send(("b",), Have((event(2).id,), (pytest.approx(0.05),)))]


def test_events_close_together_are_announced_together_and_in_time() -> None:
    one = One()
    one.says("a", event(1))
    one.says("b", event(1))
    one.says("a", event(2))
    one.says("a", event(3), now=100.04)
    assert one.node.next_timer() == 100.05
    ages = (pytest.approx(0.05), pytest.approx(0.01))
    assert one.wakes(100.05) == [Send(("b",), Have((event(2).id, event(3).id), ages))]
    assert one.node.next_timer() == inf


def test_the_same_neighbor_twice_does_not_cost_the_tree_its_link() -> None:
    one = One()
    one.says("a", event(1))
    assert one.says("a", event(1)) == []
    assert one.node.duplicates == 1
    assert one.says("b", event(2)) == [Send(("a", "c"), event(2, hops=1))]


def test_prune_makes_lazy_and_want_makes_eager() -> None:
    one = One()
    one.says("a", event(1))
    assert one.says("b", Prune("x")) == []
    assert one.says("a", event(2)) == [Send(("c",), event(2, hops=1))]
    ids = (event(1).id, event(77).id, event(1).id)
    assert one.says("b", Want(ids), now=103.0) == [Send(("b",), event(1, hops=1, age=3.0))]
    assert one.says("a", event(3)) == [Send(("b", "c"), event(3, hops=1))]


def test_ages_add_up() -> None:
    one = One()
    assert one.says("a", event(1, age=2.5)) == [Send(("b", "c"), event(1, hops=1, age=2.5))]
    assert one.says("b", Want((event(1).id,)), now=104.0) == [Send(("b",), event(1, hops=1, age=6.5))]


def test_missing_events_are_asked_for_by_turns_and_then_given_up() -> None:
    one = One(announce_rounds=2)
    id = event(1).id
    one.says("c", event(9))
    one.says("a", Prune("x"))
    one.says("c", Prune("x"))
    assert one.says("a", Have((id,), (1.0,))) == []
    one.says("b", Have((id,), (1.0,)))
    asked = []
    for _ in range(10):
        now = one.node.next_timer()
        if now == inf:
            break
        asked += [(round(now, 6), send.to) for send in one.wakes(now) if send.message == Want((id,))]
    assert asked == [(100.2, ("a",)), (100.4, ("b",)), (100.6, ("a",)), (100.8, ("b",))]
    assert one.node.next_timer() == inf
    assert one.says("b", event(1)) == [Send(("a",), event(1, hops=1))]  # a is eager again, c is not


def test_a_repair_is_counted_and_ends_the_asking() -> None:
    one = One()
    one.says("a", Have((event(1).id,), (1.0,)))
    one.wakes(100.2)
    one.says("a", event(1), now=100.3)
    assert one.node.repaired == 1
    one.wakes(100.4)
    assert one.node.next_timer() == inf


def test_a_lazy_link_that_is_first_after_all_becomes_eager() -> None:
    one = One()
    one.says("a", event(1))
    one.says("b", event(1))
    one.says("b", event(2))
    assert one.says("a", event(3)) == [Send(("b", "c"), event(3, hops=1))]


def test_nobody_is_asked_for_a_topic_given_up() -> None:
    one = One()
    one.says("a", Have((event(1).id,), (1.0,)))
    one.context.interest = frozenset("y")
    one.node.unsubscribed("x", 100.1)
    assert one.node.next_timer() == inf
    assert one.wakes(100.2) == []


def test_a_lost_announcer_is_not_asked() -> None:
    one = One()
    one.says("a", Have((event(1).id,), (1.0,)))
    one.says("b", Have((event(1).id,), (1.0,)))
    one.node.link_down("a", 100.1)
    assert one.wakes(100.2) == [Send(("b",), Want((event(1).id,)))]


def test_rounds_announce_again_to_those_not_known_to_hold_it() -> None:
    one = One(announce_rounds=2)
    one.says("a", event(1))
    one.says("b", Have((event(1).id,), (0.0,)))
    for now in (101.0, 102.0):
        one.node.round(now)
        assert one.sends() == [Send(("c",), Have((event(1).id,), (now - 100.0,)))]
    one.node.round(103.0)
    assert one.sends() == []


def test_what_is_not_wanted_is_not_passed_on() -> None:
    one = One()
    assert one.says("a", event(1, topic="z")) == []
    assert one.node.unwanted == 1
    one.says("a", event(1))
    one.context.interest = frozenset("y")
    one.node.unsubscribed("x", 100.0)
    assert one.says("b", Want((event(1).id,))) == []
    assert one.says("b", event(2)) == []
    one.node.round(101.0)
    assert one.sends() == []


def test_a_link_without_the_topic_carries_nothing_of_it() -> None:
    one = One()
    one.node.shared_changed("b", frozenset("y"), 0.0)
    one.node.shared_changed("c", frozenset(), 0.0)
    assert one.says("a", event(1)) == []
    assert one.says("b", Want((event(1).id,))) == []
    one.node.round(101.0)
    assert one.sends() == []
    one.node.shared_changed("c", frozenset("x"), 101.0)
    one.node.shared_changed("c", frozenset(), 101.0)
    one.sends()
    one.node.round(101.5)
    assert one.says("a", event(2), now=101.5) == []
    one.node.shared_changed("b", frozenset("xy"), 102.0)
    assert one.sends() == [Send(("b",), Have((event(1).id, event(2).id), (2.0, 0.5)))]


@pytest.mark.parametrize(
    "message",
    [
        event(0),
        event(-5),
        event((1 << 20) + 9, publisher="me"),
        event(1, age=inf),
        event(1, age=61.0),
        Have((event(-1).id, event(1 << 70, publisher="me").id), (0.0, 0.0)),
        Have((event(1).id,), (inf,)),
        Have((event(1).id,), (nan,)),
        Have((event(1).id,), ()),
        Have((event(1, topic="z").id,), (0.0,)),
        Want((event(1).id, event(1, topic="z").id)),
        Prune("z"),
    ],
)
def test_nonsense_is_ignored(message: Spread) -> None:
    one = One()
    assert one.says("a", message) == []
    assert one.node.next_timer() == inf
    assert one.node.delivered == 0


@pytest.mark.parametrize("wrong", [event(1, age=nan), event(1, age=-3.0), event(1, hops=-9)])
def test_wrong_figures_do_not_spread(wrong: Event) -> None:
    assert One().says("a", wrong) == [Send(("b", "c"), event(1, hops=1))]


@pytest.mark.parametrize(
    "message", [event(1), Have((event(1).id,), (0.0,)), Want((event(2).id,)), Prune("x")]
)
def test_a_non_neighbor_is_not_heard(message: Spread) -> None:
    one = One()
    one.says("a", event(2))
    one.wakes(101.0)
    assert one.says("stranger", message) == []
    assert one.node.delivered == 1
    assert one.node.next_timer() == inf
    assert one.says("a", event(3)) == [Send(("b", "c"), event(3, hops=1))]


PEERS = st.sampled_from(["a", "b", "c", "d", "me", 7])
TOPICS = st.sampled_from(["x", "y", "z", 3])
IDS = st.builds(EventId, PEERS, TOPICS, st.integers(-1, 6) | st.integers())
AGES = st.floats() | st.floats(0.0, 100.0)
EVENTS = st.builds(Event, IDS, st.integers(-1, 6), st.integers(), AGES, st.binary(max_size=2))
HAVES = st.builds(Have, st.lists(IDS, max_size=4).map(tuple), st.lists(AGES, max_size=4).map(tuple))
WANTS = st.builds(Want, st.lists(IDS, max_size=4).map(tuple))
SHARED = st.frozensets(TOPICS)
STEPS = st.one_of(
    st.tuples(st.just("receive"), PEERS, EVENTS | HAVES | WANTS | st.builds(Prune, TOPICS)),
    st.tuples(st.just("link_up"), PEERS, SHARED),
    st.tuples(st.just("shared_changed"), PEERS, SHARED),
    st.tuples(st.just("link_down"), PEERS),
    st.tuples(st.just("publish"), TOPICS, st.just(b"")),
    st.tuples(st.just("flip"), TOPICS),
    st.tuples(st.just("round")),
    st.tuples(st.just("handle_timer")),
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0.0, 2.0), STEPS), max_size=60), st.booleans(), st.integers(0, 4))
def test_nothing_a_peer_says_raises_or_is_delivered_twice(steps: list, ordered: bool, small: int) -> None:
    constants = Settings(ordered=ordered, keep_events=small, remember_ids=100 + small, keep_seconds=20.0)
    context = Context("me", frozenset("xy"), 1, constants, Random(0))
    node = Dissemination(context)
    for topic in ("x", "y"):
        node.subscribed(topic, 0.0)
    now = 0.0
    for pause, (name, *arguments) in steps:
        now += pause
        if name == "flip":
            context.interest ^= {arguments[0]}
            told = node.subscribed if arguments[0] in context.interest else node.unsubscribed
            told(arguments[0], now)
        elif name != "publish" or arguments[0] in context.interest:
            getattr(node, name)(*arguments, now)
        assert node.next_timer() >= 0.0
    delivered = [effect.id for effect in context.effects if isinstance(effect, Deliver)]
    assert len(delivered) == len(set(delivered)) == node.delivered


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.floats(0.0, 0.6), st.integers(2, 9), st.integers(0, 6))
def test_any_wire_delivers_at_most_once_and_a_good_one_at_least_once(
    seed: int, loss: float, n: int, cuts: int
) -> None:
    """Loss and flapping links for a while, then a whole ring: all that is still held reaches everyone."""
    wire = Wire(seed=seed, latency=(0.0, 0.5), announce_rounds=4)
    for name in range(n):
        wire.add(name)
    ring = list(pairwise([*range(n), 0])) if n > 2 else [(0, 1)]
    for a, b in ring:
        wire.join(a, b)
    wire.loss = loss
    ids = []
    for _ in range(cuts + 1):
        a, b = wire.random.choice(ring)
        wire.part(a, b)
        ids.append(wire.publish(wire.random.randrange(n)))
        wire.run(wire.random.uniform(0.0, 2.0))
        wire.join(a, b)
    wire.loss = 0.0
    for a, b in ring:
        wire.part(a, b)
        wire.join(a, b)
    wire.run(20.0)
    for id in ids:
        assert wire.receivers(id) == list(range(n))
