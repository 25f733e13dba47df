"""What one node makes of events and announcements, message by message; nothing a peer says breaks it."""

from __future__ import annotations

from itertools import pairwise
from math import inf, nan
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from spidercast.protocol.event_wire import Spread, Wire
from topicloom.spidercast.protocol.dissemination import Dissemination
from topicloom.spidercast.protocol.messages import (
    Event,
    EventId,
    Graft,
    Have,
    NodeId,
    Prune,
    Topic,
    Want,
)
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.wire.core import Deliver, Send


class One:
    """A single node with neighbors a, b, c that the test speaks for."""

    def __init__(self, **constants: object) -> None:
        self.context = NodeContext("me", frozenset("xy"), 1, ProtocolSettings(**constants), Random(0))  # type: ignore[arg-type]
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
    assert one.node.next_timer() == 100.03
    assert one.wakes(100.03) == [Send(("b",), Have((event(2).id,), (pytest.approx(0.03),), (1,)))]


def lazy_to_b() -> One:
    """A node whose tree goes over a and c."""
    one = One()
    one.says("a", event(1, hops=9))
    one.says("b", event(1, hops=9))
    return one


def heard(number: int, hops: int) -> Have:
    return Have((event(number).id,), (0.0,), (hops,))


def test_the_tree_takes_a_much_shorter_path() -> None:
    one = lazy_to_b()
    one.says("a", event(2, hops=9))
    assert one.says("b", heard(2, 7)) == [Send(("b",), Graft("x")), Send(("a",), Prune("x"))]
    assert one.says("b", event(3)) == [Send(("c",), event(3, hops=1))], "b is the way of the tree now"


def test_an_event_that_its_announcement_overtakes_is_asked_for_at_once() -> None:
    """The longer a path of the tree is, the likelier the announcement comes first. The tree changes when the
    copy that was asked for is here. The event is not sent to the one that announced it: that one would take
    it for a duplicate and prune the link."""
    one = lazy_to_b()
    assert one.says("b", heard(2, 7)) == [Send(("b",), Want((event(2).id,)))]
    assert one.says("a", event(2, hops=9)) == [Send(("c",), event(2, hops=10))]
    assert one.says("b", event(2, hops=7)) == [Send(("a",), Prune("x"))]
    assert one.says("b", event(3)) == [Send(("c",), event(3, hops=1))], "b is the way of the tree now"


def test_an_event_that_an_eager_neighbor_announced_is_not_sent_to_it() -> None:
    one = One()
    one.says("a", event(1))
    assert one.says("b", heard(2, 9)) == [], "b is eager: its copy is on the way"
    assert one.says("a", event(2, hops=9)) == [Send(("c",), event(2, hops=10))]
    one.node.announce_again(101.0)
    told = [to for send in one.sends() if event(2).id in send.message.ids for to in send.to]  # type: ignore[union-attr]
    assert told == ["c"]


def test_a_neighbor_that_announces_events_it_does_not_have_does_not_get_the_tree() -> None:
    """It guesses the next id, tells of the shortest path, is asked for the event, and sends nothing."""
    one = lazy_to_b()
    for number in range(2, 22):
        now = 100.0 + number
        one.says("b", heard(number, 1), now)
        if number > 2:  # the first one is asked for at once, later ones when they do not come
            assert Send(("b",), Want((event(number).id,))) in one.wakes(now + 0.21)
        assert Prune("x") not in [sent.message for sent in one.says("a", event(number, hops=3), now + 0.25)]
    assert one.node._topics["x"]["a"]


def test_a_copy_over_a_much_shorter_path_gets_the_tree_though_it_comes_later() -> None:
    one = One()
    one.says("a", event(1, hops=9))
    assert one.says("b", event(1, hops=7)) == [Send(("a",), Prune("x"))]
    assert one.says("b", event(1, hops=7)) == []
    assert one.says("c", event(1, hops=6)) == [Send(("c",), Prune("x"))], "hardly shorter than that of b"


