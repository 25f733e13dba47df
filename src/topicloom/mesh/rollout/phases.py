"""The mesh in the middle: of the old links those that close no loop with the new ones.

Every state on the way to it is a part of the old mesh, but for brokers that have their last file already
where that closes no loop either (settle_early.py). In every state after it each broker has its links of
the middle or of the new mesh, and these hold no loop for any topic (or account), whichever links turn to
backups. A broker has its new file at once, so a link that it drops and one that it dials instead are one link
that turns. So most changes need one phase only: a broker is touched in the first one only if a link of it
must go before another one may come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from topicloom.mesh.model.mesh import Mesh, MeshLink
from topicloom.mesh.rollout.settle_early import settle_early
from topicloom.mesh.rollout.states import loops_in


@dataclass(frozen=True, slots=True)
class Difference:
    """What a roll-out does to links and topics, by name.

    `moved`: topics whose clients must log in to another account.
    """

    added: list[str]
    dropped: list[str]
    moved: list[str]


def middle(old: Mesh, new: Mesh) -> Mesh:
    """Return the mesh of the first phase; its nodes, and who may log in at them, are those of the old one."""
    between = replace(old, links=tuple(_Middle(old, new).links()))
    return settle_early(old, between, new, lambda one, other: _Middle(one, other).loops())


class _Middle:
    def __init__(self, old: Mesh, new: Mesh) -> None:
        self.old = old
        self.ends = {link.name: (link.dialer, link.acceptor) for link in old.links}
        self.later = {link.name: link for link in new.links}
        self.old_units, self.new_units = _by_unit(old.links), _by_unit(new.links)
        self.touched: set[str] = set()  # dialers that lose something in the first phase
        self.lost: dict[str, set[str]] = {}  # link -> units that it leaves
        self.backups = {link.name: link.backups for link in old.links}

    def links(self) -> Iterator[MeshLink]:
        for unit, own in self.old_units.items():
            if unit in self.new_units:
                self._thin(unit, own, self.new_units[unit])
        self._lose_early()
        for link in self.old.links:
            lost = self.lost.get(link.name, set())
            topics = link.topics if link.account else tuple(one for one in link.topics if one not in lost)
            if topics and not (link.account and lost):
                yield replace(link, topics=topics, backups=self.backups[link.name])

    def loops(self) -> bool:
        """Return whether a state on the way may hold a loop if nothing is taken out."""
        return any(
            loops_in(self._turning(unit, own, later, {link.name for link in later if self._same(link)}))
            for unit, own in self.old_units.items()
            if (later := self.new_units.get(unit))
        )

    def _lose_early(self) -> None:
        """Let brokers that are touched now also drop at once what they will not need: once is enough."""
        for unit, own in self.old_units.items():
            later = {link.name for link in self.new_units.get(unit, ()) if self._same(link)}
            for link in own:
                if link.dialer in self.touched and link.name not in later:
                    self._lose(unit, link)

    def _thin(self, unit: str, old: Sequence[MeshLink], new: Sequence[MeshLink]) -> None:
        """Take out of one unit what would close a loop with its new links."""
        stays = {link.name for link in new if self._same(link)}
        if not loops_in(self._turning(unit, old, new, stays)):
            return
        # First all that goes is taken out; then brokers get back what they had where it closes no loop, those
        # that are not touched yet before others.
        had, mine = dict(self.backups), dict[str, list[MeshLink]]()
        for link in old:
            mine.setdefault(link.dialer, []).append(link)
            self._strip(unit, link, stays)
        bare = dict(self.backups)
        for dialer, own in sorted(mine.items(), key=lambda one: (one[0] in self.touched, one[0])):
            gone = [link.name for link in own if link.name not in stays]
            self._give_back(unit, gone, {link.name: had[link.name] for link in own})
            if loops_in(self._turning(unit, old, new, stays)):
                self.backups |= {link.name: bare[link.name] for link in own}
                self.touched.add(dialer)
                for name in gone:
                    self.lost[name].add(unit)

    def _give_back(self, unit: str, gone: Iterable[str], backups: dict[str, tuple[str, ...]]) -> None:
        self.backups |= backups
        for name in gone:
            self.lost[name].discard(unit)

    def _strip(self, unit: str, link: MeshLink, stays: set[str]) -> None:
        """Take a link out, or if it stays its backups that go."""
        if link.name not in stays:
            self.lost.setdefault(link.name, set()).add(unit)
        kept = self.later[link.name].backups if link.name in stays else ()
        self.backups[link.name] = tuple(one for one in self.backups[link.name] if one in kept)

    def _turning(
        self, unit: str, old: Sequence[MeshLink], new: Sequence[MeshLink], stays: set[str]
    ) -> list[MeshLink]:
        """Return all links of a unit; what a broker drops and what it dials instead are one link that turns.

        It has the one or the other, since its files change at once.
        """
        come = [link for link in new if link.name not in stays]
        found = self._together(unit, [link for link in old if link.name in stays], new)
        kept = {link.name: link for link in found}
        for link in old:
            if link.name in stays or unit in self.lost.get(link.name, ()):
                continue
            other = next((one for one in come if one.dialer == link.dialer), None)
            if other is None:
                kept[f"old {link.name}"] = replace(
                    link, topics=(unit,), account=None, backups=self.backups[link.name]
                )
                continue
            come.remove(other)
            both = kept[other.name]
            ends = dict.fromkeys((*both.backups, link.acceptor, *self.backups[link.name]))
            kept[other.name] = replace(both, backups=tuple(end for end in ends if end != both.acceptor))
        return list(kept.values())

    def _same(self, link: MeshLink) -> bool:
        """Return whether the old mesh has this link too, dialled by the same end."""
        ends = self.ends.get(link.name)
        return ends == (link.dialer, link.acceptor)

    def _lose(self, unit: str, link: MeshLink) -> None:
        self.lost.setdefault(link.name, set()).add(unit)
        self.touched.add(link.dialer)

    def _together(self, unit: str, old: Sequence[MeshLink], new: Sequence[MeshLink]) -> list[MeshLink]:
        """Return the links of a unit that may be there in the second phase, each at all its ends."""
        found: dict[str, MeshLink] = {}
        left = [
            replace(link, backups=self.backups[link.name])
            for link in old
            if unit not in self.lost.get(link.name, set())
        ]
        for link in (*left, *new):
            before = found.get(link.name)
            ends = tuple(dict.fromkeys((*(before.backups if before else ()), *link.backups)))
            found[link.name] = replace(link, topics=(unit,), account=None, backups=ends)
        return list(found.values())


def _units(link: MeshLink) -> tuple[str, ...]:
    """Return what must hold no loop: the account of the link, or each of its topics."""
    return (link.account,) if link.account else link.topics


def _by_unit(links: Iterable[MeshLink]) -> dict[str, list[MeshLink]]:
    found: dict[str, list[MeshLink]] = {}
    for link in links:
        for unit in _units(link):
            found.setdefault(unit, []).append(link)
    return found


def difference(old: Mesh, new: Mesh) -> Difference:
    """Say what changes from the old mesh to the new one."""
    before, after = ({link.name for link in mesh.links} for mesh in (old, new))
    later = {topic.topic: topic.account for topic in new.topics}
    moved = [one.topic for one in old.topics if later.get(one.topic, one.account) != one.account]
    return Difference(sorted(after - before), sorted(before - after), sorted(moved))
