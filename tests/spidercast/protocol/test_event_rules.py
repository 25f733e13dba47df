"""The table in `event_rules.py` against what nodes do: every step is permitted, every row happens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

import pytest

from spidercast.protocol.event_wire import Spread
from spidercast.protocol.rule_judge import RuleJudge, name_of
from topicloom.spidercast.protocol.dissemination import Dissemination
from topicloom.spidercast.protocol.event_rules import RULES, EventLinkState, rule_table
from topicloom.spidercast.protocol.messages import Event, EventId, Graft, Have, NodeId, Prune, Topic, Want
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.wire.core import Send

APART, EAGER, LAZY = EventLinkState
BY_TIME = {"HAVE": "announcement", "WANT": "repair"}


class Watched:
    """One node whose steps are judged, neighbor by neighbor; the test speaks for its neighbors."""

    def __init__(self, judge: RuleJudge[EventLinkState], **constants: object) -> None:
        settings = ProtocolSettings(**constants)  # type: ignore[arg-type]
        self.context = NodeContext("me", frozenset("xy"), 1, settings, Random(0), life=1)
        self.node, self.judge, self.now = Dissemination(self.context), judge, 100.0
        for topic in "xy":
            self.node.subscribed(topic, 0.0)

    def step(
        self, action: Callable[[], object], on: str, sender: NodeId = "", topic: Topic = "x"
    ) -> dict[NodeId, list[str]]:
        """Judge what `action` changes and sends, for each of the neighbors a, b, c."""
        before = {peer: self.node.state_of(peer, topic) for peer in "abc"}
        delivered = self.node.delivered
        self.context.effects.clear()
        action()
        is_new = self.node.delivered > delivered
        sent: dict[NodeId, list[str]] = {peer: [] for peer in "abc"}
        for effect in self.context.effects:
            if isinstance(effect, Send) and topic in topics_of(effect.message):
                for to in effect.to:
                    word = name_of(effect.message)
                    sent.setdefault(to, []).append(word)
        for peer, words in sent.items():
            after = self.node.state_of(peer, topic)
            cause = on
            if on == "timer":
                cause = BY_TIME[words[0]] if words else on
            elif sender and peer != sender:
                cause = "new event" if on == "EVENT" and is_new else f"{on} of another"
            passive = peer != sender and not words and after == before[peer]
            if passive and not (cause == "new event" and is_new and before[peer] is not APART):
                continue
            words = list(dict.fromkeys(words))
            self.judge.check(before[peer], cause, words, after, (peer, before[peer], cause, words, after))
        return sent

    def says(self, peer: str, message: Spread) -> dict[NodeId, list[str]]:
        (topic,) = topics_of(message) or {"x"}
        return self.step(lambda: self.node.receive(peer, message, self.now), name_of(message), peer, topic)

    def join(self, peer: str, topics: str = "xy") -> None:
        self.step(lambda: self.node.link_up(peer, frozenset(topics), self.now), "link")

    def part(self, peer: str) -> None:
        self.step(lambda: self.node.link_down(peer, self.now), "link")

    def waits(self, seconds: float) -> None:
        """All timers up to then, and a heartbeat each second."""
        end, beat = self.now + seconds, self.now + 1.0
        while min(beat, self.node.next_timer()) <= end:
            self.now = min(beat, self.node.next_timer())
            if beat <= self.now:
                beat += 1.0
                self.step(lambda: self.node.announce_again(self.now), "beat")
            else:
                self.step(lambda: self.node.handle_timer(self.now), "timer")
        self.now = end


def topics_of(message: Spread) -> set[Topic]:
    if isinstance(message, Event):
        return {message.id.topic}
    return {id.topic for id in message.ids} if isinstance(message, Have | Want) else {message.topic}


def event(number: int, *, hops: int = 1, age: float = 0.0, topic: str = "x") -> Event:
    return Event(EventId("p", topic, number), 0, hops, age, b"!")


def have(number: int, *, hops: int = 9) -> Have:
    return Have((EventId("p", "x", number),), (0.0,), (hops,))


def words() -> Iterable[Spread]:
    """One of each kind about an event that came from c over nine links, and about one that did not."""
    yield event(1)
    yield event(2)
    yield event(2, age=1_000.0)
    yield event(0)
    yield have(1)
    yield have(1, hops=2)
    yield have(2)
    yield Want((EventId("p", "x", 1),))
    yield Want((EventId("p", "x", 2),))
    yield Graft("x")
    yield Prune("x")


def in_state(judge: RuleJudge[EventLinkState], state: EventLinkState, *, event_came: bool = True) -> Watched:
    """A node with neighbors b and c, and with a in `state`; one event came from c."""
    one = Watched(judge)
    one.join("a", "y" if state is APART else "xy")
    one.join("b")
    one.join("c")
    if event_came:
        one.says("c", event(1, hops=9))
    if state is LAZY:
        one.says("a", Prune("x"))
    assert one.node.state_of("a", "x") is state
    return one


@pytest.fixture(scope="module")
def judge() -> RuleJudge[EventLinkState]:
    return RuleJudge(RULES)


def every_word_in_every_state(judge: RuleJudge[EventLinkState]) -> None:
    for state in EventLinkState:
        for message in words():
            one = in_state(judge, state)
            one.says("a", message)
            one.waits(4.0)
            one.part("a")
            one.join("a")
            one.waits(2.0)
    for message in words():
        in_state(judge, EAGER, event_came=False).says("a", message)
        Watched(judge).says("a", message)


def full_connections_and_late_neighbors(judge: RuleJudge[EventLinkState]) -> None:
    one = in_state(judge, EAGER)
    one.node.congested("a", True)
    one.step(lambda: one.node.publish("x", b"", one.now), "new event")
    one.waits(2.0)
    for state in (EAGER, LAZY):
        one = in_state(judge, state)
        one.step(lambda: one.node.publish("x", b"", one.now), "new event")  # noqa: B023
        one.waits(5.0)
    for pruned in ("", "c"):  # the announcement overtakes the event
        one = in_state(judge, LAZY)
        if pruned:
            one.says(pruned, Prune("x"))
        one.says("a", have(2, hops=3))
        one.says("c", event(2, hops=9))
        one = in_state(judge, LAZY)
        one.says("a", have(2, hops=8))  # it is asked at once, and not again: it brings a duplicate
        one.says("c", event(2, hops=9))
        one.says("a", event(2, hops=8))
        if pruned:
            one.says(pruned, Prune("x"))
        one.says("a", have(3, hops=3))
        one.says("c", event(3, hops=9))
    one = in_state(judge, LAZY)
    one.says("a", have(2))
    one.says("a", Prune("x"))
    one.waits(1.0)  # it is asked again, at its turn
    one = in_state(judge, LAZY)  # a neighbor that wants the topic no more is still asked for what it told
    one.says("a", have(7))
    one.step(lambda: one.node.shared_changed("a", frozenset("y"), one.now), "link")
    one.waits(2.0)
    one.says("a", event(1))


def nonsense(judge: RuleJudge[EventLinkState], seed: int) -> None:
    rng = Random(seed)
    one = Watched(judge, announce_rounds=2)
    for _ in range(300):
        peer = rng.choice("abc")
        match rng.randrange(8):
            case 0:
                (one.part if peer in one.node._links else one.join)(peer)
            case 1:
                one.says(peer, event(rng.randrange(1, 20), age=rng.choice((0.0, 1_000.0))))
            case 2:
                one.step(lambda: one.node.publish("x", b"", one.now), "new event")
            case 3:
                one.waits(rng.random() * 2)
            case _:
                number, hops = rng.randrange(1, 20), rng.randrange(1, 12)
                id = EventId("p", "x", number)
                about = (event(number, hops=hops), have(number, hops=hops), Want((id,)))
                one.says(peer, rng.choice((*about, Graft("x"), Prune("x"))))


def test_every_step_is_permitted_and_every_row_is_seen_from_each_of_its_states(
    judge: RuleJudge[EventLinkState],
) -> None:
    every_word_in_every_state(judge)
    full_connections_and_late_neighbors(judge)
    for seed in range(5):
        nonsense(judge, seed)
    assert judge.unseen() == []


def test_the_table_knows_every_message_in_every_state() -> None:
    for message in words():
        for state in EventLinkState:
            rows = [rule for rule in RULES if rule.on == name_of(message) and state in rule.states]
            assert rows, (state, message)


def test_the_judge_catches_a_duplicate_that_is_answered_with_graft(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(node: Dissemination, peer: NodeId, id: EventId, store: object, hops: int) -> None:
        node._context.send(peer, Graft(id.topic))

    monkeypatch.setattr(Dissemination, "_receive_duplicate", broken)
    one = in_state(RuleJudge(RULES), EAGER)
    with pytest.raises(AssertionError, match="no row of the table permits"):
        one.says("a", event(1))


def test_the_table_prints_one_line_for_each_rule() -> None:
    assert len(rule_table().splitlines()) == len(RULES) + 1
