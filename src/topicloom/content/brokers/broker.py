"""A broker: users, migrations, routes and what it knows of the others, behind one door.

No clock, no socket, no thread, no randomness of its own: every call brings `now` (seconds on any steady
clock), effects are taken with `take_effects`, and `next_timer` says when `handle_timer` wants to be called. A
fault of a remote party never raises out of `receive`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from random import Random

from topicloom.content.brokers.arrivals import Arrivals
from topicloom.content.brokers.choice import choose_moves
from topicloom.content.brokers.desk import Desk, Guestbook
from topicloom.content.brokers.envelope import Beat, Letter, Message, Ping, Pong, Receipt
from topicloom.content.brokers.interest import Channels
from topicloom.content.brokers.liveness import Liveness
from topicloom.content.brokers.messages import Body, Name, Rates
from topicloom.content.brokers.migration import Migration
from topicloom.content.brokers.news import Announcer
from topicloom.content.brokers.outlook import outlook_of
from topicloom.content.brokers.post import Post
from topicloom.content.brokers.routes import Routes
from topicloom.content.brokers.routing import Trees
from topicloom.content.brokers.rules import State
from topicloom.content.brokers.settings import Settings
from topicloom.content.brokers.view import View
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.wire.core import Effect, Machine, Send


class Broker(Machine):
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
        settings: Settings | None = None,
        trees: Trees | None = None,
        life: int = 1,
    ) -> None:
        """`brokers` are all brokers, this one included, in the order of the prices: `core` among brokers,
        `prices(user)` from a user to each (None: not known, so the user stays where it is). `life` must be
        higher after each restart. `trees` may be shared by brokers that run in one process."""
        self.name, self.settings = name, settings or Settings()
        self._brokers, self._core, self._rng = list(brokers), core, rng
        effects: list[Effect] = []
        super().__init__(effects)
        self.desk = Desk(
            name,
            self.settings,
            channels,
            capacity,
            prices,
            Post(life, self.settings.resend, effects, self.settings.remember),
            View((other for other in brokers if other != name), channels),
            Guestbook(channels),
            effects,
        )
        self._announcer = Announcer(self.desk)
        self._arrivals = Arrivals(self.desk, self._announcer.demand)
        self.migration = Migration(self.desk)
        routes = Routes(self.desk, trees or Trees(brokers, core.core))
        self._liveness = Liveness(self.desk, self._announcer, self.migration, routes)
        self._from_clients = routes.from_clients()
        self._from_brokers = routes.from_brokers() | self._announcer.from_brokers()
        for part in (self._arrivals, self.migration):
            self._from_clients |= part.from_clients()
            self._from_brokers |= part.from_brokers()
        self._beat = self._round = self._news = inf

    # -- what a driver calls ----------------------------------------------------------------------------

    def start(self, now: float) -> None:
        """Begin to serve. Brokers look at their users at different moments, or they would all act on the
        same knowledge at once."""
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
        self._liveness.heard(peer, message, now)
        if type(message) is Letter:
            body = self.desk.post.receive(peer, message)
            if body is not None:
                self._handle(peer, body, now)
        elif type(message) is Receipt:
            self.desk.post.receipt(peer, message)
        elif type(message) is Ping:
            guest = self.desk.book.get(peer)
            yours = guest is not None and guest.in_charge and guest.term == message.term
            self._effects.append(Send((peer,), Pong(message.term, yours)))
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

    def handle_timer(self, now: float) -> None:
        """The time has come; calling it too early does no harm."""
        if self._beat <= now:
            self._beat = now + self.settings.heartbeat
            if self.desk.view.peers:
                self._effects.append(Send(tuple(self.desk.view.peers), Beat(self.desk.post.life)))
            self._liveness.listen(now)
        for name in self.desk.book.overdue(now):
            self.migration.expire(name, now)
        if self._news <= now:
            self._news = now + self.settings.round / 2
            self._announcer.tell_rates(now)
        if self._round <= now:
            # Never in step with another one: two brokers could exchange the same users for ever.
            self._round = now + self.settings.round * (0.75 + 0.5 * self._rng.random())
            self.look(now)
        self._announcer.tell_wants(now)
        self.desk.post.handle_timer(now)
        self._rearm()

    # -- what others may look at ------------------------------------------------------------------------

    @property
    def users(self) -> list[Name]:
        """The users of which this is the broker."""
        return [guest.name for guest in self.desk.book.in_charge()]

    @property
    def arrived(self) -> int:
        """How many users have come by a migration so far."""
        return self._arrivals.arrived

    @property
    def load(self) -> float:
        """The demands of its users, and of those it keeps room for."""
        return self.desk.load

    def summarize(self, client: Name, now: float) -> Rates:
        """How often a user publishes on each channel, as counted here [Zhao2011, V]."""
        guest = self.desk.book.get(client)
        return guest.summary.rates(now) if guest is not None else ()

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

    # -- inside -----------------------------------------------------------------------------------------

    def _handle(self, peer: Name, body: Body, now: float) -> None:
        handlers = self._from_brokers if peer in self.desk.view.peers else self._from_clients
        handler = handlers.get(type(body))
        if handler is None:
            self.desk.fault(peer, f"{type(body).__name__} is nothing for it to say to a broker")
        else:
            handler(peer, body, now)

    def _rearm(self) -> None:
        self._due = min(
            self._beat,
            self._news,
            self._round,
            self.desk.book.next_deadline(),
            self.desk.post.next_timer(),
        )