def test_haste_is_for_one_event_at_a_time_and_for_each_neighbor_once_until_the_tree_breaks() -> None:
    """Where connections are slow announcements overtake events all the time."""
    one = lazy_to_b()
    assert one.says("b", heard(2, 8)) != []
    assert one.says("b", heard(3, 8)) == [], "another event of the topic is missing"
    for number in (2, 3):
        one.says("a", event(number, hops=9))
    assert one.says("b", event(2, hops=8)) == [Send(("b",), Prune("x"))]
    assert one.says("b", heard(4, 8)) == [], "the tree did not break since"
    one.says("a", event(4, hops=9))
    one.node.link_down("c", 100.0)  # the tree breaks
    one.says("a", event(5, hops=9))
    one.says("b", event(5, hops=9))
    assert one.says("b", heard(6, 8)) == [Send(("b",), Want((event(6).id,)))]


def test_haste_leaves_nothing_behind_when_a_topic_or_a_neighbor_goes() -> None:
    one = lazy_to_b()
    assert one.says("b", heard(2, 8)) != []
    one.node.unsubscribed("x", 100.0)
    assert not one.node._hurried
    one.node.subscribed("x", 100.0)
    one.says("a", event(5, hops=9))
    one.says("b", event(5, hops=9))
    assert one.says("b", heard(6, 8)) == [Send(("b",), Want((event(6).id,)))]
    one.node.link_down("b", 100.0)
    assert not one.node._hurried


def test_a_path_that_is_hardly_shorter_or_that_is_not_told_changes_nothing() -> None:
    for hops in (0, -1, 8, 9, 12):
        one = lazy_to_b()
        one.says("a", event(2, hops=9))
        assert one.says("b", heard(2, hops)) == []
    for hops in (0, -1):
        one = lazy_to_b()
        assert one.says("b", heard(2, hops)) == []
        one.says("c", Prune("x"))
        assert one.says("c", heard(2, 3)) == [], "b was the first to announce it"
        assert Send(("c",), Graft("x")) in one.says("a", event(2, hops=9)), "the one that told its path"


def test_events_close_together_are_announced_together_and_in_time() -> None:
    one = One()
    one.says("a", event(1))
    one.says("b", event(1))
    one.says("a", event(2))
    one.says("a", event(3), now=100.02)
    assert one.node.next_timer() == 100.03
    ages = (pytest.approx(0.03), pytest.approx(0.01))
    assert one.wakes(100.03) == [Send(("b",), Have((event(2).id, event(3).id), ages, (1, 1)))]
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
        one.node.announce_again(now)
        assert one.sends() == [Send(("c",), Have((event(1).id,), (now - 100.0,), (1,)))]
    one.node.announce_again(103.0)
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
    one.node.announce_again(101.0)
    assert one.sends() == []


def test_a_link_without_the_topic_carries_nothing_of_it() -> None:
    one = One()
    one.node.shared_changed("b", frozenset("y"), 0.0)
    one.node.shared_changed("c", frozenset(), 0.0)
    assert one.says("a", event(1)) == []
    assert one.says("b", Want((event(1).id,))) == []
    one.node.announce_again(101.0)
    assert one.sends() == []
    one.node.shared_changed("c", frozenset("x"), 101.0)
    one.node.shared_changed("c", frozenset(), 101.0)
    one.sends()
    one.node.announce_again(101.5)
    assert one.says("a", event(2), now=101.5) == []
    one.node.shared_changed("b", frozenset("xy"), 102.0)
    assert one.sends() == [Send(("b",), Have((event(1).id, event(2).id), (2.0, 0.5), (1, 1)))]


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
    st.tuples(st.just("announce_again")),
    st.tuples(st.just("handle_timer")),
)


@given(st.lists(st.tuples(st.floats(0.0, 2.0), STEPS), max_size=60), st.booleans(), st.integers(0, 4))
def test_nothing_a_peer_says_raises_or_is_delivered_twice(steps: list, ordered: bool, small: int) -> None:
    constants = ProtocolSettings(
        ordered=ordered,
        keep_bytes=258 * small,
        max_missing=small,
        remember_ids=100 + small,
        keep_seconds=20.0,
    )
    context = NodeContext("me", frozenset("xy"), 1, constants, Random(0))
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
    delivered = [effect.event.id for effect in context.effects if isinstance(effect, Deliver)]
    assert len(delivered) == len(set(delivered)) == node.delivered


@examples(40)
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
