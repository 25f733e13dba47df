"""Views by gossip: many of them on a fake wire with a manual clock, and single ones under false messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf, nan
from random import Random

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from topicloom.simulation.links import Links
from topicloom.simulation.loop import Loop
from topicloom.spidercast.protocol.gossip import Gossip
from topicloom.spidercast.protocol.gossip_view import RELATED
from topicloom.spidercast.protocol.membership import Membership, NeighborChoice
from topicloom.spidercast.protocol.messages import Descriptor, NodeId, Shuffle, ShuffleReply, Topics
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.wire.core import BaseCore, Effect, Send

DELAY = 0.01


class Gossiper(BaseCore):
    """A core that does nothing but gossip."""

    def __init__(self, context: NodeContext, node: Gossip) -> None:
        super().__init__(context.effects)
        self.start, self.receive = node.start, node.receive
        self.handle_timer, self.next_timer = node.handle_timer, node.next_timer  # type: ignore[method-assign]


class Wire:
    """Gossiping nodes 0..n-1 in virtual time; `loss` of all messages are lost."""

    def __init__(
        self,
        n: int,
        constants: ProtocolSettings,
        interests: dict[int, Topics] | None = None,
        *,
        loss: float = 0.0,
    ) -> None:
        rng = Random(99)
        self.loop: Loop[Gossiper] = Loop(
            Links(lambda sender, to: DELAY if rng.random() >= loss else None), self._carry_out
        )
        self.contexts: dict[NodeId, NodeContext] = {}
        self.nodes: dict[NodeId, Gossip] = {}
        for name in range(n):
            self.add(name, constants, (interests or {}).get(name, frozenset({"all"})))

    @property
    def now(self) -> float:
        return self.loop.now

    def add(self, name: NodeId, constants: ProtocolSettings, interest: Topics) -> None:
        """A star: whoever comes knows node 0 only, and not what it wants."""
        context = self.contexts[name] = NodeContext(name, interest, 0, constants, Random(f"{name}"))
        node = self.nodes[name] = Gossip(context, [Descriptor(0, 0, 0.0, frozenset())])
        self.loop.enter(name, Gossiper(context, node))

    def _carry_out(self, name: NodeId, effects: Sequence[Effect], cause: object) -> None:
        for effect in effects:
            assert isinstance(effect, Send)
            self.loop.send(name, effect.to, effect.message)

    def run(self, seconds: float) -> None:
        self.loop.run(self.now + seconds)

    def kill(self, names: Iterable[NodeId]) -> None:
        for name in names:
            del self.nodes[name]
            self.loop.remove(name)

    def known_by(self) -> Counter[NodeId]:
        return Counter(other for node in self.nodes.values() for other in node.view)

    def graph(self) -> nx.Graph:
        graph = nx.Graph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from((name, other) for name, node in self.nodes.items() for other in node.view)
        return graph


def relatives(node: Gossip, topic: str) -> bool:
    return node.choose(NeighborChoice.COVERING, {topic}, set(), Random(1)) is not None


def single(name: NodeId = "me", seeds: Iterable[Descriptor] = (), **constants: float) -> Gossip:
    settings = ProtocolSettings(**constants)  # type: ignore[arg-type]
    gossip = Gossip(NodeContext(name, frozenset({"x"}), 3, settings, Random(1)), seeds)
    gossip.start(0.0)
    return gossip


def sent(gossip: Gossip) -> list[tuple[NodeId, Shuffle | ShuffleReply]]:
    effects = gossip._context.effects
    messages = [(to, effect.message) for effect in effects for to in effect.to]  # type: ignore[union-attr]
    effects.clear()
    return messages  # type: ignore[return-value]


def told(node: NodeId, *, version: int = 0, age: float = 0.0, topics: str = "x") -> Descriptor:
    return Descriptor(node, version, age, frozenset(topics))


# --- many nodes --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_star_becomes_uniform_views() -> None:
    """From one entry point: full views, nobody unknown, nobody known far too well, one component."""
    wire = Wire(200, ProtocolSettings(gossip_view=20, gossip_shuffle=8))
    wire.run(40)
    assert {len(node.view) for node in wire.nodes.values()} <= {19, 20}
    known_by = wire.known_by()
    assert len(known_by) == 200
    mean = sum(known_by.values()) / 200
    assert max(known_by.values()) < 2.5 * mean
    spread = (sum((known - mean) ** 2 for known in known_by.values()) / 200) ** 0.5
    assert spread < 2 * mean**0.5  # independent uniform samples would have about the root of the mean
    assert nx.is_connected(wire.graph())


def test_views_change_over_time() -> None:
    """A view that stays the same is no sample: after a while most of it is new."""
    wire = Wire(100, ProtocolSettings(gossip_view=10, gossip_shuffle=5))
    wire.run(30)
    before = {name: set(node.view) for name, node in wire.nodes.items()}
    wire.run(15)
    kept = sum(len(before[name] & set(node.view)) for name, node in wire.nodes.items())
    assert kept < 0.4 * sum(map(len, before.values()))


@pytest.mark.slow
def test_the_dead_are_forgotten() -> None:
    """30% die at once: after `gossip_forget` seconds (and one period) no view and no side table names one."""
    wire = Wire(200, ProtocolSettings(gossip_view=20, gossip_shuffle=8, gossip_forget=20.0))
    wire.run(30)
    dead = set(Random(5).sample(range(1, 200), 60))
    wire.kill(dead)
    wire.run(21.5)
    for node in wire.nodes.values():
        assert not dead & node.view.keys()
        assert not dead & node._related.nodes.keys()
    assert nx.is_connected(wire.graph())
    assert len(wire.known_by()) == 140


def test_silence_alone_forgets_the_dead() -> None:
    """Without the age limit the dead still go: each is the oldest one day, and does not answer."""
    wire = Wire(100, ProtocolSettings(gossip_view=12, gossip_shuffle=6, gossip_forget=1e6))
    wire.run(25)
    dead = set(range(1, 31))
    wire.kill(dead)
    wire.run(25)
    assert not any(dead & node.view.keys() for node in wire.nodes.values())


def test_new_interests_replace_old_ones() -> None:
    wire = Wire(100, ProtocolSettings(gossip_view=15, gossip_shuffle=6, gossip_forget=20.0))
    wire.run(20)
    new = frozenset({"new"})
    for name in range(10):
        wire.contexts[name].interest, wire.contexts[name].version = new, 1
        wire.nodes[name].interest_changed(wire.now)
    wire.run(21.5)
    seen = [(other, topics) for node in wire.nodes.values() for other, topics in node.view.items()]
    seen += [(other, k.interest) for node in wire.nodes.values() for other, k in node._related.nodes.items()]
    assert any(other < 10 for other, _ in seen)  # type: ignore[operator]
    assert all((topics == new) == (other < 10) for other, topics in seen)  # type: ignore[operator]


def test_late_nodes_and_lossy_links() -> None:
    """With a tenth of all messages lost views stay nearly full, and who joins later is known soon."""
    constants = ProtocolSettings(gossip_view=15, gossip_shuffle=6)
    wire = Wire(80, constants, loss=0.1)
    wire.run(25)
    for name in range(80, 100):
        wire.add(name, constants, frozenset({"all"}))
    wire.run(25)
    assert len(wire.known_by()) == 100
    assert sum(len(node.view) for node in wire.nodes.values()) > 0.85 * 15 * 100
    assert nx.is_connected(wire.graph())


@pytest.mark.slow
def test_subscribers_of_a_rare_topic_find_each_other() -> None:
    """Four of 200 nodes and views of ten: the view alone holds one of them one time in seven."""
    rare = {name: frozenset({"rare", "all"}) for name in (20, 70, 120, 170)}
    constants = ProtocolSettings(gossip_view=10, gossip_shuffle=6)
    wire = Wire(200, constants, rare)
    wire.run(40)
    found = in_view = 0
    for _ in range(10):
        wire.run(3)
        found += sum(relatives(wire.nodes[name], "rare") for name in rare)
        in_view += sum(any(other in rare for other in wire.nodes[name].view) for name in rare)
    assert found >= 36  # of 40
    assert in_view < 20


def test_the_same_seed_gives_the_same_views() -> None:
    wires = [Wire(50, ProtocolSettings(gossip_view=8, gossip_shuffle=4), loss=0.05) for _ in range(2)]
    for wire in wires:
        wire.run(20)
    first, second = ({name: list(node.view) for name, node in wire.nodes.items()} for wire in wires)
    assert first == second


# --- one node ----------------------------------------------------------------------------------------


def test_it_is_a_membership() -> None:
    membership: Membership = single()
    assert membership.next_timer() < inf


def test_a_shuffle_goes_to_the_oldest_and_begins_with_oneself() -> None:
    gossip = single(seeds=[told("a")])
    gossip.receive("b", Shuffle((told("b", age=9.0), told("c", age=5.0))), 0.0)
    assert sent(gossip)[0][0] == "b"
    gossip.handle_timer(gossip.next_timer())
    [(to, message)] = sent(gossip)
    assert to == "b"
    assert isinstance(message, Shuffle)
    assert message.descriptors[0] == Descriptor("me", 3, 0.0, frozenset({"x"}))
    assert sorted(str(d.node) for d in message.descriptors[1:]) == ["a", "c"]


def test_the_timer_does_nothing_before_its_time() -> None:
    gossip = single(seeds=[told("a")])
    gossip.handle_timer(gossip.next_timer() / 2)
    assert sent(gossip) == []


def test_who_does_not_answer_is_dropped() -> None:
    gossip = single(seeds=[told("a")])
    gossip.heard("b", 0, 0, frozenset("x"), 0.5)
    gossip.handle_timer(gossip.next_timer())
    assert sent(gossip)[0][0] == "a"
    gossip.handle_timer(gossip.next_timer())
    assert sent(gossip)[0][0] == "b"
    assert "a" not in gossip.view
    assert (
        gossip.choose(NeighborChoice.COVERING, {"x"}, {"b"}, Random(1)) is None
    )  # nor kept in the side table


def test_what_is_too_old_is_forgotten() -> None:
    gossip = single(gossip_view=5, gossip_forget=10.0)
    for name, age in (("a", 9.0), ("b", 8.0), ("c", 1.0)):
        gossip.receive(name, Shuffle((told(name, age=age),)), 0.0)
    sent(gossip)
    gossip.handle_timer(3.0)  # the oldest that is left is asked, and so out of the view for the time being
    assert [to for to, _ in sent(gossip)] == ["c"]
    assert not gossip.view
    assert list(gossip._related.nodes) == ["c"]


def test_entry_points_are_used_again_when_nobody_is_left() -> None:
    gossip = single(seeds=[told("a")])
    for _ in range(3):
        gossip.handle_timer(gossip.next_timer())
        assert [to for to, _ in sent(gossip)] == ["a"]


def test_answers_that_were_not_asked_for_are_ignored() -> None:
    gossip = single(seeds=[told("a")])
    gossip.receive("a", ShuffleReply((told("b"),)), 0.0)
    assert list(gossip.view) == ["a"]
    gossip.handle_timer(gossip.next_timer())
    gossip.receive("b", ShuffleReply((told("b"),)), 1.0)
    assert list(gossip.view) == []
    gossip.receive("a", ShuffleReply((told("a"), told("c"))), 1.0)
    gossip.receive("a", ShuffleReply((told("d"),)), 1.0)
    assert list(gossip.view) == ["a", "c"]


def test_what_came_takes_the_place_of_what_was_sent() -> None:
    gossip = single(gossip_view=3, gossip_shuffle=3)
    for name in "abc":
        gossip.heard(name, 0, 0, frozenset("x"), 0.0)
    gossip.receive("d", Shuffle((told("e", age=20.0), told("f", age=20.0))), 1.0)
    [(to, answer)] = sent(gossip)
    assert to == "d"
    given_away = {d.node for d in answer.descriptors[1:]}
    assert set(gossip.view) == set("abc") - given_away | {"e", "f"}


def test_a_full_view_gives_its_oldest_for_a_newer_one() -> None:
    gossip = single(gossip_view=2, gossip_shuffle=1)  # nothing but itself is sent, so no place is free
    gossip.heard("a", 0, 0, frozenset("x"), 0.0)
    gossip.heard("b", 0, 0, frozenset("x"), 1.0)
    gossip.receive("c", Shuffle((told("c", age=4.0),)), 3.0)
    assert set(gossip.view) == {"a", "b"}
    gossip.receive("c", Shuffle((told("c"),)), 3.0)
    assert set(gossip.view) == {"b", "c"}


def test_of_two_words_on_one_node_the_newer_counts() -> None:
    gossip = single()
    gossip.receive("a", Shuffle((told("b", version=2, age=3.0, topics="y"),)), 10.0)
    gossip.receive("a", Shuffle((told("b", version=1, age=0.0, topics="z"),)), 10.0)
    assert gossip.view["b"] == frozenset("y")
    gossip.receive("a", Shuffle((told("b", version=3, age=9.0, topics="z"),)), 10.0)
    assert gossip.view["b"] == frozenset("z")


@pytest.mark.parametrize(
    ("word", "believed"),
    [
        (told("a", version=1, age=6.0), False),  # said a second before it went
        (told("a", version=1, age=4.0), True),  # said after it went: it is back
        (told("a", version=2, age=6.0), True),
    ],
)
def test_who_went_comes_back_only_by_newer_word(word: Descriptor, believed: bool) -> None:
    gossip = single()
    gossip.heard("a", 0, 1, frozenset("x"), 0.0)
    gossip.gone("a", 5.0)
    assert not gossip.view
    gossip.receive("b", Shuffle((word,)), 10.0)
    assert ("a" in gossip.view) == believed
    assert relatives(gossip, "x") == believed


def test_the_memory_of_those_who_went_is_bounded() -> None:
    gossip = single(gossip_view=5)
    for name in range(50):
        gossip.gone(name, float(name))
    assert list(gossip._gone) == [45, 46, 47, 48, 49]
    gossip.handle_timer(100.0)
    assert not gossip._gone


@pytest.mark.parametrize("age", [-1.0, nan, inf, 31.0])
def test_impossible_ages_are_left_out(age: float) -> None:
    gossip = single()
    gossip.receive("a", Shuffle((told("b", age=age), told("c"))), 1.0)
    assert list(gossip.view) == ["c"]


def test_long_messages_are_cut_and_empty_ones_answered() -> None:
    gossip = single(gossip_shuffle=4)
    gossip.receive("a", Shuffle(tuple(told(name) for name in range(5_000))), 1.0)
    assert list(gossip.view) == [0, 1, 2, 3]
    gossip.receive("a", Shuffle(()), 1.0)
    assert len(sent(gossip)) == 2


def test_anyone_is_drawn_from_the_uniform_view_alone() -> None:
    gossip = single(gossip_view=1, gossip_shuffle=1)
    gossip.heard("a", 0, 0, frozenset("y"), 0.0)
    gossip.heard("b", 0, 0, frozenset("x"), 0.0)  # no room in the view, but it shares a topic
    assert {gossip.choose(NeighborChoice.ANYONE, (), (), Random(seed)) for seed in range(20)} == {"a"}
    assert gossip.choose(NeighborChoice.GREEDY, {"x"}, (), Random(1)) == "b"


def test_the_side_table_keeps_room_for_rare_topics_and_follows_the_interest() -> None:
    gossip = single(gossip_view=4, gossip_shuffle=1)
    gossip._context.interest = frozenset("xy")
    gossip.interest_changed(0.0)
    for name in range(20):
        gossip.receive(f"p{name}", Shuffle((told(name),)), 0.0)
    assert len(gossip._related.nodes) == 8  # of sixteen places, eight for each of two topics
    gossip.receive("p", Shuffle((told("rare", topics="y"),)), 0.0)
    assert gossip.choose(NeighborChoice.GREEDY, {"y"}, (), Random(1)) == "rare"
    gossip._context.interest = frozenset("z")
    gossip.interest_changed(0.0)
    assert not gossip._related.nodes


NAMES = st.sampled_from(["me", "a", "b", "c", "d", "e", 1, 2])
TOPICS = st.frozensets(st.sampled_from("xyz"), max_size=3)
WORDS = st.builds(
    Descriptor, NAMES, st.integers(-2, 5), st.floats() | st.sampled_from([0.0, 1.0, 29.0]), TOPICS
)
MESSAGES = st.builds(
    lambda kind, words: kind(tuple(words)), st.sampled_from([Shuffle, ShuffleReply]), st.lists(WORDS)
)
STEPS = st.one_of(
    st.tuples(st.just("receive"), NAMES, MESSAGES),
    st.tuples(st.just("answer"), MESSAGES),
    st.tuples(st.just("gone"), NAMES),
    st.tuples(st.just("heard"), NAMES, st.integers(0, 5), TOPICS),
    st.tuples(st.just("timer")),
    st.tuples(st.just("wants"), TOPICS),
    st.tuples(st.just("choose"), st.sampled_from(list(NeighborChoice)), TOPICS),
)


@given(
    steps=st.lists(st.tuples(STEPS, st.floats(0, 20)), max_size=40),
    size=st.integers(0, 4),
    shuffle=st.integers(0, 4),
)
@examples(300)
def test_nothing_that_comes_breaks_a_view(steps: list[tuple[tuple, float]], size: int, shuffle: int) -> None:
    """Any order of messages, false ones too: nothing raises, sizes hold, nobody knows itself."""
    gossip = single(seeds=[told("a"), told("me")], gossip_view=size, gossip_shuffle=shuffle)
    now, asked = 0.0, None
    for (word, *values), wait in steps:
        now += wait
        if word == "receive":
            gossip.receive(values[0], values[1], now)
        elif word == "answer" and asked is not None:
            gossip.receive(asked, ShuffleReply(values[0].descriptors), now)
        elif word == "gone":
            gossip.gone(values[0], now)
        elif word == "heard":
            gossip.heard(values[0], 0, values[1], values[2], now)
        elif word == "timer":
            gossip.handle_timer(now)
        elif word == "wants":
            gossip._context.interest = values[0]
            gossip.interest_changed(now)
        elif word == "choose":
            chosen = gossip.choose(values[0], values[1], {"b"}, Random(1))
            assert chosen is None or (chosen in {"a", "c", "d", "e", 1, 2})
        for to, message in sent(gossip):
            assert to != "me"
            assert message.descriptors[0].node == "me"
            assert len(message.descriptors) <= max(1, shuffle)
            assert all(d.age >= 0 for d in message.descriptors)
            assert to not in {d.node for d in message.descriptors}
            asked = to if isinstance(message, Shuffle) else asked
        assert len(gossip.view) <= size
        assert len(gossip._related.nodes) <= RELATED * size
        assert len(gossip._gone) <= size
        assert "me" not in gossip.view and "me" not in gossip._related.nodes
        counts = Counter(t for k in gossip._related.nodes.values() for t in k.interest)
        assert all(counts[topic] == held for topic, held in gossip._related._counts.items())


@given(orders=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.booleans()), max_size=60))
@examples(100)
def test_lost_doubled_and_reordered_messages_do_no_harm(orders: list[tuple[int, int, bool]]) -> None:
    """Four nodes; at each step one's timer fires and some waiting message arrives, perhaps to stay."""
    constants = ProtocolSettings(gossip_view=2, gossip_shuffle=2)
    contexts = [NodeContext(name, frozenset("x"), 0, constants, Random(name)) for name in range(4)]
    nodes = [Gossip(context, [told(0), told(1)]) for context in contexts]
    waiting: list[tuple[int, NodeId, Shuffle | ShuffleReply]] = []
    now = 0.0
    for node in nodes:
        node.start(now)
    for name, place, stays in orders:
        now += 0.3
        nodes[name].handle_timer(now)
        if waiting:
            place %= len(waiting)
            sender, to, message = waiting[place] if stays else waiting.pop(place)
            nodes[to].receive(sender, message, now)  # type: ignore[index]
        for sender in range(4):
            waiting += [(sender, to, message) for to, message in sent(nodes[sender])]
            assert len(nodes[sender].view) <= 2
            assert sender not in nodes[sender].view
