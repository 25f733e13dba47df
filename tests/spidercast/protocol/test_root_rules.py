"""The table in `root_rules.py` against what nodes do: every step is permitted, every row happens."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from spidercast.protocol.node_wire import Wire
from spidercast.protocol.root_judge import RootJudge
from topicloom.spidercast.protocol.goals import NodeGoals
from topicloom.spidercast.protocol.messages import NodeId, Root, Topic
from topicloom.spidercast.protocol.node import Node
from topicloom.spidercast.protocol.root_parents import RootParents
from topicloom.spidercast.protocol.root_rules import RULES, RootState, rule_table


class JudgedWire(Wire):
    """A wire whose nodes' elections are judged."""

    def __init__(self, judge: RootJudge, seed: int = 1, **options: Any) -> None:
        self.roots_judge = judge
        super().__init__(seed, **options)

    def place(self, name: NodeId, topics: Any, **options: Any) -> Node:
        node = super().place(name, topics, **options)
        self.roots_judge.watch(node)
        return node


def nodes_come_and_go(judge: RootJudge, seed: int) -> None:
    """Losses, crashes, changes of interest, a cut that heals: all that may end a path to a root."""
    rng = Random(seed)
    wire = JudgedWire(judge, seed, goals=NodeGoals(greedy=1 + seed % 2), latency=(0.0, 0.2))
    wire.loss = wire.doubling = 0.05
    names = [f"n{number:02}" for number in range(12)]
    for name in names:
        wire.add(name, rng.sample("xyz", 2))
    for turn in range(24):
        wire.run(0.9)
        name = min(wire.nodes) if turn % 3 else rng.choice(list(wire.nodes))
        if turn % 8 == 5:
            wire.cut(names[::2], names[1::2])
        elif turn % 8 == 7:
            wire.cut()
        elif turn % 4 == 0:
            topic = rng.choice("xyz")
            (wire.unsubscribe if topic in wire.nodes[name].interest else wire.subscribe)(name, topic)
        else:
            (wire.crash if turn % 2 else wire.leave)(name)
            wire.run(1.5)
            wire.add(name, rng.sample("xyz", 2))


def who_doubts_wants_another_topic(judge: RootJudge) -> None:
    wire = JudgedWire(judge, goals=NodeGoals(greedy=1))
    for name in "abc":
        wire.add(name, "x")
    wire.run(5.0)
    wire.crash("a")
    while all(node._roots.state_of("x") is not RootState.DOUBTS for node in wire.nodes.values()):  # type: ignore[union-attr]
        wire.run(0.1)
    for name, node in wire.nodes.items():
        if node._roots.state_of("x") is RootState.DOUBTS:  # type: ignore[union-attr]
            wire.subscribe(name, "y")
    wire.run(5.0)


@pytest.mark.slow
def test_every_step_is_permitted_and_every_row_is_seen_from_each_of_its_states() -> None:
    judge = RootJudge()
    who_doubts_wants_another_topic(judge)
    for seed in range(12):
        nodes_come_and_go(judge, seed)
    assert judge.unseen() == []


def test_the_judge_catches_a_node_that_believes_in_a_root_it_just_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def keeps(roots: RootParents, topic: Topic, now: float) -> None:
        """Hold on to the old root without a path to it."""
        roots._set(topic, roots.table[topic], None, now)

    judge = RootJudge()
    monkeypatch.setattr(RootParents, "_seek_parent", keeps)
    with pytest.raises(AssertionError):
        nodes_come_and_go(judge, 1)


def test_the_judge_catches_a_node_that_follows_a_larger_root(monkeypatch: pytest.MonkeyPatch) -> None:
    def gullible(roots: RootParents, topic: Topic, peer: NodeId, offer: Root, now: float) -> None:
        roots._set(topic, (offer[0], offer[1], offer[2] + 1), peer, now)

    monkeypatch.setattr(RootParents, "_judge", gullible)
    with pytest.raises(AssertionError):
        nodes_come_and_go(RootJudge(), 1)


def test_the_table_prints_one_aligned_line_for_each_rule() -> None:
    lines = rule_table().splitlines()
    assert len(lines) == len(RULES) + 1
    for line, rule in zip(lines[1:], RULES, strict=True):
        assert line.startswith(rule.states[0].value)
        assert rule.on in line
