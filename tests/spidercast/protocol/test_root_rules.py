"""The table in `root_rules.py` against what nodes do: every step is permitted, every row happens."""

from __future__ import annotations

from collections.abc import Callable, Collection
from random import Random
from typing import Any

import pytest

from spidercast.protocol.node_wire import Wire
from spidercast.protocol.rule_judge import RuleJudge
from topicloom.spidercast.protocol.goals import NodeGoals
from topicloom.spidercast.protocol.messages import NodeId, Root, Roots, Topic
from topicloom.spidercast.protocol.node import Node
from topicloom.spidercast.protocol.root_parents import MOST_HOPS, RootParents
from topicloom.spidercast.protocol.root_rules import RULES, RootState, rule_table
from topicloom.spidercast.protocol.roots import TopicRoots


class Judge(RuleJudge[RootState]):
    """Holds the steps of elections against the rules, and the books of a node against each other."""

    def __init__(self) -> None:
        super().__init__(RULES)

    def watch(self, node: Node) -> None:
        """Judge every step of a node from now on."""
        judge = self

        class Watched(TopicRoots):
            __slots__ = ()

            def link_up(
                self, peer: NodeId, shared: Collection[Topic], number: int, roots: Roots, now: float
            ) -> None:
                judge.step(self, peer, lambda: super(Watched, self).link_up(peer, shared, number, roots, now))

            def tell_all(
                self, peer: NodeId, shared: Collection[Topic], number: int, roots: Roots, now: float
            ) -> None:
                judge.step(
                    self, peer, lambda: super(Watched, self).tell_all(peer, shared, number, roots, now)
                )

            def tell(self, peer: NodeId, number: int, roots: Roots, now: float) -> bool:
                return judge.step(self, peer, lambda: super(Watched, self).tell(peer, number, roots, now))

            def link_down(self, peer: NodeId, now: float) -> None:
                judge.step(self, peer, lambda: super(Watched, self).link_down(peer, now), "gone")

            def handle_timer(self, now: float) -> None:
                on = "begin" if self._ready > -float("inf") else "doubt over"
                judge.step(self, None, lambda: super(Watched, self).handle_timer(now), on)

            def interest_changed(self, now: float) -> None:
                judge.step(self, None, lambda: super(Watched, self).interest_changed(now), "interest")

        assert node._roots is not None
        node._roots.__class__ = Watched

    def step(self, roots: TopicRoots, peer: NodeId | None, do: Callable[[], Any], on: str = "") -> Any:
        states: dict[Topic, RootState] = {topic: roots.state_of(topic) for topic in roots.table}
        parents, doubts, table = roots.parents(), dict(roots._doubts), dict(roots.table)
        answer = do()
        wanted = roots._context.interest
        for topic in {**table, **dict.fromkeys(sorted(map(str, wanted)))}:
            before, after = states.get(topic, RootState.UNWANTED), roots.state_of(topic)
            if before is after is RootState.UNWANTED:
                continue
            news = topic in roots.table and roots.table[topic] != table.get(topic)
            if peer is None:
                cause = on
                if on == "doubt over" and (topic not in doubts or topic in roots._doubts):
                    assert before == after, "nothing is due for this topic"
                    continue
            elif on == "gone":
                cause = "parent gone" if parents.get(topic) == peer else "neighbor gone"
            else:
                cause = "parent's word" if parents.get(topic) == peer else "offer"
            self.check(before, cause, ("news",) if news else (), after, (topic, before, cause, news, after))
            check_books(roots, topic)
        return answer


def check_books(roots: TopicRoots, topic: Topic) -> None:
    """Whom a node names is what its parent names, or itself; it names nobody who is larger than itself."""
    state, own = roots.state_of(topic), (roots._context.life, roots._context.name, 0)
    if state is RootState.UNWANTED:
        assert not any(topic in offers for offers in roots._offers.values())
        return
    root: Root = roots.table[topic]
    assert 0 <= roots._least[topic] <= root[2] <= MOST_HOPS
    if state is RootState.FOLLOWS:
        life, name, hops = roots._offers[roots._parents[topic]][topic]
        assert root == (life, name, hops + 1)
        assert root[:2] < own[:2]
    else:
        assert root == own


class JudgedWire(Wire):
    """A wire whose nodes' elections are judged."""

    def __init__(self, judge: Judge, seed: int = 1, **options: Any) -> None:
        self.roots_judge = judge
        super().__init__(seed, **options)

    def place(self, name: NodeId, topics: Any, **options: Any) -> Node:
        node = super().place(name, topics, **options)
        self.roots_judge.watch(node)
        return node


def nodes_come_and_go(judge: Judge, seed: int) -> None:
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


def who_doubts_wants_another_topic(judge: Judge) -> None:
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
    judge = Judge()
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

    judge = Judge()
    monkeypatch.setattr(RootParents, "_seek_parent", keeps)
    with pytest.raises(AssertionError):
        nodes_come_and_go(judge, 1)


def test_the_judge_catches_a_node_that_follows_a_larger_root(monkeypatch: pytest.MonkeyPatch) -> None:
    def gullible(roots: RootParents, topic: Topic, peer: NodeId, offer: Root, now: float) -> None:
        roots._set(topic, (offer[0], offer[1], offer[2] + 1), peer, now)

    monkeypatch.setattr(RootParents, "_judge", gullible)
    with pytest.raises(AssertionError):
        nodes_come_and_go(Judge(), 1)


def test_the_table_prints_one_aligned_line_for_each_rule() -> None:
    lines = rule_table().splitlines()
    assert len(lines) == len(RULES) + 1
    for line, rule in zip(lines[1:], RULES, strict=True):
        assert line.startswith(rule.states[0].value)
        assert rule.on in line
