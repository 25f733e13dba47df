"""A broker: users, migrations, forwarding and what it knows of others, behind one interface.

No clock, no socket, no thread, no randomness of its own: every call brings `now` (seconds on any steady
clock), effects are taken with `take_effects`, and `next_timer` says when `handle_timer` wants to be called. A
fault of a remote user or broker never raises out of `receive`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from random import Random

from topicloom.content.brokers import messages as msg
from topicloom.content.brokers.announcements import Announcements
from topicloom.content.brokers.broker_state import BrokerState
from topicloom.content.brokers.forwarding import Forwarding, RoutingTrees
from topicloom.content.brokers.messages import Handlers, Message, Name
from topicloom.content.brokers.migration import Migration
from topicloom.content.brokers.move_choice import choose_moves, local_problem
from topicloom.content.brokers.settings import BrokerSettings
from topicloom.content.brokers.wants_and_rates import Channels
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.wire.core import BaseCore, Send

LOST_PINGS = 3  # a user that is silent for so many of its pings is gone


class Broker(BaseCore):
    """One broker; see the file's head for how it is driven."""

    def __init__(
        self,
        name: Name,
        *,
        brokers: Sequence[Name],
        core: CoreModel,
        capacity: float,
        channels: Channels,
        prices: Callable[[Name], Sequence[float] | None],
        rng: Random,
        settings: BrokerSettings | None = None,
        trees: RoutingTrees | None = None,
        life: int = 1,
    ) -> None:
        """`brokers` are all brokers, this one included, in the order of the prices: `core` among brokers,
        `prices(user)` from a user to each (None: not known, so the user stays where it is). `life` must be
        higher after each restart. `trees` may be shared by brokers that run in one process."""
        self.name, self.settings = name, settings or BrokerSettings()
        self._core, self._rng = core, rng
        self.state = BrokerState(name, brokers, capacity, channels, prices, self.settings, life)
        super().__init__(self.state.effects)
        self._announcements = Announcements(self.state)
        self.migration = migration = Migration(self.state, self._announcements.demand)
        self._forwarding = forwarding = Forwarding(self.state, trees or RoutingTrees(brokers, core.core))
        self._from_users: Handlers = {
            msg.Register: migration.on_register,
            msg.Connect: migration.on_connect,
            msg.Subscribe: migration.on_subscribe,
            msg.Leave: migration.on_leave,
            msg.Accept: migration.on_accept,
            msg.Decline: migration.on_decline,
            msg.Publish: forwarding.on_publish,
        }
        self._from_brokers: Handlers = {
            msg.Replicate: migration.on_replicate,
            msg.Cancel: migration.on_cancel,
            msg.HandedOver: migration.on_handed_over,
            msg.Redirect: migration.on_redirect,
            msg.Replicated: migration.on_replicated,
            msg.NoRoom: migration.on_no_room,
            msg.TookOver: migration.on_took_over,
            msg.Forward: forwarding.on_forward,
            msg.News: self._announcements.on_news,
            msg.AskNews: self._announcements.on_ask_news,
        }
        self._beat = self._round = self._news = inf

    def start(self, now: float) -> None:
        """Begin to serve. Brokers look at their users at different moments: otherwise they would all act on
        the same knowledge at once."""
        for peer in self.state.others.peers.values():
            peer.heard = now
        self._beat = now
        if self.settings.round:
            phase = self._rng.random()
            self._round = now + self.settings.round * (1 + phase)
            self._news = now + self.settings.round * phase / 2
        self._announcements.tell_wants(now)
        self._rearm()

    def receive(self, peer: Name, message: Message, now: float) -> None:
        """Handle a message from `peer`. Nothing that a peer says raises."""
        self._note_alive(peer, message, now)
        if type(message) is msg.Letter:
            body = self.state.mailbox.receive(peer, message)
            handlers = self._from_brokers if peer in self.state.others.peers else self._from_users
            if type(body) in handlers:
                handlers[type(body)](peer, body, now)
            elif body is not None:
                self.state.fault(peer, f"{type(body).__name__} is nothing for it to say to a broker")
        elif type(message) is msg.Receipt:
            self.state.mailbox.receipt(peer, message)
        elif type(message) is msg.Ping:
            record = self.state.users.records.get(peer)
            yours = record is not None and record.in_charge and record.term == message.term
            self._effects.append(Send((peer,), msg.Pong(message.term, yours)))
        elif type(message) is not msg.Beat:
            self.state.fault(peer, f"{type(message).__name__} is nothing to say to a broker")
        self._announcements.tell_wants(now)
        self._rearm()

    def request_to_move(self, user: Name, foreign: Name, now: float) -> bool:
        """Ask a user to move, whatever it costs; return False if it cannot be asked now."""
        record = self.state.users.records.get(user)
        asked = record is not None and self.migration.request_to_move(record, foreign, now)
        self._rearm()
        return asked

    def handle_timer(self, now: float) -> None:
        """Do what is due; calling it too early does no harm."""
        if self._beat <= now:
            self._beat = now + self.settings.heartbeat
            if self.state.others.peers:
                self._effects.append(Send(tuple(self.state.others.peers), msg.Beat(self.state.mailbox.life)))
            self._give_up_silent(now)
        for name in self.state.users.overdue(now):
            self.migration.expire(name, now)
        if self._news <= now:
            self._news = now + self.settings.round / 2
            self._announcements.tell_rates(now)
        if self._round <= now:
            # Never in step with another broker: two could exchange the same users for ever.
            self._round = now + self.settings.round * (0.75 + 0.5 * self._rng.random())
            self.ask_users_to_move(now)
        self._announcements.tell_wants(now)
        self.state.mailbox.handle_timer(now)
        self._rearm()

    @property
    def users(self) -> list[Name]:
        """The users of which this is the broker."""
        return [record.name for record in self.state.users.in_charge()]

    def ask_users_to_move(self, now: float) -> None:
        """Ask a few users to move, those with the most traffic first: one round of [Zhao2011, IV-C]."""
        records = list(self.state.users.in_charge())
        if not records or not any(self.state.others.living()):
            return
        moves = choose_moves(
            local_problem(self.state, self._core.core, records, now),
            self._core,
            threshold=self.settings.threshold,
            most=self.settings.moves,
        )
        for user, place, _ in moves:
            self.migration.request_to_move(records[user], self.state.brokers[place], now)

    def _note_alive(self, name: Name, message: Message, now: float) -> None:
        """Note that `name` lives. Another broker may have been given up, or restarted so soon that nobody
        missed it: either way one of the two knows nothing of the other any more."""
        record, peer = self.state.users.records.get(name), self.state.others.peers.get(name)
        if record is not None:
            record.heard = now
        if peer is None:
            return
        peer.heard = now
        if isinstance(message, msg.Letter | msg.Beat) and message.life > peer.life:
            first, peer.life = peer.life < 0, message.life
            if peer.alive and not first:
                self.state.others.mark_dead(name)  # its wants and news versions are of an earlier life
                self.migration.broker_died(name, now)
                peer = self.state.others.peers[name]
        if not peer.alive:
            peer.alive = True
            self.state.tell(name, msg.AskNews(), now)
            self._announcements.on_ask_news(name, msg.AskNews(), now)

    def _give_up_silent(self, now: float) -> None:
        """Give up brokers and users that were silent for too long."""
        state, settings = self.state, self.settings
        for peer in list(state.others.living()):
            if peer.heard < now - settings.detector:
                state.others.mark_dead(peer.name)
                self._forwarding.forward_around(peer.name, now)
                state.mailbox.withdraw(peer.name)
                self.migration.broker_died(peer.name, now)
        patience = LOST_PINGS * settings.ping + settings.patience
        for record in list(state.users.in_charge()):
            if record.heard < now - patience:
                self.migration.forget_silent(record, now)

    def _rearm(self) -> None:
        state = self.state
        self._due = min(
            self._beat, self._news, self._round, state.users.next_deadline(), state.mailbox.next_timer()
        )
