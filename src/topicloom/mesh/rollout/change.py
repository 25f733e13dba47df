"""What a roll-out starts from: the mesh that runs, who wants each topic from now on, which pairs may link."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from topicloom.errors import InputError
from topicloom.mesh.model.mesh import Mesh, MeshLink
from topicloom.mesh.topic_trees.spanning import split_sentence

Pair = tuple[str, str]  # two nodes, the smaller name first


def pair(one: str, other: str) -> Pair:
    """Return the two in one order, whoever dials."""
    return (one, other) if one < other else (other, one)


@dataclass(frozen=True, eq=False)
class Change:
    """The old mesh and the new interest; `near` are the nodes that each node may have a link with.

    `let_go` are pairs whose links need not stay. `free`: other pairs may be linked too, to save brokers.
    """

    old: Mesh
    members: Mapping[str, Sequence[str]]  # of each topic
    near: Mapping[str, set[str]]
    let_go: frozenset[Pair] = frozenset()
    free: bool = False

    @cached_property
    def before(self) -> dict[str, frozenset[str]]:
        """Return who wanted each topic in the old mesh."""
        return {topic.topic: frozenset(topic.subscribers) for topic in self.old.topics}

    @cached_property
    def carrying(self) -> dict[str, list[MeshLink]]:
        """Return the old links of each topic."""
        found: dict[str, list[MeshLink]] = {topic: [] for topic in self.before}
        for link in self.old.links:
            for topic in link.topics:
                found[topic].append(link)
        return found

    @cached_property
    def changed(self) -> list[str]:
        """Return the topics that must be planned anew, in order; of all others everything stays."""
        return [
            topic
            for topic, own in self.members.items()
            if frozenset(own) != self.before.get(topic)
            or any(pair(link.dialer, link.acceptor) in self.let_go for link in self.carrying[topic])
        ]

    def stays(self, link: MeshLink, wanting: Iterable[str]) -> bool:
        """Return whether an old link can go on carrying a topic of these subscribers."""
        ends = pair(link.dialer, link.acceptor)
        return set(ends) <= set(wanting) and ends not in self.let_go

    def pairs(self, wanting: set[str]) -> list[Pair]:
        """Return the pairs of these subscribers that may have a link, in order."""
        return sorted(
            {pair(node, other) for node in wanting for other in self.near.get(node, set()) & wanting}
            - self.let_go
        )


class Groups:
    """Nodes that are joined to groups, one pair after the other.

    >>> groups = Groups("abc")
    >>> groups.join("a", "b"), groups.join("b", "a"), groups.count
    (True, False, 2)
    """

    def __init__(self, nodes: Iterable[str]) -> None:
        self._above = {node: node for node in nodes}
        self.count = len(self._above)

    def top(self, node: str) -> str:
        """Return the node that stands for a group."""
        while self._above[node] != node:
            self._above[node] = self._above[self._above[node]]
            node = self._above[node]
        return node

    def join(self, one: str, other: str) -> bool:
        """Join two groups; False if they are one already."""
        one, other = self.top(one), self.top(other)
        if one == other:
            return False
        self._above[max(one, other)] = min(one, other)
        self.count -= 1
        return True


def split_fault(topic: str, wanting: Sequence[str], groups: Groups) -> InputError:
    """Return the error that names two subscribers which nothing joins."""
    first = wanting[0]
    other = next(node for node in wanting if groups.top(node) != groups.top(first))
    return InputError(split_sentence(topic, first, other))
