"""What a hostile or broken peer can say: nothing of it bloats, starves or poisons a node."""

from __future__ import annotations

import hmac
from random import Random

import pytest

from spidercast.protocol.event_wire import Wire as EventWire
from spidercast.protocol.event_wire import line
from spidercast.protocol.node_wire import Wire
from spidercast.protocol.root_judge import RootJudge
from topicloom.errors import UsageError
from topicloom.spidercast.protocol.goals import NodeGoals
from topicloom.spidercast.protocol.gossip import Gossip
from topicloom.spidercast.protocol.insight import ear_of
from topicloom.spidercast.protocol.link_rules import LinkState
from topicloom.spidercast.protocol.membership import PlainView
from topicloom.spidercast.protocol.messages import (
    CODEC,
    Connect,
    ConnectOk,
    Descriptor,
    Event,
    EventId,
    Have,
    Heartbeat,
    Probe,
    RootNames,
    Shuffle,
    ShuffleReply,
    TaskId,
    TellInterest,
    Topics,
    Want,
)
from topicloom.spidercast.protocol.node import Node
from topicloom.spidercast.protocol.node_state import MOST_UNREAD, NodeContext
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.wire.core import Close, Deliver, LinkDown, Send
from topicloom.wire.limits import MAX_NUMBER

G = TaskId.GREEDY
X = frozenset("x")


def gossip(**constants: int) -> Gossip:
    context = NodeContext("me", X, 1, ProtocolSettings(**constants), Random(1))  # type: ignore[arg-type]
    return Gossip(context, [])


def test_hearsay_of_a_high_version_gives_way_to_the_word_of_the_node() -> None:
    view = gossip()
    poison = Descriptor("victim", MAX_NUMBER, 0.0, frozenset("z"), MAX_NUMBER)
    view.receive("liar", Shuffle((poison,)), 0.0)
    assert view.view["victim"] == frozenset("z")
    view.heard("victim", 5, 1, X, 1.0)
    assert view.view["victim"] == X


def test_events_forged_in_our_own_name_are_not_delivered() -> None:
    wire = line(2)
    forged = EventId(0, "x", 1 << 50)
    wire.nodes[0].receive(1, Event(forged, 0, 1, 0.0, b"forged"), 0.0)
    wire.loop.settle(0)
    assert wire.got[0] == []
    assert wire.publish(0).number < forged.number


def test_events_forged_in_the_name_of_another_harm_only_that_one_and_only_on_that_topic() -> None:
    """Without keys nobody can tell who published; with keys see the next test."""
    wire = line(3)
    wire.nodes[1].receive(0, Event(EventId(2, "x", 1 << 50), 0, 1, 0.0, b"forged"), 0.0)
    wire.loop.settle(1)
    wire.run(1.0)
    event = wire.publish(0)
    wire.run(1.0)
    assert wire.receivers(event) == [0, 1, 2]


class Keys:
    """Signatures for tests: every node has a secret, and every node can check."""

    def __init__(self, name: object) -> None:
        self._name = name

    def sign(self, content: bytes) -> bytes:
        return hmac.digest(f"secret of {self._name}".encode(), content, "sha256")

    def is_valid(self, publisher: object, content: bytes, signature: bytes) -> bool:
        return hmac.compare_digest(Keys(publisher).sign(content), signature)


def test_with_keys_forged_events_are_neither_delivered_nor_passed_on_nor_make_true_ones_look_old() -> None:
    wire = line(3, remember_ids=2)
    for name, context in wire.contexts.items():
        context.keys = Keys(name)
    true = wire.publish(2, b"true")
    wire.run(1.0)
    assert wire.receivers(true) == [0, 1, 2]
    high = EventId(2, "x", 1 << 50)
    stolen = wire.nodes[2]._store.held[true].event.signature  # type: ignore[union-attr]
    for number, signature in enumerate((b"", b"nonsense", stolen)):
        wire.nodes[1].receive(0, Event(high, 0, 1, 0.0, b"forged", signature), wire.now)
        wire.loop.settle(1)
        assert wire.nodes[1].forged == number + 1
    wire.run(1.0)
    assert wire.receivers(high) == []
    for _ in range(5):
        later = wire.publish(2)
        wire.run(1.0)
        assert wire.receivers(later) == [0, 1, 2]


