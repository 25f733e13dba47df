"""Events on their way through a broker: from a client, from another broker, around a dead one."""

from __future__ import annotations

from collections.abc import Iterable

from topicloom.content.brokers.desk import Desk
from topicloom.content.brokers.messages import Body, Event, Forward, Handlers, Name, Publish
from topicloom.content.brokers.routing import Links, Trees, branches


class Routes:
    """The forwarding part of a broker."""

    __slots__ = ("_desk", "_trees")

    def __init__(self, desk: Desk, trees: Trees) -> None:
        self._desk, self._trees = desk, trees

    def from_clients(self) -> Handlers:
        return {Publish: self.on_publish}

    def from_brokers(self) -> Handlers:
        return {Forward: self.on_forward}

    def on_publish(self, peer: Name, body: Publish, now: float) -> None:
        """A client's event. Any broker takes it, also one that the client has left meanwhile."""
        event, desk = body.event, self._desk
        if event.id.publisher != peer:
            return desk.fault(peer, f"it published in the name of {event.id.publisher}")
        if not self._sound(peer, event):
            return None
        guest = desk.book.get(peer)
        if guest is not None and guest.in_charge:
            channel = desk.channels.channel_of(event.point)
            if channel >= 0:
                guest.summary.count(channel, now)
        self._here(event, now)
        targets = desk.view.interested(event.point)
        if targets:
            self._pass_on(event, self._trees.links(desk.name, targets), now)
        return None

    def on_forward(self, peer: Name, body: Forward, now: float) -> None:
        """An event with the rest of its path."""
        if len(body.tree) > len(self._desk.view.peers):
            self._desk.fault(peer, f"a tree of {len(body.tree):,} links is larger than all brokers need")
        elif self._sound(peer, body.event):
            self._here(body.event, now)
            self._pass_on(body.event, body.tree, now)

    def around(self, dead: Name, bodies: Iterable[Body], now: float) -> None:
        """What a dead broker would have passed on goes straight to those below it."""
        for body in bodies:
            if isinstance(body, Forward):
                self._pass_below(body.event, dead, body.tree, now)

    def _here(self, event: Event, now: float) -> None:
        for guest in self._desk.book.matching(event.point):
            self._desk.hand(guest, event, now)

    def _pass_on(self, event: Event, links: Links, now: float) -> None:
        if links:
            self._pass_below(event, self._desk.name, links, now)

    def _pass_below(self, event: Event, root: Name, links: Links, now: float) -> None:
        """To every child of `root`; in place of a dead child, or of ourselves, to those below it."""
        todo = [(root, links)]
        for parent, part in todo:
            for child, below in branches(parent, part):
                if self._desk.view.alive(child):
                    self._desk.post.send(child, Forward(event, below), now)
                elif below:
                    todo.append((child, below))

    def _sound(self, peer: Name, event: Event) -> bool:
        good = len(event.point) == self._desk.channels.n_attributes and all(
            value == value for value in event.point
        )
        if not good:
            self._desk.fault(peer, f"event {event.id.number} of {event.id.publisher} has no sound point")
        return good
