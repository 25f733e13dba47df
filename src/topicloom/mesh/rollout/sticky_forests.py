"""Forests that stay: accounts keep their topics and links, only topics that changed may get others.

For kinds of brokers whose accounts must be forests. An account is kept as an arrow from each node to the one
it dials: at most one, because servers pass nothing on between two that they dial. A topic fits into an
account if, wherever two of its subscribers are joined there, the path lies within its subscribers. Where it
does not, a link of that path may be exchanged for one between two subscribers, if all topics of the link are
wanted at both ends. A topic stays where it was if it can. Else it goes where it needs the fewest new links or
into an account of its own; or smaller topics that are in its way do, if that changes fewer brokers.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from topicloom.errors import InputError
from topicloom.mesh.model.mesh import MeshLink, NodeAccount
from topicloom.mesh.rollout.account_trees import AccountTrees
from topicloom.mesh.rollout.change import Change, Groups, Pair, pair, split_fault

WIDE = 2000  # pairs beyond those of the overlay that one topic may weigh
NEW = 10**6  # of links: more than any account asks for
TRIED = 12  # groups of topics in the way of another that may be moved in its place


def sticky_forests(change: Change, stems: dict[str, str]) -> tuple[list[MeshLink], dict[str, str]]:
    """Return the links of the new mesh, without backups, and the account of each topic."""
    forests = _Forests(change)
    for topic in change.changed:
        forests.place(topic)
    made = {link.name: link for link in forests.links(stems)}
    order = dict.fromkeys([*(link.name for link in change.old.links if link.name in made), *sorted(made)])
    return [made[name] for name in order], forests.account_of


class _Way(NamedTuple):
    """A link that may join two trees, who dials it first; the dialer whose link goes; who changes by it."""

    # Brokers that were not to change, a link that goes, a dialer that drops none for it, turned, a new pair.
    cost: tuple[int, bool, bool, int, bool]
    ends: Pair
    cut: str | None
    changed: frozenset[str]


_State: TypeAlias = tuple[dict[str, AccountTrees], dict[str, str], set[str]]  # see _Forests


class _Forests:
    def __init__(self, change: Change) -> None:
        self.change = change
        self.linked = {pair(link.dialer, link.acceptor) for link in change.old.links}
        self.wanting = {topic: set(own) for topic, own in change.members.items()}
        self.account_before = {topic.topic: topic.account or "" for topic in change.old.topics}
        self.served = {(node, one.account or "") for one in change.old.topics for node in one.subscribers}
        self.accounts: dict[str, AccountTrees] = {name: AccountTrees() for name in change.old.accounts}
        self.account_of = {
            topic.topic: topic.account or "" for topic in change.old.topics if topic.topic in change.members
        }
        members = change.members
        kept = set(members) - set(change.changed)
        for link in change.old.links:
            account = self.accounts[link.account or ""]
            account.up[link.dialer] = link.acceptor
            account.topics[link.dialer] = set(link.topics) & kept
        for link in change.old.links:
            self._release(link)
        # Files say what a link carries only where there are logins, and then at both of its ends.
        self.guarded = any(node.user for node in change.old.nodes)
        self.old_links = {
            (link.account or "", link.dialer): (
                link.acceptor,
                frozenset(link.topics) if self.guarded else None,
            )
            for link in change.old.links
        }
        self.anyway = self._changed_anyway()
        must = all if self.guarded else any
        self.changed = {  # brokers whose files change
            end
            for link in change.old.links
            if not must(topic in members and change.stays(link, members[topic]) for topic in link.topics)
            for end in self._brokers(link.dialer, link.acceptor)
        } | self.anyway

    def _changed_anyway(self) -> set[str]:
        """Return whose files change if each topic stays in its account: other clients, fewer backups."""
        before = self.change.before
        differ = {
            topic: before.get(topic, frozenset()) ^ self.wanting.get(topic, set())
            for topic in before.keys() | self.wanting.keys()
        }
        if self.guarded:
            return set[str]().union(*differ.values())
        had, has = Counter[NodeAccount](), Counter[NodeAccount]()
        for topic in self.change.old.topics:
            account = topic.account or ""
            had.update((node, account) for node in topic.subscribers)
            has.update((node, account) for node in self.wanting.get(topic.topic, ()))
        bare = {
            link.dialer
            for link in self.change.old.links
            if any(differ[topic] & set(link.backups) for topic in link.topics)
        }
        return bare | {node for node, _ in had.keys() ^ has.keys()}

    def _let_in(self, topic: str, name: str) -> set[str]:
        """Return whose clients need other rights for a topic in this account, or an account they had not."""
        own = self.wanting[topic]
        if not self.guarded:
            return {node for node in own if (node, name) not in self.served}
        return set() if self.account_before.get(topic) == name else own

    def _brokers(self, dialer: str, acceptor: str) -> set[str]:
        """Return whose files have a link, or what it carries."""
        return {dialer, acceptor} if self.guarded else {dialer}

    def _release(self, link: MeshLink) -> None:
        """Take away a link that no topic keeps and that no changed topic could go on using."""
        account = self.accounts[link.account or ""]
        members = self.change.members
        usable = any(topic in members and self.change.stays(link, members[topic]) for topic in link.topics)
        if not account.topics[link.dialer] and not usable:
            account.drop(link.dialer)

    def place(self, topic: str) -> None:
        """Find the account of a topic, and add the links it needs there."""
        own = self.account_of.get(topic)
        if own is not None and self._joined(topic, own):
            return
        before = self._state()
        self._move(topic)
        if own is None:
            return
        best = (self._brokers_changed(), self._state())
        self._restore(before)
        for first in self._in_the_way(topic, own):
            self._restore(before)
            if self._joined_without(topic, own, first):
                best = min(best, (self._brokers_changed(), self._state()), key=lambda found: found[0])
        self._restore(best[1])

    def _move(self, topic: str) -> None:
        """Put a topic into the account where fewest brokers change, then fewest links; or into a new one."""
        wanting = self.change.members[topic]
        costs = {name: (self._cost(account, wanting), name) for name, account in self.accounts.items()}
        joined = {name: self._joining(topic, name) for name, cost in costs.items() if cost[0] < NEW}
        fresh = {name: len(found[1] - self.changed) for name, found in joined.items() if found is not None}
        best = min(fresh, key=lambda name: (fresh[name], costs[name]), default=None)
        if best is None:
            best = self._new_account()
        if not self._joined(topic, best):
            raise self._split(topic)

    def _joined_without(self, topic: str, name: str, first: tuple[str, ...]) -> bool:
        """Join a topic in an account from which others move: these first, then who else is in the way."""
        away = list(first)
        self._take_out(first, name)
        while not self._joined(topic, name):
            left = len(self.wanting[topic]) - sum(len(self.wanting[one]) for one in away)
            more = next(iter(self._in_the_way(topic, name)), None)
            if more is None or sum(len(self.wanting[one]) for one in more) >= left:
                return False
            self._take_out(more, name)
            away += more
        for other in away:
            self._move(other)
        return True

    def _in_the_way(self, topic: str, name: str) -> list[tuple[str, ...]]:
        """Return groups of topics, few subscribers first: without one of them the topic may fit in."""
        account, own = self.accounts[name], self.wanting[topic]
        found: set[tuple[str, ...]] = set()
        for ends in [*self.change.pairs(own), *self._wide(topic)]:
            for dialer in account.between(*ends) or ():
                if not (dialer in own and account.up[dialer] in own):
                    others = account.topics[dialer] - {topic}
                    found.add(tuple(sorted(one for one in others if not set(ends) <= self.wanting[one])))
        sizes = {group: sum(len(self.wanting[one]) for one in group) for group in found if group}
        fewer = [group for group in sizes if sizes[group] < len(own)]
        return sorted(fewer, key=lambda group: (sizes[group], group))[:TRIED]

    def _take_out(self, topics: Collection[str], name: str) -> None:
        """Take topics out of an account, and the links that carry nothing then."""
        account = self.accounts[name]
        for dialer, carried in list(account.topics.items()):
            if carried & set(topics):
                carried -= set(topics)
                if not carried:
                    account.drop(dialer)
        for topic in topics:
            del self.account_of[topic]

    def _state(self) -> _State:
        accounts = {name: account.copy() for name, account in self.accounts.items()}
        return accounts, dict(self.account_of), set(self.changed)

    def _restore(self, state: _State) -> None:
        """Go back to a state, which stays as it is."""
        self.accounts, self.account_of, self.changed = state
        self.accounts, self.account_of, self.changed = self._state()

    def _brokers_changed(self) -> int:
        """Count the brokers whose files have other links than before, or other topics on them."""
        new = {
            (name, dialer): (acceptor, frozenset(account.topics[dialer]) if self.guarded else None)
            for name, account in self.accounts.items()
            for dialer, acceptor in account.up.items()
            if account.topics[dialer]
        }
        changed = set(self.anyway)
        for topic, name in self.account_of.items():
            changed |= self._let_in(topic, name)
        for key in self.old_links.keys() | new.keys():
            before, after = self.old_links.get(key), new.get(key)
            if before != after:
                for link in filter(None, (before, after)):
                    changed |= self._brokers(key[1], link[0])
        return len(changed)

    def _split(self, topic: str) -> InputError:
        wanting = self.change.members[topic]
        groups = Groups(wanting)
        for ends in self.change.pairs(set(wanting)):
            groups.join(*ends)
        return split_fault(topic, wanting, groups)

    def _new_account(self) -> str:
        name = next(f"A{number}" for number in range(NEW) if f"A{number}" not in self.accounts)
        self.accounts[name] = AccountTrees()
        return name

    def _cost(self, account: AccountTrees, wanting: Collection[str]) -> int:
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
        found = self._joining(topic, name)
        if found is None:
            return False
        self.accounts[name], self.changed = found
        self.account_of[topic] = name
        return True

    def _joining(self, topic: str, name: str) -> tuple[AccountTrees, set[str]] | None:
        """Return an account where the subscribers of a topic are joined, and who changed then; None if that
        cannot be.
        """
        account, own = self.accounts[name].copy(), set(self.change.members[topic])
        changed = self.changed | self._let_in(topic, name)
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
                for way in self._ways(account, ends, topic, changed)
            ]
            if not ways:
                return None
            way = min(ways, key=lambda way: (way.cost, way.ends, way.cut or ""))
            moved = set[str]()
            if way.cut is not None:
                moved = account.topics[way.cut]
                account.drop(way.cut)
            account.join(*way.ends)
            account.topics[way.ends[0]] |= moved
            changed |= way.changed
        for dialer, acceptor in account.inside(own):
            account.topics[dialer].add(topic)
            if self.guarded and topic not in (self.old_links.get((name, dialer), ("", None))[1] or ()):
                changed |= {dialer, acceptor}
        return account, changed

    def _wide(self, topic: str) -> list[Pair]:
        """Return the pairs of a topic's subscribers that the overlay has not, where nothing forbids them.

        A topic that moves to another account changes all its subscribers.
        """
        members = self.change.members[topic]
        if not self.change.free or len(members) ** 2 > WIDE:
            return []
        pairs = {pair(*ends) for ends in itertools.combinations(members, 2)}
        return sorted(pairs - self.change.let_go)

    def _ways(self, account: AccountTrees, ends: Pair, topic: str, changed: set[str]) -> Iterator[_Way]:
        """Yield how a pair can be linked: by either end, and with which link taken out for it."""
        own, between = self.wanting[topic], account.between(*ends)
        cuts: list[str | None] = [None]
        if between is not None:
            cuts = [
                dialer
                for dialer in between
                if not (dialer in own and account.up[dialer] in own)  # else the topic needs it
                and all(set(ends) <= self.wanting[one] for one in account.topics[dialer] - {topic})
            ]
        for cut, (one, other) in itertools.product(cuts, (ends, ends[::-1])):
            turned = account.path(one)
            if cut in turned:
                turned = turned[: turned.index(cut) + 1]
            brokers = frozenset(
                (*turned, *([] if cut is None else [cut]), *([other] if self.guarded else []))
            )
            added = one != cut and one not in account.loose
            cost = (len(brokers - changed), cut is not None, added, len(turned), ends not in self.linked)
            yield _Way(cost, (one, other), cut, brokers)

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
