"""Who lives: what a broker does when another one falls silent, is heard again or was started anew."""

from __future__ import annotations

from topicloom.content.brokers.desk import Desk
from topicloom.content.brokers.envelope import Beat, Letter, Message
from topicloom.content.brokers.messages import AskNews, Name
from topicloom.content.brokers.migration import Migration
from topicloom.content.brokers.news import Announcer
from topicloom.content.brokers.routes import Routes

LOST_PINGS = 3
"""A client that is silent for so many of its pings is gone."""


class Liveness:
    """The part of a broker that listens for signs of life; every message is one."""

    __slots__ = ("_announcer", "_desk", "_migration", "_routes")

    def __init__(self, desk: Desk, announcer: Announcer, migration: Migration, routes: Routes) -> None:
        self._desk, self._announcer = desk, announcer
        self._migration, self._routes = migration, routes

    def heard(self, name: Name, message: Message, now: float) -> None:
        """`name` lives. Another broker may have been given up, or have been started anew so soon that nobody
        missed it: either way one of the two knows nothing of the other any more."""
        guest, peer = self._desk.book.get(name), self._desk.view.peers.get(name)
        if guest is not None:
            guest.heard = now
        if peer is None:
            return
        peer.heard = now
        if isinstance(message, Letter | Beat) and message.life > peer.life:
            first, peer.life = peer.life < 0, message.life
            if peer.alive and not first:
                self._desk.view.bury(name)  # what it wanted and its numbers of news are of the life before
                self._migration.died(name, now)
                peer = self._desk.view.peers[name]
        if not peer.alive:
            peer.alive = True
            self._desk.tell(name, AskNews(), now)
            self._announcer.on_ask_news(name, AskNews(), now)

    def listen(self, now: float) -> None:
        """Give up who was silent for too long."""
        settings = self._desk.settings
        for peer in list(self._desk.view.living()):
            if peer.heard < now - settings.detector:
                self._desk.view.bury(peer.name)
                self._routes.around(peer.name, self._desk.post.give_up(peer.name), now)
                self._migration.died(peer.name, now)
        patience = LOST_PINGS * settings.ping + settings.patience
        for guest in list(self._desk.book.in_charge()):
            if guest.heard < now - patience:
                self._migration.silent(guest, now)