def test_ghost_ids_of_one_neighbor_leave_room_for_those_of_others() -> None:
    wire = EventWire(max_missing=400)
    for name in ("me", "liar", "friend"):
        wire.add(name)
    for other in ("liar", "friend"):
        wire.join("me", other)
    node = wire.nodes["me"]
    for start in range(0, 10_000, 1_000):
        ids = tuple(EventId("ghost", "x", start + n + 1) for n in range(1_000))
        node.receive("liar", Have(ids, (0.0,) * 1_000), 0.0)
    missing = node._missing_events._missing
    assert len(missing) <= 101
    node.receive("friend", Have((EventId("p", "x", 1),), (0.0,)), 0.0)
    assert EventId("p", "x", 1) in missing
    wire.run(5.0)
    assert not node._missing_events._missing, "nobody has them: they are given up"


def test_an_event_that_is_asked_for_again_and_again_is_sent_a_bounded_number_of_times() -> None:
    wire = line(2, keep_bytes=100_000, max_payload=10_000)
    event = wire.publish(0, b"x" * 9_000)
    wire.run(0.5)
    before = wire.sent["Event"]
    for _ in range(1_000):
        wire.nodes[0].receive(1, Want((event,)), wire.now)
    wire.loop.settle(0)
    assert wire.sent["Event"] - before <= 2


def test_a_peer_whose_interest_flips_leaves_nothing_behind() -> None:
    wire = Wire(goals=NodeGoals(greedy=1))
    node = wire.add("a", "x")
    wire.hand("a", "b", Connect(G, 1, 1, 1, X))
    for version in range(2, 500):
        wire.hand("a", "b", TellInterest(version, frozenset({f"t{version}", "x"})))
    assert node.neighbors == ("b",)
    assert len(node._tasks[G].neighbors["b"].interest) == 2
    assert len(node._tasks[G]._requests.pending) <= 1


def test_a_shuffle_stays_below_the_longest_frame_however_many_topics_nodes_want() -> None:
    view = gossip()
    for number in range(60):
        topics = frozenset(f"{number}-{topic}-{'x' * 200}" for topic in range(1_000))
        view.receive(f"p{number}", Shuffle((Descriptor(f"n{number}", 1, 0.0, topics),)), 0.0)
    view._context.effects.clear()
    view.receive("p", Shuffle(()), 0.0)
    (reply,) = [e.message for e in view._context.effects if isinstance(e, Send)]
    assert isinstance(reply, ShuffleReply)
    assert 1 < len(reply.descriptors) <= 20
    assert len(CODEC.frame(reply)) < 16 << 20


def test_a_payload_that_is_too_large_is_refused_when_it_is_published() -> None:
    wire = line(2, max_payload=100)
    wire.publish(0, b"x" * 100)
    with pytest.raises(UsageError, match="'x'.* 100 bytes"):
        wire.publish(0, b"x" * 101)


def test_an_event_above_the_limit_is_neither_delivered_nor_passed_on() -> None:
    wire = line(3, max_payload=100)
    for number, (payload, signature) in enumerate([(b"x" * 101, b""), (b"", b"x" * 5_000)]):
        wire.nodes[1].receive(0, Event(EventId(0, "x", number + 1), 0, 1, 0.0, payload, signature), 0.0)
    wire.loop.settle(1)
    wire.run(1.0)
    assert wire.got[1] == wire.got[2] == []
    assert wire.nodes[1].unwanted == 2


def test_nodes_that_claim_to_want_very_many_topics_do_not_fill_the_memory() -> None:
    view = gossip()
    for number in range(200):
        topics = frozenset(f"{number}-{topic}" for topic in range(5_000)) | X
        view.receive(f"p{number}", Shuffle((Descriptor(f"n{number}", 1, 0.0, topics),)), 0.0)
    kept = [*view._view.values(), *view._related.nodes.values()]
    assert 0 < sum(len(known.interest) for known in kept) <= 200_000
    view.receive("honest", Shuffle((Descriptor("honest", 1, 0.0, X),)), 0.0)
    assert view.view["honest"] == X


@pytest.mark.parametrize("periods", [(-1.0, 0.0), (float("nan"), 0.0), (0.0, float("nan")), (0.0, -1.0)])
def test_periods_that_are_no_numbers_of_seconds_are_turned_away(periods: tuple[float, float]) -> None:
    wire = Wire()
    node = wire.add("a", "x")
    wire.hand("a", "b", Connect(G, 1, 1, 1, X, heartbeat=periods[0], detector=periods[1]))
    assert [type(effect) for _, _, effect in wire.log] == [Close]
    assert node.neighbors == ()


