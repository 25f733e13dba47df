"""Trees that stay: only topics whose subscribers changed get other edges, and of these as few as possible.

For kinds of brokers whose links carry a tree for each topic. What is left of an old tree is kept. Its
components are joined by pairs that are linked already, then by pairs whose brokers are changed anyway.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from topicloom.mesh.model.mesh import MeshLink
from topicloom.mesh.rollout.change import Change, Groups, Pair, pair, split_fault


def sticky_trees(change: Change, stems: dict[str, str]) -> list[MeshLink]:
    """Return the links of the new mesh, old ones first; no backups."""
    return _Trees(change, stems).links()


class _Trees:
    def __init__(self, change: Change, stems: dict[str, str]) -> None:
        self.change = change
        self.stems = stems
        self.carried: dict[str, set[str]] = {link.name: set() for link in change.old.links}
        self.link = {link.name: link for link in change.old.links}
        self.of_pair: dict[Pair, list[MeshLink]] = {}
        for link in change.old.links:
            self.of_pair.setdefault(pair(link.dialer, link.acceptor), []).append(link)
        self.touched: set[str] = set()  # nodes that dial something else than before
        self.load = Counter(end for ends in self.of_pair for end in ends)

    def links(self) -> list[MeshLink]:
        changed = set(self.change.changed)
        for topic in self.change.members:
            for link in self.change.carrying.get(topic, ()):
                if topic not in changed or self.change.stays(link, self.change.members[topic]):
                    self.carried[link.name].add(topic)
        for link in self.change.old.links:
            if self.carried[link.name] != set(link.topics):
                self.touched.add(link.dialer)
        for topic in self.change.changed:
            self._join(topic)
        made = [
            replace(link, topics=tuple(sorted(self.carried[name])), backups=())
            for name, link in self.link.items()
        ]
        return [link for link in made if link.topics]

    def _join(self, topic: str) -> None:
        """Join what is left of the tree of a topic, and those who are new to it."""
        wanting = self.change.members[topic]
        groups = Groups(wanting)
        for link in self.change.carrying.get(topic, ()):
            if topic in self.carried[link.name]:
                groups.join(link.dialer, link.acceptor)
        open_pairs = self.change.pairs(set(wanting))
        new = set(wanting) - self.change.before.get(topic, frozenset())
        while groups.count > 1:
            open_pairs = [ends for ends in open_pairs if groups.top(ends[0]) != groups.top(ends[1])]
            if not open_pairs:
                raise split_fault(topic, wanting, groups)
            best = min(open_pairs, key=self._cost)
            groups.join(*best)
            self._carry(topic, best, new)

    def _cost(self, ends: Pair) -> tuple[int, int, int, Pair]:
        """Return what a pair costs: a new link, brokers that were not to change, load."""
        return (
            ends not in self.of_pair,
            self.touched.isdisjoint(link.dialer for link in self.of_pair.get(ends, ()))
            if ends in self.of_pair
            else self.touched.isdisjoint(ends),
            self.load[ends[0]] + self.load[ends[1]],
            ends,
        )

    def _carry(self, topic: str, ends: Pair, new: set[str]) -> None:
        links = self.of_pair.get(ends)
        if links is None:
            links = [self._new_link(ends, new)]
        # A link without backups takes one more topic without losing any.
        best = min(links, key=lambda link: (bool(link.backups), -len(link.topics), link.name))
        self.carried[best.name].add(topic)
        self.touched.add(best.dialer)

    def _new_link(self, ends: Pair, new: set[str]) -> MeshLink:
        """Make a link; a broker that changes anyway dials, or who is new to the topic."""
        dialer = max(ends, key=lambda end: (end in self.touched, end in new, end))
        acceptor = ends[ends[0] == dialer]
        link = MeshLink(f"{self.stems[dialer]}~{self.stems[acceptor]}", dialer, acceptor, ())
        self.link[link.name], self.carried[link.name] = link, set()
        self.of_pair[ends] = [link]
        self.load.update(ends)
        return link
