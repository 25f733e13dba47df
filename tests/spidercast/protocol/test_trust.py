"""Whom a node believes: the word of a node about itself beats hearsay, a connection beats an address."""

from __future__ import annotations

from random import Random

import pytest

from spidercast.protocol.node_wire import Wire
from topicloom.spidercast.protocol import addresses
from topicloom.spidercast.protocol.addresses import Addresses
from topicloom.spidercast.protocol.goals import NodeGoals
from topicloom.spidercast.protocol.gossip import Gossip
from topicloom.spidercast.protocol.messages import (
    Connect,
    ConnectOk,
    Descriptor,
    Event,
    EventId,
    Leave,
    Redirect,
    Shuffle,
    ShuffleReply,
    TaskId,
)
from topicloom.spidercast.protocol.node_state import MAX_NAMED, NodeContext
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.wire.core import Deliver, Send

G = TaskId.GREEDY
X = frozenset("x")
HIGH = 1 << 62


def view(name: str = "me", seeds: tuple[Descriptor, ...] = (), **constants: float) -> Gossip:
    settings = ProtocolSettings(**constants)  # type: ignore[arg-type]
    gossip = Gossip(NodeContext(name, X, 1, settings, Random(1), life=5), seeds)
    gossip.start(0.0)
    return gossip


def sent(gossip: Gossip) -> list[tuple[object, Shuffle | ShuffleReply]]:
    effects = list(gossip._context.effects)
    gossip._context.effects.clear()
    return [(to, e.message) for e in effects if isinstance(e, Send) for to in e.to]


# --- what is read already ------------------------------------------------------------------------------


def test_a_topic_that_is_read_already_keeps_its_time() -> None:
    """Subscribing once more must not make events look like history that are still under way."""
    wire = Wire(goals=NodeGoals(greedy=1))
    node = wire.add("a", "y")
    wire.run(1.0)
    wire.subscribe("a", "x")
    wire.hand("a", "b", Connect(G, 1, 1, 1, X))
    wire.run(2.0)
    wire.subscribe("a", "x")
    node.receive("b", Event(EventId("p", "x", 1), 0, 1, 1.5, b""), wire.now)
    assert [type(effect) for effect in node.take_effects()].count(Deliver) == 1


def test_a_topic_that_was_only_published_on_is_read_from_now_on() -> None:
    wire = Wire(goals=NodeGoals(greedy=1))
    node = wire.add("a", "y")
    wire.hand("a", "b", Connect(G, 1, 1, 1, frozenset("xy")))
    node.subscribe("x", wire.now, read=False)
    wire.run(2.0)
    node.subscribe("x", wire.now)
    for number, age in ((1, 1.5), (2, 0.0)):
        node.receive("b", Event(EventId("p", "x", number), 0, 1, age, b""), wire.now)
    got = [effect.event.id.number for effect in node.take_effects() if isinstance(effect, Deliver)]
    assert got == [2]


# --- gossip --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Shuffle, ShuffleReply])
def test_a_shuffle_of_the_victim_itself_is_believed(kind: type[Shuffle | ShuffleReply]) -> None:
    gossip = view(seeds=(Descriptor("victim", 1, 0.0, X),))
    if kind is ShuffleReply:
        gossip.handle_timer(1.0)
        assert [to for to, _ in sent(gossip)] == ["victim"]
    poison = Descriptor("victim", HIGH, 0.0, frozenset("z"), HIGH, "10.6.6.6:6")
    gossip.receive("liar", Shuffle((poison,)), 1.0)
    assert gossip.view["victim"] == frozenset("z")
    true = Descriptor("victim", 1, 0.0, X, 7, "10.0.0.1:1", {"x": (7, "victim")})
    gossip.receive("victim", kind((true,)), 2.0)
    assert gossip.view["victim"] == X
    assert gossip._view["victim"].roots == {"x": (7, "victim")}
    assert gossip._related.nodes["victim"].interest == X
    assert gossip._context.addresses.of("victim") == "10.0.0.1:1"
    gossip.receive("other", Shuffle((Descriptor("victim", HIGH, 1.5, frozenset("z"), HIGH),)), 3.0)
    assert gossip.view["victim"] == X, "said before the victim spoke itself"


def test_an_answer_of_an_entry_point_clears_the_poison_and_gives_it_no_place() -> None:
    gossip = view(seeds=(Descriptor("seed", 1, 0.0, X, address="10.0.0.9:1"),), gossip_seed=0.5)
    assert gossip._context.addresses.of("seed") == "10.0.0.9:1"
    gossip.handle_timer(2.0)
    assert [to for to, _ in sent(gossip)] == ["seed"]
    gossip.receive("liar", Shuffle((Descriptor("seed", HIGH, 0.0, frozenset("z"), HIGH),)), 2.0)
    gossip.receive("seed", ShuffleReply((Descriptor("seed", 2, 0.0, X, 7, "10.0.0.2:1"),)), 2.1)
    assert "seed" not in gossip.view
    assert gossip._context.addresses.of("seed") == "10.0.0.2:1"


