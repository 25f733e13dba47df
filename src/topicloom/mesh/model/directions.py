"""Which way a link must carry a topic, by who publishes it and who receives it.

Without a link the tree of a topic is in two parts. Messages cross the link one way if there is a publisher on
the one side and a receiver on the other. A topic with one publisher so goes away from it on every link, and
what brokers retain cannot come back. Where links have backups, a direction stays that any choice of their
ends may need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshTopic
from topicloom.mesh.model.search import search

OUT, IN, BOTH = "out", "in", "both"  # as the dialer sees it
Directions = dict[tuple[str, str], str]  # of a link and a topic, by name; both ways where it has none


def directions_of(mesh: Mesh) -> Directions:
    """Return the directions of topics whose roles are known."""
    carrying: dict[str, list[MeshLink]] = {}
    for link in mesh.links:
        for name in link.topics:
            carrying.setdefault(name, []).append(link)
    found: Directions = {}
    for topic in mesh.topics:
        if topic.publishers is not None or topic.receivers is not None:
            links = carrying.get(topic.topic, [])
            for link, needed in zip(links, _needed(topic, links), strict=True):
                found[link.name, topic.topic] = needed
    return found


def _needed(topic: MeshTopic, links: Sequence[MeshLink]) -> list[str]:
    """Return the direction of each link."""
    found = [BOTH] * len(links)
    if any(link.backups for link in links):
        crossed = _Turning(topic, links).crossed()
    else:
        crossed = _crossed(topic, [(link.dialer, link.acceptor) for link in links])
    for at, out, into in crossed:
        if out != into:
            found[at] = OUT if out else IN
    return found


def _crossed(topic: MeshTopic, links: Sequence[tuple[str, str]]) -> Iterator[tuple[int, bool, bool]]:
    """Yield for each link (dialer, acceptor) of a forest whether messages cross it outwards, and inwards."""
    near: dict[str, list[tuple[str, int]]] = {}
    for at, (dialer, acceptor) in enumerate(links):
        near.setdefault(dialer, []).append((acceptor, at))
        near.setdefault(acceptor, []).append((dialer, at))
    senders, hearers = set(topic.senders), set(topic.hearers)
    sends = {node: int(node in senders) for node in near}
    hears = {node: int(node in hearers) for node in near}
    seen: set[str] = set()
    for root in near:
        if root in seen:
            continue
        seen.add(root)
        below: list[tuple[str, str, int]] = []  # a node, the one above it, the link between them
        queue = [root]
        for node in queue:
            for other, at in near[node]:
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
                    below.append((other, node, at))
        for node, above, _ in reversed(below):
            sends[above] += sends[node]
            hears[above] += hears[node]
        for node, _, at in below:
            up = bool(sends[node] and hears[root] - hears[node])
            down = bool(hears[node] and sends[root] - sends[node])
            yield (at, up, down) if links[at][0] == node else (at, down, up)


class _Turning:
    """The tree of a topic some of whose links may turn to backups.

    Links that cannot turn join nodes to bodies. A body dials at most one link that turns, to other bodies,
    and no choice of all of them closes a loop: so says whoever planned the backups. What may be on a side of
    a link is taken together over all choices; if no choice has all of that, a direction too many stays.
    """

    def __init__(self, topic: MeshTopic, links: Sequence[MeshLink]) -> None:
        self.links = links
        self.senders, self.hearers = frozenset(topic.senders), frozenset(topic.hearers)
        nodes = {end for link in links for end in (link.dialer, link.acceptor, *link.backups)}
        self.near: dict[str, set[str]] = {node: set() for node in nodes}
        for link in links:
            if not link.backups:
                self.near[link.dialer].add(link.acceptor)
                self.near[link.acceptor].add(link.dialer)
        self.body: dict[str, str] = {}
        for node in sorted(nodes):
            if node not in self.body:
                self.body |= dict.fromkeys(search(node, self.near.__getitem__), node)
        self.members: dict[str, set[str]] = {}
        for node, body in self.body.items():
            self.members.setdefault(body, set()).add(node)
        self.turns = {self.body[link.dialer]: link for link in links if link.backups}

    def crossed(self) -> Iterator[tuple[int, bool, bool]]:
        """Yield for each link whether messages may have to cross it outwards, and inwards."""
        for at, link in enumerate(self.links):
            one, other = self._sides(link)
            yield at, self._flows(one, other), self._flows(other, one)

    def _flows(self, one: set[str], other: set[str]) -> bool:
        return not self.senders.isdisjoint(one) and not self.hearers.isdisjoint(other)

    def _sides(self, link: MeshLink) -> tuple[set[str], set[str]]:
        """Return the nodes that may be on the dialer's side, and on the other."""
        body = self.body[link.dialer]
        if link.backups:
            return self._all(self._below(body)), self._all(self._beside(body))
        other = search(link.acceptor, lambda node: self.near[node] - self._beyond(node, link)).keys()
        parts = self.members[body] - other, set(other)
        sides = []
        for part in parts:
            below = {one for one, turn in self.turns.items() if part & {turn.acceptor, *turn.backups}}
            bodies = {one for entry in below for one in self._below(entry)}
            if body in self.turns and self.turns[body].dialer in part:
                bodies |= self._beside(body)
            sides.append(part | self._all(bodies))
        return sides[0], sides[1]

    def _beyond(self, node: str, link: MeshLink) -> set[str]:
        return {link.dialer} if node == link.acceptor else set()

    def _all(self, bodies: set[str]) -> set[str]:
        return {node for body in bodies for node in self.members[body]}

    def _targets(self, body: str) -> set[str]:
        turn = self.turns.get(body)
        return {self.body[end] for end in (turn.acceptor, *turn.backups)} if turn else set()

    def _below(self, body: str) -> set[str]:
        """Return the bodies that may hang on this one, and itself."""
        return {one for one in self.members if body in search(one, self._targets)}

    def _beside(self, body: str) -> set[str]:
        """Return the bodies that may be joined to the root without this one."""
        found = {one for one in self.members if one not in self.turns} - {body}
        return search_all(
            found,
            lambda one: {other for other in self.members if other != body and one in self._targets(other)},
        )


def search_all(starts: set[str], near: Callable[[str], set[str]]) -> set[str]:
    """Return all that is reached from any of these."""
    return {node for start in starts for node in search(start, near)}
