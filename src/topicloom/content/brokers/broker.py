"""A broker: users, migrations, routes and what it knows of the others, behind one door.

No clock, no socket, no thread, no randomness of its own: every call brings `now` (seconds on any steady
clock), effects are taken with `take_effects`, and `next_timer` says when `handle_timer` wants to be called. A
fault of a remote party never raises out of `receive`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from random import Random
from typing import Any

from topicloom.content.brokers.choice import choose_moves
from topicloom.content.brokers.desk import Desk, Guestbook
from topicloom.content.brokers.effects import Effect, Send
from topicloom.content.brokers.interest import Channels
from topicloom.content.brokers.messages import (
    Accept,
    AskNews,
    Beat,
    Body,
    Cancel,
    Connect,
    Decline,
    Forward,
    HandedOver,
    Leave,
    Letter,
    Message,
    Name,
    News,
    NoRoom,
    Ping,
    Pong,
    Publish,
    Receipt,
    Redirect,
    Register,
    Replicate,
    Replicated,
    Subscribe,
    TookOver,
)
from topicloom.content.brokers.migration import Migration
from topicloom.content.brokers.news import Announcer
from topicloom.content.brokers.outlook import outlook_of
from topicloom.content.brokers.post import Post
from topicloom.content.brokers.routes import Routes
from topicloom.content.brokers.routing import Trees
from topicloom.content.brokers.rules import State
from topicloom.content.brokers.settings import Settings
from topicloom.content.brokers.view import View
from topicloom.content.core_model import CoreModel

LOST_PINGS = 3
"""A client that is silent for so many of its pings is gone."""


class Broker:
    """One broker; see the file's head for how it is driven."""

    def __init__(
        self,
        name: Name,
        *,
        brokers: Sequence[Name],
        core: CoreModel,
        capacity: float,
        channels: Channels,
        prices: Callable[[Name], Sequence[float]],
        rng: Random,
        settings: Settings | None = None,
        trees: Trees | None = None,
        life: int = 1,
    ) -> None:
        """`brokers` are all brokers, this one included, in the order of the prices: `core` among brokers,
        `prices(user)` from a user to each. `life` must be higher after each restart. `trees` may be shared by
        brokers that run in one process."""
        self.name, self.settings = name, settings or Settings()
        self._brokers, self._core, self._rng = list(brokers), core, rng
        effects: list[Effect] = []
        self.effects = effects
        self.desk = Desk(
            name,
            self.settings,
            channels,
            capacity,
            prices,
            Post(life, self.settings.resend, effects),
            View((other for other in brokers if other != name), channels),
            Guestbook(channels),
            effects,
        )
        self._announcer = Announcer(self.desk)
        self.migration = Migration(self.desk, self._announcer.demand)
        self._routes = Routes(self.desk, trees or Trees(brokers, core.core))
        self._handlers = self._client_handlers() | self._broker_handlers()
        self._beat = self._round = self._news = inf
        self.due = inf

    # -- what a driver calls ----------------------------------------------------------------------------

    def start(self, now: float) -> None:
        """Begin to serve. Rounds of different brokers fall on different moments, or they would all act on
        the same knowledge at once."""
        for peer in self.desk.view.peers.values():
            peer.heard = now
        self._beat = now
        if self.settings.round:
            phase = self._rng.random()
            self._round = now + self.settings.round * (1 + phase)
            self._news = now + self.settings.round * phase / 2
        self._announcer.tell_wants(now)
        self._rearm()

    def receive(self, peer: Name, message: Message, now: float) -> None:
        """A message came from `peer`. Nothing that a peer says raises."""
        self._heard(peer, now)
        if type(message) is Letter:
            body = self.desk.post.receive(peer, message)
            if body is not None:
                self._handle(peer, body, now)
        elif type(message) is Receipt:
            self.desk.post.receipt(peer, message)
        elif type(message) is Ping:
            guest = self.desk.book.get(peer)
            yours = guest is not None and guest.in_charge and guest.term == message.term
            self.effects.append(Send(peer, Pong(message.term, yours)))
        elif type(message) is not Beat:
            self.desk.fault(peer, f"{type(message).__name__} is nothing to say to a broker")
        self._announcer.tell_wants(now)
        self._rearm()

    def request_to_move(self, client: Name, foreign: Name, now: float) -> bool:
        """Ask a user to move, whatever it costs; False if it cannot be asked now."""
        guest = self.desk.book.get(client)
        asked = guest is not None and self.migration.request_to_move(guest, foreign, now)
        self._rearm()
        return asked

    def next_timer(self) -> float:
        """When `handle_timer` wants to be called; infinity for never."""
        return self.due

    def handle_timer(self, now: float) -> None:
        """The time has come; calling it too early does no harm."""
        if self._beat <= now:
            self._beat = now + self.settings.heartbeat
            beat = Beat(self.desk.post.life)
            self.effects.extend(Send(peer, beat) for peer in self.desk.view.peers)
            self._listen(now)
        for name in self.desk.book.overdue(now):
            self.migration.expire(name, now)
        if self._news <= now:
            self._news = now + self.settings.round / 2
            self._announcer.tell_rates(now)
        if self._round <= now:
            self._round = now + self.settings.round
            self.look(now)
        self._announcer.tell_wants(now)
        self.desk.post.handle_timer(now)
        self._rearm()

    def take_effects(self) -> list[Effect]:
        """What is to be done since the last call, in order."""
        taken = self.effects[:]
        self.effects.clear()
        return taken

    # -- what others may look at ------------------------------------------------------------------------

    @property
    def users(self) -> list[Name]:
        """The users of which this is the broker."""
        return [guest.name for guest in self.desk.book.in_charge()]

    @property
    def load(self) -> float:
        return self.desk.load

    def state_of(self, client: Name) -> State:
        return self.desk.book.state_of(client)

    # -- deciding ---------------------------------------------------------------------------------------

    def look(self, now: float) -> None:
        """One round of section IV-C: users with the most traffic first, a few of them asked to move."""
        guests = list(self.desk.book.in_charge())
        if not guests or not any(True for _ in self.desk.view.living()):
            return
        moves = choose_moves(
            outlook_of(self.desk, self._brokers, guests, now),
            self._core,
            self.desk.channels.count,
            threshold=self.settings.threshold,
            most=self.settings.moves,
        )
        for user, place, _ in moves:
            self.migration.request_to_move(guests[user], self._brokers[place], now)

    # -- who lives --------------------------------------------------------------------------------------

    def _heard(self, peer: Name, now: float) -> None:
        guest = self.desk.book.get(peer)
        if guest is not None:
            guest.heard = now
        known = self.desk.view.peers.get(peer)
        if known is None:
            return
        known.heard = now
        if not known.alive:  # given up, and it lives after all
            known.alive = True
            self.desk.tell(peer, AskNews(), now)
            self._announcer.on_ask_news(peer, AskNews(), now)

    def _listen(self, now: float) -> None:
        for peer in list(self.desk.view.living()):
            if peer.heard < now - self.settings.detector:
                self.desk.view.bury(peer.name)
                self._routes.around(peer.name, self.desk.post.give_up(peer.name), now)
                self.migration.died(peer.name, now)
        patience = LOST_PINGS * self.settings.ping + self.settings.patience
        for guest in list(self.desk.book.in_charge()):
            if guest.heard < now - patience:
                self.migration.silent(guest, now)

    # -- inside -----------------------------------------------------------------------------------------

    def _handle(self, peer: Name, body: Body, now: float) -> None:
        handler, from_broker = self._handlers.get(type(body), (None, False))
        if handler is None or from_broker != (peer in self.desk.view.peers):
            self.desk.fault(peer, f"{type(body).__name__} is nothing for it to say to a broker")
            return
        handler(peer, body, now)

    def _client_handlers(self) -> dict[type, tuple[Callable[..., Any], bool]]:
        moving = self.migration
        return {
            Register: (moving.on_register, False),
            Connect: (moving.on_connect, False),
            Subscribe: (moving.on_subscribe, False),
            Accept: (moving.on_accept, False),
            Decline: (moving.on_decline, False),
            Leave: (moving.on_leave, False),
            Publish: (self._routes.on_publish, False),
        }

    def _broker_handlers(self) -> dict[type, tuple[Callable[..., Any], bool]]:
        moving = self.migration
        return {
            News: (self._announcer.on_news, True),
            AskNews: (self._announcer.on_ask_news, True),
            Forward: (self._routes.on_forward, True),
            Replicate: (moving.on_replicate, True),
            Replicated: (moving.on_replicated, True),
            NoRoom: (moving.on_no_room, True),
            Cancel: (moving.on_cancel, True),
            TookOver: (moving.on_took_over, True),
            HandedOver: (moving.on_handed_over, True),
            Redirect: (moving.on_redirect, True),
        }

    def _rearm(self) -> None:
        self.due = min(
            self._beat,
            self._news,
            self._round,
            self.desk.book.next_deadline(),
            self.desk.post.next_timer(),
        )
