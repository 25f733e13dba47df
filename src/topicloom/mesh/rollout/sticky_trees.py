"""Trees that stay: only topics whose subscribers changed get other edges, and of these as few as possible.

For kinds of brokers whose links carry a tree for each topic. What is left of an old tree is kept. Its
components are joined so that few brokers change: first by links of brokers that change anyway, for all topics
together; then by the broker that helps most topics, and so on. A broker that drops a link of the topic and
dials another one does both at once: while brokers are restarted it never has both, so no loop can come of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from topicloom.mesh.model.mesh import MeshLink
from topicloom.mesh.rollout.change import Change, Groups, Pair, pair, split_fault

TOGETHER = 5000  # pairs of nodes that are weighed against each other at once
WIDE = 2000  # pairs beyond those of the overlay that one topic may weigh


_Cost: TypeAlias = tuple[int, int, bool, bool, bool, int, int, Pair]


def sticky_trees(change: Change, stems: dict[str, str]) -> list[MeshLink]:
    """Return the links of the new mesh, old ones first; no backups."""
    return _Trees(change, stems).links()


@dataclass(slots=True)
class _Open:
    """A topic whose subscribers are not joined yet: its components, and the pairs that may join them."""

    topic: str
    groups: Groups
    pairs: list[Pair]
    new: set[str]  # nodes that did not want it before
    free: Counter[str]  # nodes that dialled so many links of it which are gone
    wide: list[Pair] = field(default_factory=list)  # pairs that the overlay has not

    def left(self) -> list[Pair]:
        """Return the pairs that join two components."""
        self.pairs = [ends for ends in self.pairs if self.joins(ends)]
        return self.pairs

    def joins(self, ends: Pair) -> bool:
        """Return whether a pair joins two components."""
        return self.groups.top(ends[0]) != self.groups.top(ends[1])


class _Trees:
    def __init__(self, change: Change, stems: dict[str, str]) -> None:
        self.change = change
        self.stems = stems
        self.carried: dict[str, set[str]] = {link.name: set() for link in change.old.links}
        self.link = {link.name: link for link in change.old.links}
        self.of_pair: dict[Pair, list[MeshLink]] = {}
        for link in change.old.links:
            self.of_pair.setdefault(pair(link.dialer, link.acceptor), []).append(link)
        self.touched: set[str] = set()  # nodes whose files change
        self.restarted: set[str] = set()  # those that dial other links then; the others have other lists only
        self.guarded = any(node.user for node in change.old.nodes)  # who accepts lists what may come in
        self.load = Counter(end for ends in self.of_pair for end in ends)

    def links(self) -> list[MeshLink]:
        changed = set(self.change.changed)
        for topic in self.change.members:
            for link in self.change.carrying.get(topic, ()):
                if topic not in changed or self.change.stays(link, self.change.members[topic]):
                    self.carried[link.name].add(topic)
        for link in self.change.old.links:
            if self.carried[link.name] != set(link.topics):
                self._touch(link)
        if self.guarded:  # and what clients may do
            for topic in self.change.changed:
                self.touched |= self.change.before.get(topic, frozenset()) ^ set(self.change.members[topic])
        for group in self._groups():
            self._join(group)
        made = [
            replace(link, topics=tuple(sorted(self.carried[name])), backups=())
            for name, link in self.link.items()
        ]
        return [link for link in made if link.topics]

    def _touch(self, link: MeshLink) -> None:
        self.restarted.add(link.dialer)
        self.touched |= self._brokers(link.dialer, link.acceptor)

    def _brokers(self, dialer: str, acceptor: str) -> set[str]:
        """Return whose files change with what a link carries."""
        return {dialer, acceptor} if self.guarded else {dialer}

    def _groups(self) -> Iterator[list[_Open]]:
        """Yield the topics that must be joined, as many together as are not too many."""
        found: list[_Open] = []
        for topic in self.change.changed:
            wanting = self.change.members[topic]
            groups, free = Groups(wanting), Counter[str]()
            for link in self.change.carrying.get(topic, ()):
                if topic in self.carried[link.name]:
                    groups.join(link.dialer, link.acceptor)
                else:
                    free[link.dialer] += 1
            if groups.count > 1:
                new = set(wanting) - self.change.before.get(topic, frozenset())
                found.append(_Open(topic, groups, self.change.pairs(set(wanting)), new, free))
            if sum(len(one.pairs) for one in found) > TOGETHER:
                yield found
                found = []
        yield found

    def _join(self, group: list[_Open]) -> None:
        """Join what is left of the trees of these topics, and those who are new to them."""
        while group := [one for one in group if one.groups.count > 1]:
            for one in group:
                if not one.left():
                    raise split_fault(one.topic, self.change.members[one.topic], one.groups)
                one.wide = self._wide(one)
            demand = Counter(
                broker
                for one in group
                for broker in {fresh for ends in one.pairs for fresh in self._fresh(ends, one)}
            )
            costs = {
                one.topic: min(self._cost(ends, one, demand) for ends in (*one.pairs, *one.wide))
                for one in group
            }
            chosen = {topic: cost[-1] for topic, cost in costs.items()}
            # What costs nobody anything at once, else the one thing that helps most.
            free = [one for one in group if costs[one.topic][:2] == (0, 0)]
            for one in free or [min(group, key=lambda one: (costs[one.topic], one.topic))]:
                one.groups.join(*chosen[one.topic])
                self._carry(one, chosen[one.topic])

    def _wide(self, one: _Open) -> list[Pair]:
        """Return pairs of a broker that restarts anyway and another subscriber, unless they are let go."""
        wanting = self.change.members[one.topic]
        ready = [node for node in wanting if node in self.restarted]
        if not self.change.free or len(ready) * len(wanting) > WIDE:
            return []
        pairs = {pair(node, other) for node in ready for other in wanting if node != other}
        return [ends for ends in sorted(pairs - self.change.let_go - set(one.pairs)) if one.joins(ends)]

    def _dials(self, ends: Pair, one: _Open) -> str:
        """Return who dials the link of a pair."""
        link = self._link(ends)
        return link.dialer if link else self._dialer(ends, one)

    def _fresh(self, ends: Pair, one: _Open) -> set[str]:
        """Return the brokers that would change only for this pair."""
        dialer = self._dials(ends, one)
        return self._brokers(dialer, ends[ends[0] == dialer]) - self.touched

    def _cost(self, ends: Pair, one: _Open, demand: Counter[str]) -> _Cost:
        """Return what a pair costs: brokers that were not to restart, nor to change, one of them twice, a
        pair that the overlay has not, a new link; what it helps; load."""
        fresh, dialer = self._fresh(ends, one), self._dials(ends, one)
        return (
            dialer not in self.restarted,
            len(fresh),
            one.free[dialer] < 1,
            ends in one.wide,
            ends not in self.of_pair,
            -sum(demand[broker] for broker in fresh),
            self.load[ends[0]] + self.load[ends[1]],
            ends,
        )

    def _link(self, ends: Pair) -> MeshLink | None:
        """Return the link of a pair that takes one more topic: rather one without backups, to lose none."""
        links = self.of_pair.get(ends, ())
        return min(links, key=lambda link: (bool(link.backups), -len(link.topics), link.name), default=None)

    def _carry(self, one: _Open, ends: Pair) -> None:
        link = self._link(ends) or self._new_link(ends, one)
        self.carried[link.name].add(one.topic)
        one.free[link.dialer] -= 1
        self._touch(link)

    def _dialer(self, ends: Pair, one: _Open) -> str:
        """Return who dials a new link: who lost one, who restarts anyway, who is new to the topic."""
        return max(ends, key=lambda end: (one.free[end] > 0, end in self.restarted, end in one.new, end))

    def _new_link(self, ends: Pair, one: _Open) -> MeshLink:
        dialer = self._dialer(ends, one)
        acceptor = ends[ends[0] == dialer]
        link = MeshLink(f"{self.stems[dialer]}~{self.stems[acceptor]}", dialer, acceptor, ())
        self.link[link.name], self.carried[link.name] = link, set()
        self.of_pair[ends] = [link]
        self.load.update(ends)
        return link