def test_a_node_that_begins_puts_off_a_bounded_number_of_heartbeats_and_loses_none() -> None:
    node = Node("m", "x", membership=lambda context: PlainView({}), rng=Random(1), incarnation=5)
    node.start(0.0)
    node.receive("k", Connect(G, 0, 3, 1, X, 9), 0.001)
    neighbor = node._tasks[G].neighbors["k"]
    unread = neighbor.unread
    assert unread is not None, "it begins"
    node.take_effects()
    for number in range(1, 200_001):
        beat = Heartbeat(G, number % 50, 3, 1, 9, number, {f"t{number}": (1, "z", 1)})
        assert (ear_of(node, "k", beat) is None) == (len(unread) == MOST_UNREAD)
        node.receive("k", beat, 0.002)
        assert len(unread) <= MOST_UNREAD
    assert not node.take_effects(), "no change was missed: nothing is asked"
    node._read_heartbeats(node._roots, 0.002)  # type: ignore[arg-type]
    assert node._roots is not None and node._roots.told["k"] == 200_000


def test_heartbeats_that_are_put_off_hold_a_bounded_number_of_roots() -> None:
    node = Node("m", "x", membership=lambda context: PlainView({}), rng=Random(1), incarnation=5)
    node.start(0.0)
    node.receive("k", Connect(G, 0, 3, 1, X, 9), 0.001)
    unread = node._tasks[G].neighbors["k"].unread
    assert unread is not None, "it begins"
    node.take_effects()
    sizes = [1, 30_000, 1000, 1000, 60_000, *[400] * 200, *[60] * 500, *[1] * 2000]
    for number, size in enumerate(sizes, 1):
        beat = Heartbeat(G, number % 50, 3, 1, 9, number, {f"t{n}": (1, "z", 1) for n in range(size)})
        noted = ear_of(node, "k", beat) is not None
        before = len(unread)
        node.receive("k", beat, 0.002)
        assert noted == (len(unread) == before + 1)
        assert sum(len(message.roots) for _, message in unread) <= 200_000
    assert not node.take_effects(), "no change was missed: nothing is asked"
    node._read_heartbeats(node._roots, 0.002)  # type: ignore[arg-type]
    assert node._roots is not None and node._roots.told["k"] == len(sizes)


def test_a_stranger_that_has_heartbeats_read_does_not_keep_urgent_news_waiting() -> None:
    node = Node("m", "xy", membership=lambda context: Elders(), rng=Random(1), incarnation=50)
    node.start(0.0)
    node.receive("k", Connect(G, 0, 3, 1, X, 9, 0, {"x": (9, "k", 0)}), 0.001)
    while node.next_timer() < 1.0:
        node.handle_timer(node.next_timer())
    assert node.roots["x"] == (9, "k", 1) and node._roots is not None
    for number in range(1, MOST_UNREAD + 1):
        root = (9, "k", 0) if number == 1 else (70, "k", 0)
        node.receive("k", Heartbeat(G, 1, 3, 1, 9, number, {"x": root}), 1.0)
    assert node.roots["x"] == (9, "k", 1), "it is put off"
    node.receive("stranger", Heartbeat(G, 1, 3, 1, 9, 1, {}), 1.0)
    assert node.roots["x"] == (50, "m", 0)
    assert node.next_timer() <= node._roots.urgent < 1.2


class Elders(PlainView):
    """Somebody with y is older, and out of reach."""

    def __init__(self) -> None:
        super().__init__({})

    def oldest(self, topics: Topics) -> RootNames:
        return {"y": (0, "elder")} if "y" in topics else {}


# --- what the driver tells ------------------------------------------------------------------------------


@pytest.fixture
def linked() -> Wire:
    wire = Wire(goals=NodeGoals(greedy=1))
    wire.add("a", "x")
    wire.hand("a", "b", Connect(G, 1, 1, 1, X))
    wire.run(0.5)
    return wire


def test_a_lost_connection_ends_the_link_at_once(linked: Wire) -> None:
    linked.loop.tell("a", lambda watch: watch.lost("b", linked.now))
    assert linked.nodes["a"].neighbors == ()
    assert [e.reason for _, _, e in linked.log if isinstance(e, LinkDown)] == ["connection lost"]


def test_who_refuses_is_not_asked_again_for_a_while() -> None:
    wire = Wire(goals=NodeGoals(greedy=1), connect_quarantine=0.5)
    wire.known["b"] = X
    wire.add("a", "x")
    wire.run(0.3)
    assert len(wire.sent(Connect, "a", "b")) == 1
    wire.loop.tell("a", lambda watch: watch.refused("b", wire.now))
    wire.run(2.0)
    assert len(wire.sent(Connect, "a", "b")) == 1
    wire.run(3.0)
    assert len(wire.sent(Connect, "a", "b")) > 1


