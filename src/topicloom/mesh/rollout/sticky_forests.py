"""Forests that stay: accounts keep their topics and links, only topics that changed may get others.

For kinds of brokers whose accounts must be forests. An account is kept as an arrow from each node to the one
it dials: at most one, because servers pass nothing on between two that they dial. A topic fits into an
account if, wherever two of its subscribers are joined there, the path lies within its subscribers. Where it
does not, a link of that path may be exchanged for one between two subscribers, if all topics of the link are
wanted at both ends. A topic stays where it was if it can, else goes where it needs the fewest new links, else
into an account of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from dataclasses import replace

from topicloom.errors import InputError
from topicloom.mesh.model.mesh import MeshLink
from topicloom.mesh.rollout.change import Change, Groups, Pair, pair, split_fault

WIDE = 2000  # pairs beyond those of the overlay that one topic may weigh
NEW = 10**6  # of links: more than any account asks for


def sticky_forests(change: Change, stems: dict[str, str]) -> tuple[list[MeshLink], dict[str, str]]:
    """Return the links of the new mesh, without backups, and the account of each topic."""
    forests = _Forests(change)
    for topic in change.changed:
        forests.place(topic)
    made = {link.name: link for link in forests.links(stems)}
    order = dict.fromkeys([*(link.name for link in change.old.links if link.name in made), *sorted(made)])
    return [made[name] for name in order], forests.account_of


class _Account:
    """The arrows of one account, and the topics on each."""

    def __init__(self) -> None:
        self.up: dict[str, str] = {}
        self.topics: dict[str, set[str]] = {}  # by the dialing end of a link

    def path(self, node: str) -> list[str]:
        """Return the nodes from here to the root of the tree."""
        found = [node]
        while found[-1] in self.up:
            found.append(self.up[found[-1]])
        return found

    def join(self, one: str, other: str) -> None:
        """Link two trees; the one whose root is nearer to its end is turned around."""
        first, second = self.path(one), self.path(other)
        if (len(second), other) < (len(first), one):
            one, other, first = other, one, second
        for below, above in reversed(list(itertools.pairwise(first))):
            self.up[above] = below
            self.topics[above] = self.topics.pop(below)
            del self.up[below]
        self.up[one], self.topics[one] = other, set()

    def copy(self) -> _Account:
        other = _Account()
        other.up, other.topics = dict(self.up), {node: set(own) for node, own in self.topics.items()}
        return other

    def between(self, one: str, other: str) -> list[str] | None:
        """Return the dialers of the links between two nodes; None if nothing joins them."""
        first, second = self.path(one), self.path(other)
        if first[-1] != second[-1]:
            return None
        while len(first) > 1 and len(second) > 1 and first[-2] == second[-2]:
            first.pop(), second.pop()
        return first[:-1] + second[:-1]

    def drop(self, dialer: str) -> None:
        del self.up[dialer], self.topics[dialer]

    def inside(self, wanting: set[str]) -> Iterator[tuple[str, str]]:
        """Yield the links (dialer, acceptor) between these nodes."""
        return ((node, self.up[node]) for node in wanting if self.up.get(node) in wanting)


class _Forests:
    def __init__(self, change: Change) -> None:
        self.change = change
        self.linked = {pair(link.dialer, link.acceptor) for link in change.old.links}
        self.wanting = {topic: set(own) for topic, own in change.members.items()}
        self.accounts: dict[str, _Account] = {name: _Account() for name in change.old.accounts}
        self.account_of = {
            topic.topic: topic.account or "" for topic in change.old.topics if topic.topic in change.members
        }
        kept = set(change.members) - set(change.changed)
        for link in change.old.links:
            account = self.accounts[link.account or ""]
            account.up[link.dialer] = link.acceptor
            account.topics[link.dialer] = set(link.topics) & kept
        for link in change.old.links:
            self._release(link)

    def _release(self, link: MeshLink) -> None:
        """Take away a link that no topic keeps and that no changed topic could go on using."""
        account = self.accounts[link.account or ""]
        members = self.change.members
        usable = any(topic in members and self.change.stays(link, members[topic]) for topic in link.topics)
        if not account.topics[link.dialer] and not usable:
            account.drop(link.dialer)

    def place(self, topic: str) -> None:
        """Find the account of a topic, and add the links it needs there."""
        wanting = self.change.members[topic]
        own = self.account_of.get(topic)
        costs = {
            name: (self._cost(account, wanting), name != own, name) for name, account in self.accounts.items()
        }
        best = min(costs, key=costs.__getitem__, default=None)
        if own is not None and self._joined(topic, own):
            return
        if best is None or costs[best][0] >= NEW:
            best = self._new_account()
        if not self._joined(topic, best):
            raise self._split(topic)

    def _split(self, topic: str) -> InputError:
        wanting = self.change.members[topic]
        groups = Groups(wanting)
        for ends in self.change.pairs(set(wanting)):
            groups.join(*ends)
        return split_fault(topic, wanting, groups)

    def _new_account(self) -> str:
        name = next(f"A{number}" for number in range(NEW) if f"A{number}" not in self.accounts)
        self.accounts[name] = _Account()
        return name

    def _cost(self, account: _Account, wanting: Collection[str]) -> int:
        """Count the links that a topic lacks in an account; NEW if it does not fit."""
        own = set(wanting)
        groups = Groups(own)
        for dialer, acceptor in account.inside(own):
            groups.join(dialer, acceptor)
        tops = {groups.top(node) for node in own}
        roots = {account.path(node)[-1] for node in own}
        if len(roots) < len(tops):
            return NEW  # two of its parts are joined through nodes that do not want it
        for ends in self.change.pairs(own):
            groups.join(*ends)
        return NEW if groups.count > 1 else len(tops) - 1

    def _joined(self, topic: str, name: str) -> bool:
        """Join the subscribers of a topic in an account; False, and nothing is done, if that cannot be."""
        account, own = self.accounts[name].copy(), set(self.change.members[topic])
        pairs = [*self.change.pairs(own), *self._wide(topic)]
        while True:
            groups = Groups(own)
            for dialer, acceptor in account.inside(own):
                groups.join(dialer, acceptor)
            if groups.count <= 1:
                break
            ways = [
                way
                for ends in pairs
                if groups.top(ends[0]) != groups.top(ends[1])
                for way in self._ways(account, ends, topic)
            ]
            if not ways:
                return False
            _, ends, cut = min(ways, key=lambda way: (way[0], way[1], way[2] or ""))
            moved = account.topics[cut] if cut is not None else set()
            if cut is not None:
                account.drop(cut)
            account.join(*ends)
            dialer = next(end for end in ends if account.up.get(end) in ends)
            account.topics[dialer] |= moved
        for dialer, _ in account.inside(own):
            account.topics[dialer].add(topic)
        self.accounts[name], self.account_of[topic] = account, name
        return True

    def _wide(self, topic: str) -> list[Pair]:
        """Return pairs of who is new to a topic and its other subscribers, where nothing forbids them.

        Beyond those of the overlay: a topic that moves to another account changes all its subscribers.
        """
        members, before = self.change.members[topic], self.change.before.get(topic, frozenset())
        new = [node for node in members if node not in before]
        if not self.change.free or len(new) * len(members) > WIDE:
            return []
        pairs = {pair(node, other) for node in new for other in members if node != other}
        return sorted(pairs - self.change.let_go)

    def _ways(
        self, account: _Account, ends: Pair, topic: str
    ) -> Iterator[tuple[tuple[int, int, bool], Pair, str | None]]:
        """Yield how a pair can be linked: the cost, the pair, and whose link is taken out for it."""
        unlinked = ends not in self.linked
        between = account.between(*ends)
        if between is None:
            yield (0, min(len(account.path(end)) for end in ends), unlinked), ends, None
            return
        own = self.wanting[topic]
        for dialer in between:
            if dialer in own and account.up[dialer] in own:
                continue  # the topic needs it
            if all(set(ends) <= self.wanting[one] for one in account.topics[dialer] - {topic}):
                yield (1, 0 if dialer in ends else 1, unlinked), ends, dialer

    def links(self, stems: dict[str, str]) -> Iterator[MeshLink]:
        """Yield the links that carry something; old ones as they were."""
        old = {(link.account, link.dialer, link.acceptor): link for link in self.change.old.links}
        for name, account in self.accounts.items():
            for dialer, acceptor in account.up.items():
                topics = tuple(sorted(account.topics[dialer]))
                made = f"{stems[dialer]}~{stems[acceptor]}~{name}"
                link = old.get((name, dialer, acceptor)) or MeshLink(made, dialer, acceptor, (), name)
                if topics:
                    yield replace(link, topics=topics, backups=())
