"""The table in `gossip_rules.py` against what views do: every step is permitted, every row happens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from random import Random

import pytest

from spidercast.protocol.rule_judge import RuleJudge, name_of
from topicloom.spidercast.protocol.gossip import QUICK, Gossip
from topicloom.spidercast.protocol.gossip_rules import RULES, ViewState, rule_table
from topicloom.spidercast.protocol.messages import Descriptor, NodeId, Shuffle, ShuffleReply
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.wire.core import Send

NAMES = [f"n{number}" for number in range(9)]
SEED = "n0"
UNKNOWN, NOTED, VIEWED, PARTNER, GONE = ViewState


class Watched:
    """One view whose steps are judged, node by node; the test speaks for all others."""

    def __init__(self, judge: RuleJudge[ViewState], size: int = 2, seeds: Iterable[str] = (SEED,)) -> None:
        settings = ProtocolSettings(
            gossip_view=size, gossip_shuffle=2, gossip_forget=8.0, gossip_seed=5.0, gossip_period=1.0
        )
        self.context = NodeContext("me", frozenset("x"), 1, settings, Random(1))
        entries = [Descriptor(seed, 1, 0.0, frozenset("y")) for seed in seeds]
        self.view, self.judge, self.now = Gossip(self.context, entries), judge, 0.0
        self.view.start(0.0)

    def step(
        self, action: Callable[[], object], on: str, about: NodeId = "", told: Collection[NodeId] = ()
    ) -> None:
        before = {name: self.view.state_of(name) for name in NAMES}
        self.context.effects.clear()
        action()
        sent: dict[NodeId, list[str]] = {name: [] for name in NAMES}
        for effect in self.context.effects:
            if isinstance(effect, Send):
                for to in effect.to:
                    sent[to].append(name_of(effect.message))
        for name in NAMES:
            after, cause = self.view.state_of(name), on
            if about and name != about:
                cause = "told" if name in told else f"{on} of another"
                if cause != "told" and before[name] is VIEWED and on.startswith("SHUFFLE"):
                    cause = "exchange"
                if cause == "told" and before[name] is VIEWED and after is not VIEWED:
                    cause = "exchange"  # told of, and its place given away by the same message
            if name == about or name in told or sent[name] or after is not before[name]:
                step = (name, before[name], cause, sent[name], after)
                self.judge.check(before[name], cause, sent[name], after, step)

    def says(self, peer: str, message: Shuffle | ShuffleReply) -> None:
        told = [one.node for one in message.descriptors if one.node != peer]
        on = name_of(message)
        if isinstance(message, Shuffle) and self.context.answers.has_had(Shuffle, peer, self.now, most=QUICK):
            on += " again"
        self.step(lambda: self.view.receive(peer, message, self.now), on, peer, told)

    def turn(self, later: float = 1.0) -> None:
        self.now = max(self.now + later, self.view.next_timer())
        self.step(lambda: self.view.handle_timer(self.now), "turn")

    def heard(self, name: str, topics: str = "x", version: int = 1) -> None:
        self.step(lambda: self.view.heard(name, 1, version, frozenset(topics), self.now), "heard", name)

    def gone(self, name: str) -> None:
        self.step(lambda: self.view.gone(name, self.now), "gone", name)

    def wants(self, topics: str) -> None:
        self.context.interest = frozenset(topics)
        self.step(lambda: self.view.interest_changed(self.now), "interest")


def told(node: str, topics: str = "x", version: int = 1, age: float = 0.0) -> Descriptor:
    return Descriptor(node, version, age, frozenset(topics), 1)


@pytest.fixture(scope="module")
def judge() -> RuleJudge[ViewState]:
    return RuleJudge(RULES)


def anything(judge: RuleJudge[ViewState], seed: int, size: int) -> None:
    """Random words, silence, departures and changes, in a view so small that places are scarce."""
    rng = Random(seed)
    one = Watched(judge, size, seeds=NAMES[: rng.choice((1, 1, 4))])
    for _ in range(400):
        name = rng.choice(NAMES)
        some = tuple(
            told(rng.choice(NAMES), rng.choice(("x", "y", "")), rng.randrange(4), rng.random() * 9)
            for _ in range(rng.randrange(3))
        )
        own = (told(name, rng.choice("xy"), rng.randrange(4)),) if rng.random() < 0.7 else ()
        match rng.randrange(9):
            case 0 | 1:
                one.turn()
            case 2:
                one.turn(later=rng.choice((1.0, 9.0)))
            case 3 | 4:
                for _ in range(rng.choice((1, 1, 1, QUICK + 1))):
                    one.says(name, Shuffle(own + some))
            case 5:
                partner = [other for other in NAMES if one.view.state_of(other) is PARTNER]
                one.says(rng.choice(partner or [name]), ShuffleReply(own + some))
            case 6:
                one.heard(name, rng.choice(("x", "y")), rng.randrange(4))
            case 7:
                one.gone(name)
            case _:
                one.wants(rng.choice(("x", "y", "xy")))


@pytest.mark.slow
def test_every_step_is_permitted_and_every_row_is_seen_from_each_of_its_states(
    judge: RuleJudge[ViewState],
) -> None:
    for seed in range(20):
        anything(judge, seed, size=2 + seed % 2)
    assert judge.unseen() == []


def test_the_judge_catches_a_view_that_keeps_those_that_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gossip, "gone", lambda view, node, now: None)
    one = Watched(RuleJudge(RULES))
    with pytest.raises(AssertionError, match="no row of the table permits"):
        one.gone(SEED)


def test_the_judge_catches_a_view_that_answers_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gossip, "receive", lambda view, peer, message, now: None)
    one = Watched(RuleJudge(RULES))
    with pytest.raises(AssertionError, match="no row of the table permits"):
        one.says("n1", Shuffle((told("n1"),)))


def test_the_table_prints_one_line_for_each_rule() -> None:
    assert len(rule_table().splitlines()) == len(RULES) + 1