def test_a_congested_neighbor_is_told_of_events_and_not_sent_them(linked: Wire) -> None:
    node = linked.nodes["a"]
    node.congested("b", True, linked.now)
    linked.publish("a", "x")
    linked.run(0.2)
    assert not linked.sent(Event, "a")
    assert len(linked.sent(Have, "a", "b")) == 1
    node.congested("b", False, linked.now)
    linked.publish("a", "x")
    assert len(linked.sent(Event, "a", "b")) == 1


@pytest.mark.parametrize("periods", [(3.0, 9.0), (0.5, 1.0)])
@pytest.mark.parametrize("kind", [Connect, ConnectOk])
def test_who_beats_too_slowly_for_the_other_is_turned_away(
    periods: tuple[float, float], kind: type[Connect | ConnectOk]
) -> None:
    wire = Wire(goals=NodeGoals(greedy=1))
    wire.known["b"] = X
    node = wire.add("a", "x")
    wire.run(0.2)
    wire.hand("a", "b", kind(G, 1, 1, 1, X, heartbeat=periods[0], detector=periods[1]))
    (closed,) = [effect for _, _, effect in wire.log if isinstance(effect, Close)]
    assert closed.peer == "b" and "heartbeat" in closed.reason
    assert node.neighbors == ()


def test_the_farewell_is_sent_before_the_link_goes(linked: Wire) -> None:
    linked.leave("a")
    kinds = [type(effect) for _, _, effect in linked.log[-2:]]
    assert kinds == [Send, LinkDown]


def test_a_restarted_neighbor_is_believed_at_once(linked: Wire) -> None:
    """Its version begins anew; its incarnation is higher."""
    linked.hand("a", "b", Connect(G, 0, 1, 7, X, 5))
    linked.hand("a", "b", Connect(G, 0, 1, 1, frozenset("xz"), 6))
    assert linked.nodes["a"]._tasks[G].neighbors["b"].interest == frozenset("xz")


def test_a_stall_of_ones_own_is_excused(linked: Wire) -> None:
    """After a pause of the process no neighbor is dropped before it had the time to speak."""
    node, later = linked.nodes["a"], linked.now + 60.0
    node.handle_timer(later)
    assert node.has_link("b")
    assert linked.state("a", "b") in (LinkState.LINKED, LinkState.DOUBTED)
    node.receive("b", Heartbeat(G, 1, 1, 1), later + 0.1)
    assert node.has_link("b")
    node.handle_timer(later + 1.0)
    assert node.has_link("b")


def test_a_topic_that_is_only_published_on_is_passed_on_and_not_delivered() -> None:
    wire = Wire(goals=NodeGoals(greedy=1))
    for name in "abc":
        wire.add(name, "x" if name != "b" else "y")
    wire.nodes["b"].subscribe("x", wire.now, read=False)
    wire.loop.settle("b")
    wire.known["b"] = wire.nodes["b"].interest
    wire.run(5.0)
    wire.publish("b", "x")
    wire.run(1.0)
    got = [name for _, name, effect in wire.log if isinstance(effect, Deliver)]
    assert sorted(got) == ["a", "c"]


@pytest.mark.parametrize("liar", ["b", 5], ids=["of a sound name", "of a name that is a number"])
@pytest.mark.parametrize("root", [(1, 5, 1), (1, 5, 0), (1, "r", 1), (1, "a", 0), (1, "z", -1), (1, "b", 64)])
def test_roots_that_cannot_be_compared_raise_nothing_and_are_believed_by_nobody(
    liar: str | int, root: tuple[int, str | int, int]
) -> None:
    node = Node("a", "x", membership=lambda context: PlainView({}), rng=Random(1))
    RootJudge().watch(node)
    node.start(0.0)
    honest = ("r", {"x": (0, "r", 0)}), ("s", {"x": (0, "r", 1)})
    for peer, roots in (*honest, (liar, {"x": root})):
        node.receive(peer, Connect(G, 0, 3, 1, X, 1, 0, roots), 0.1)
    node.handle_timer(1.1)
    assert node.roots == {"x": (0, "r", 1)}
    node.receive(liar, Heartbeat(G, 1, 3, 1, 1, 1, {"x": root}), 1.2)
    node.receive(liar, TellInterest(1, X, 1, 2, {"x": root}), 1.3)
    node.receive("t", Probe({"x": root[:2]}), 1.4)
    assert node.roots == {"x": (0, "r", 1)}
    for peer, _ in honest:
        node.lost(peer, 1.5)
        node.handle_timer(1.6)
    assert node.roots["x"] in ((1, "a", 0), (1, "r", 2)), "nothing but itself, or what could be true"
