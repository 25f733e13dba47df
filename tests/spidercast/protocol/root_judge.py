"""A judge that holds the elections of roots against the table in `root_rules.py`, step by step."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from spidercast.protocol.rule_judge import RuleJudge
from topicloom.spidercast.protocol.messages import NodeId, Root, Roots, Topic
from topicloom.spidercast.protocol.node import Node
from topicloom.spidercast.protocol.root_parents import MOST_HOPS
from topicloom.spidercast.protocol.root_rules import RULES, RootState
from topicloom.spidercast.protocol.roots import TopicRoots


class RootJudge(RuleJudge[RootState]):
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
        assert topic not in roots._offers
        return
    root: Root = roots.table[topic]
    assert 0 <= roots._least[topic] <= root[2] <= MOST_HOPS
    if state is RootState.FOLLOWS:
        life, name, hops = roots._offers[topic][roots._parents[topic]]
        assert root == (life, name, hops + 1)
        assert root[:2] < own[:2]
    else:
        assert root == own
