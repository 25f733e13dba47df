"""What a broker does when another one falls silent, is heard again or was restarted, or a user is gone."""

from __future__ import annotations

from topicloom.content.brokers.announcements import Announcements
from topicloom.content.brokers.broker_state import BrokerState
from topicloom.content.brokers.forwarding import Forwarding
from topicloom.content.brokers.messages import AskNews, Beat, Letter, Message, Name
from topicloom.content.brokers.migration import Migration

LOST_PINGS = 3  # a user that is silent for so many of its pings is gone


class Liveness:
    """The part of a broker that listens for signs of life; every message is one."""

    def __init__(
        self, state: BrokerState, announcements: Announcements, migration: Migration, forwarding: Forwarding
    ) -> None:
        self._state, self._announcements = state, announcements
        self._migration, self._forwarding = migration, forwarding

    def heard(self, name: Name, message: Message, now: float) -> None:
        """Note that `name` lives. Another broker may have been given up, or restarted so soon that nobody
        missed it: either way one of the two knows nothing of the other any more."""
        record, peer = self._state.users.get(name), self._state.others.peers.get(name)
        if record is not None:
            record.heard = now
        if peer is None:
            return
        peer.heard = now
        if isinstance(message, Letter | Beat) and message.life > peer.life:
            first, peer.life = peer.life < 0, message.life
            if peer.alive and not first:
                self._state.others.bury(
                    name
                )  # what it wanted, and the versions of its news, are of its earlier life
                self._migration.died(name, now)
                peer = self._state.others.peers[name]
        if not peer.alive:
            peer.alive = True
            self._state.tell(name, AskNews(), now)
            self._announcements.on_ask_news(name, AskNews(), now)

    def listen(self, now: float) -> None:
        """Give up brokers and users that were silent for too long."""
        settings = self._state.settings
        for peer in list(self._state.others.living()):
            if peer.heard < now - settings.detector:
                self._state.others.bury(peer.name)
                self._forwarding.around(peer.name, self._state.mailbox.give_up(peer.name), now)
                self._migration.died(peer.name, now)
        patience = LOST_PINGS * settings.ping + settings.patience
        for record in list(self._state.users.in_charge()):
            if record.heard < now - patience:
                self._migration.silent(record, now)