def test_poison_is_gone_from_a_small_network_though_it_is_passed_on() -> None:
    """Everybody was told, and tells everybody else; the victim only goes on gossiping."""
    names = [f"n{number}" for number in range(8)]
    everybody = tuple(Descriptor(name, 1, 0.0, X, 5) for name in names)
    views = {name: view(name, everybody) for name in names}
    poison = Descriptor("n0", HIGH, 0.0, frozenset("z"), HIGH)
    for name in names[1:]:
        views[name].receive("liar", Shuffle((poison,)), 0.1)
        assert views[name].view["n0"] == frozenset("z")
        sent(views[name])
    now = 0.1
    while now < 15.0:
        now += 0.1
        for name, one in views.items():
            one.handle_timer(now)
            mail = [(name, to, message) for to, message in sent(one)]
            while mail:
                sender, to, message = mail.pop()
                if to in views:
                    views[str(to)].receive(sender, message, now)
                    mail += [(str(to), other, answer) for other, answer in sent(views[str(to)])]
    told = [one.view["n0"] for one in views.values() if "n0" in one.view]
    told += [one._related.nodes["n0"].interest for one in views.values() if "n0" in one._related.nodes]
    assert len(told) >= 7
    assert set(told) == {X}


# --- addresses -----------------------------------------------------------------------------------------


def test_hearsay_addresses_go_first_and_when_nobody_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "MAX_ADDRESSES", 3)
    known = Addresses()
    known.note("own", "a:1", first_hand=True)
    for number in range(5):
        known.note(f"told{number}", f"b:{number}")
    assert [known.of(name) for name in ("own", "told2", "told3", "told4")] == ["a:1", "", "b:3", "b:4"]
    known.refused("told4")
    known.refused("own")
    assert (known.of("told4"), known.of("own")) == ("", "a:1")
    known.note("own", "liar:1")
    assert known.of("own") == "a:1"


def test_a_refused_connection_drops_what_others_said_of_the_address() -> None:
    wire = Wire(goals=NodeGoals(greedy=1), membership=lambda context: Gossip(context, []))
    node = wire.add("a", "x")
    wire.hand("a", "liar", Shuffle((Descriptor("b", 1, 0.0, X, 1, "10.6.6.6:6"),)))
    assert node.address_of("b") == "10.6.6.6:6"
    node.refused("b", wire.now)
    assert node.address_of("b") == ""


# --- places --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["", "10.9.9.{}:1"], ids=["no address", "a false address"])
def test_one_host_gets_half_of_the_places_whatever_addresses_it_claims(address: str) -> None:
    wire = Wire(goals=NodeGoals(greedy=3))
    node = wire.add("a", "x")
    for number in range(50):
        node.connected(f"sybil{number}", "10.0.0.1", wire.now)
        wire.hand("a", f"sybil{number}", Connect(G, 1, 1, 1, X, address=address.format(number)))
    assert len(node.neighbors) == 4
    node.connected("honest", "10.0.0.2", wire.now)
    wire.hand("a", "honest", Connect(G, 1, 1, 1, X, address="10.0.0.1:7"))
    assert node.has_link("honest")


def test_names_without_a_known_host_share_one_where_the_driver_tells_hosts() -> None:
    wire = Wire(goals=NodeGoals(greedy=3))
    node = wire.add("a", "x")
    node.connected("honest", "10.0.0.2", wire.now)
    for number in range(50):
        wire.hand("a", f"unknown{number}", Connect(G, 1, 1, 1, X))
    assert len(node.neighbors) == 4


def test_without_word_of_hosts_nobody_is_turned_away_for_one() -> None:
    wire = Wire(goals=NodeGoals(greedy=3))
    node = wire.add("a", "x")
    for number in range(50):
        wire.hand("a", f"b{number}", Connect(G, 1, 1, 1, X, address="10.0.0.1:1"))
    assert len(node.neighbors) == 8


def test_the_limit_of_a_host_holds_for_those_that_were_asked_too() -> None:
    """A node that seeks more links than one host may have: half of them at most."""
    wire = Wire(goals=NodeGoals(greedy=6), margin=0)
    for number in range(8):
        wire.known[f"sybil{number}"] = X
    node = wire.add("a", "x")
    answered: set[object] = set()
    for _ in range(12):
        wire.run(0.1)
        for peer in set(node._tasks[G]._requests.pending) - answered:
            answered.add(peer)
            node.connected(peer, "10.0.0.1", wire.now)
            wire.hand("a", peer, ConnectOk(G, 1, 9, 1, X))
    assert len(answered) == 8
    assert len(node.neighbors) == 3
    assert len(wire.sent(Leave, "a")) == 5


def test_the_hosts_of_neighbors_are_not_forgotten_for_those_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(addresses, "MAX_ADDRESSES", 3)
    known = Addresses()
    assert known.host_of("a") is None
    for number in range(9):
        known.connected(f"n{number}", "h", linked={"n0"})
    assert [name for name in map("n{}".format, range(9)) if known.host_of(name)] == ["n0", "n7", "n8"]
    known.disconnected("n0")
    assert known.host_of("n0") == ""


def test_a_hundred_redirects_of_one_node_fill_four_places() -> None:
    wire = Wire(goals=NodeGoals(greedy=3), connect_quarantine=60.0)
    for name in ("liar", "friend"):
        wire.known[name] = X
    node = wire.add("a", "x")
    wire.run(2.0)
    requests = node._tasks[G]._requests
    assert set(requests.pending) == {"liar", "friend"}
    wire.hand("a", "friend", Redirect(G, "good", X))
    for number in range(100):
        wire.hand("a", "liar", Redirect(G, f"ghost{number}", X))
    assert len(requests._redirects) == MAX_NAMED + 1
    assert "good" in requests._redirects
