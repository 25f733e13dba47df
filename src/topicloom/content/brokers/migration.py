"""Users moving: a broker's side of request_to_move, accept, decline and redirect [Zhao2011, V].

What is allowed is in the table of `rules.py`; how users are taken in is in `arrivals.py`.
"""

from __future__ import annotations

from itertools import count
from math import inf

from topicloom.content.brokers.desk import Desk
from topicloom.content.brokers.guest import Guest
from topicloom.content.brokers.messages import (
    Accept,
    Decline,
    Delivery,
    HandedOver,
    Handlers,
    Name,
    NoRoom,
    Ready,
    Replicate,
    Replicated,
    RequestToMove,
    TookOver,
)
from topicloom.content.brokers.rules import State

MOST_DOUBLINGS = 5
"""Of the time for which a user is left alone that did not move when asked."""


class Migration:
    """The part of a broker that lets users go."""

    __slots__ = ("_desk", "_moves")

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._moves = count(1)

    def from_clients(self) -> Handlers:
        return {Accept: self.on_accept, Decline: self.on_decline}

    def from_brokers(self) -> Handlers:
        return {
            Replicated: self.on_replicated,
            NoRoom: self.on_no_room,
            TookOver: self.on_took_over,
        }

    # -- sending a user away ----------------------------------------------------------------------------

    def request_to_move(self, guest: Guest, foreign: Name, now: float) -> bool:
        """Ask a user to move; False if this is not the moment."""
        if guest.state is not State.ATTACHED or not self._desk.view.alive(foreign):
            return False
        guest.state, guest.move, guest.other = State.ASKED, next(self._moves), foreign
        self._desk.post.send(guest.name, RequestToMove(guest.move, foreign), now)
        self._allow(guest, self._desk.settings.patience, now)
        return True

    def on_accept(self, peer: Name, body: Accept, now: float) -> None:
        guest = self._moving(peer, State.ASKED, body.move)
        if guest is None:
            return
        if not self._desk.view.alive(guest.other):
            self._stay(guest, now)
            return
        guest.state = State.COPYING
        counted = guest.summary.rates(now)
        body_out = Replicate(
            guest.move, peer, guest.term, guest.version, guest.wants, guest.rates, counted, guest.demand
        )
        self._desk.tell(guest.other, body_out, now)
        self._allow(guest, self._desk.settings.patience, now)

    def on_decline(self, peer: Name, body: Decline, now: float) -> None:
        guest = self._moving(peer, State.ASKED, body.move)
        if guest is not None:
            self._stay(guest, now)

    def on_replicated(self, peer: Name, body: Replicated, now: float) -> None:
        guest = self._moving(body.client, State.COPYING, body.move)
        if guest is None or guest.other != peer:
            return
        guest.state = State.READY
        self._desk.post.send(guest.name, Ready(guest.move, peer), now)
        # The client tries for as long as it is patient, and one of two words must then come back here.
        self._allow(guest, 3 * self._desk.settings.patience, now)

    def on_no_room(self, peer: Name, body: NoRoom, now: float) -> None:
        guest = self._moving(body.client, State.COPYING, body.move)
        if guest is not None and guest.other == peer:
            self._stay(guest, now)

    def on_took_over(self, peer: Name, body: TookOver, now: float) -> None:
        """Another broker has the user now: hand over, and redirect for a TTL."""
        desk, guest = self._desk, self._desk.book.get(body.client)
        if guest is None:
            return
        if guest.term >= body.term:
            if guest.in_charge:
                desk.tell(peer, TookOver(guest.name, guest.term), now)
            return
        desk.call_off(guest, now, unless=peer)
        for sent in desk.post.withdraw(guest.name, lambda sent: isinstance(sent, Delivery)):
            assert isinstance(sent, Delivery)
            guest.kept[sent.event.id] = sent.event
        guest.term, guest.state, guest.other = body.term, State.REDIRECTING, peer
        desk.book.set_deadline(guest, guest.name, now + desk.settings.ttl)
        if guest.kept:
            desk.tell(peer, HandedOver(guest.name, body.term, tuple(guest.kept.values())), now)

    # -- time, silence and death ------------------------------------------------------------------------

    def expire(self, name: Name, now: float) -> None:
        """A deadline of this user has come, perhaps."""
        book = self._desk.book
        replica, guest = book.replicas.get(name), book.get(name)
        if replica is not None and replica.deadline <= now:
            del book.replicas[name]
        if guest is None or guest.deadline > now:
            return
        if guest.state is State.REDIRECTING:
            book.remove(guest)
        else:
            self._desk.call_off(guest, now)
            self._stay(guest, now)

    def silent(self, guest: Guest, now: float) -> None:
        """The client has not been heard of for long: it is gone."""
        self._desk.call_off(guest, now)
        self._desk.book.remove(guest)
        self._desk.post.give_up(guest.name)

    def died(self, broker: Name, now: float) -> None:
        """Copying to a dead broker is in vain; who was told to connect to it finds out by itself."""
        for guest in list(self._desk.book.guests.values()):
            if guest.state is State.COPYING and guest.other == broker:
                self._stay(guest, now)

    # -- inside -----------------------------------------------------------------------------------------

    def _moving(self, client: Name, state: State, move: int) -> Guest | None:
        guest = self._desk.book.get(client)
        return guest if guest is not None and guest.state is state and guest.move == move else None

    def _allow(self, guest: Guest, seconds: float, now: float) -> None:
        self._desk.book.set_deadline(guest, guest.name, now + seconds)

    def _stay(self, guest: Guest, now: float) -> None:
        """The move is off; the user is left in peace for a while, each time for longer: one that always
        declines would otherwise take the place of others in every round."""
        guest.state, guest.other = State.ATTACHED, ""
        guest.rest = now + self._desk.settings.stay * self._desk.settings.round * 2**guest.declined
        guest.declined = min(guest.declined + 1, MOST_DOUBLINGS)
        self._desk.book.set_deadline(guest, guest.name, inf)
