"""Users coming, going and moving: a broker's side of the table in `rules.py` (paper 001, section V)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from math import inf, isfinite

from topicloom.content.brokers.desk import Desk
from topicloom.content.brokers.flow import flow_of
from topicloom.content.brokers.guest import Guest, Replica, Summary
from topicloom.content.brokers.interest import check_wants
from topicloom.content.brokers.messages import (
    Accept,
    Cancel,
    Connect,
    Decline,
    Delivery,
    HandedOver,
    Leave,
    Name,
    NoRoom,
    Rates,
    Ready,
    Redirect,
    Refused,
    Register,
    Replicate,
    Replicated,
    RequestToMove,
    Subscribe,
    TookOver,
    Wants,
    Welcome,
)
from topicloom.content.brokers.rules import State

KEEP_ROOM = 4
"""Times `patience`: so long room is kept free for a user that was announced."""


MOST_DOUBLINGS = 5


class Migration:
    """The part of a broker that knows which users are its own."""

    __slots__ = ("_demand_of", "_desk", "_moves", "arrived")

    def __init__(self, desk: Desk, demand_of: Callable[..., float]) -> None:
        """`demand_of(ranges, flow, counted=...)` tells what passes the link of a user who wants these ranges
        of channels and publishes this; `counted`: it was among the users already."""
        self._desk = desk
        self._moves = count(1)
        self.arrived = 0
        """Users that came by a migration."""
        self._demand_of = demand_of

    # -- becoming a user's broker -----------------------------------------------------------------------

    def on_register(self, peer: Name, body: Register, now: float) -> None:
        self._admit(peer, body, None, now, force=body.force)

    def on_connect(self, peer: Name, body: Connect, now: float) -> None:
        replica = self._desk.book.replicas.get(peer)
        if replica is not None and replica.move == body.move and replica.home in body.before:
            self._admit(peer, body, replica, now)
        else:  # too late: the room may be gone
            self._admit(peer, body, None, now)

    def _admit(
        self,
        peer: Name,
        body: Register | Connect,
        replica: Replica | None,
        now: float,
        *,
        force: bool = False,
    ) -> None:
        desk, book = self._desk, self._desk.book
        guest = book.get(peer)
        if guest is not None and guest.term >= body.term:
            return
        if not self._sound(peer, body.wants, body.rates):
            desk.post.send(peer, Refused(body.term), now)
            return
        settled = guest is not None and guest.in_charge
        ranges = desk.channels.ranges_of(body.wants)
        if replica is not None:
            demand = replica.demand
        else:
            demand = self._demand_of(ranges, flow_of(body.rates), counted=guest is not None)
        # Who was here not long ago may come back even if its room is taken: we hold its events.
        if not (force or guest is not None or replica is not None or desk.has_room(demand)):
            desk.post.send(peer, Refused(body.term), now)
            return
        if guest is None:
            counted = replica.counted if replica is not None else ()
            guest = book.enter(peer, body.term, Summary(desk.settings.window, now, counted), now)
        elif not settled and replica is not None:
            guest.summary = Summary(desk.settings.window, now, replica.counted)
        self._call_off(guest, now)
        book.replicas.pop(peer, None)
        kept, guest.kept = guest.kept, {}
        guest.term, guest.state, guest.other, guest.heard = body.term, State.ATTACHED, "", now
        book.set_deadline(guest, peer, inf)
        book.set_wants(guest, body.version, body.wants, body.rates)
        guest.demand = demand
        guest.rest = now + desk.settings.stay * desk.settings.round if replica is not None else now
        self.arrived += replica is not None
        desk.post.send(peer, Welcome(body.term), now)
        for event in kept.values():
            desk.hand(guest, event, now)
        for broker in body.before:
            if broker != desk.name:
                desk.tell(broker, TookOver(peer, body.term), now)

    def on_subscribe(self, peer: Name, body: Subscribe, now: float) -> None:
        guest = self._desk.book.get(peer)
        if guest is not None and self._sound(peer, body.wants, body.rates):
            self._desk.book.set_wants(guest, body.version, body.wants, body.rates)
            guest.demand = self._demand_of(guest.ranges, guest.flow(now))

    def on_leave(self, peer: Name, body: Leave, now: float) -> None:
        guest = self._desk.book.get(peer)
        if guest is not None and guest.term <= body.term:
            self._call_off(guest, now)
            self._desk.book.remove(guest)
            self._desk.post.give_up(peer)

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
        self._call_off(guest, now, unless=peer)
        for sent in desk.post.withdraw(guest.name, lambda sent: isinstance(sent, Delivery)):
            assert isinstance(sent, Delivery)
            guest.kept[sent.event.id] = sent.event
        guest.term, guest.state, guest.other = body.term, State.REDIRECTING, peer
        desk.book.set_deadline(guest, guest.name, now + desk.settings.ttl)
        if guest.kept:
            desk.tell(peer, HandedOver(guest.name, body.term, tuple(guest.kept.values())), now)

    # -- expecting a user -------------------------------------------------------------------------------

    def on_replicate(self, peer: Name, body: Replicate, now: float) -> None:
        desk, book = self._desk, self._desk.book
        guest = book.get(body.client)
        ours = guest is not None and guest.in_charge
        sound = self._sound(peer, body.wants, body.rates) and self._sound(peer, (), body.counted)
        if ours or not sound or not 0 <= body.demand < inf or not desk.has_room(body.demand):
            desk.tell(peer, NoRoom(body.move, body.client), now)
            return
        replica = Replica(body.move, peer, body.counted, body.demand, inf)
        book.replicas[body.client] = replica
        book.set_deadline(replica, body.client, now + KEEP_ROOM * desk.settings.patience)
        desk.tell(peer, Replicated(body.move, body.client), now)

    def on_cancel(self, peer: Name, body: Cancel, now: float) -> None:
        replica = self._desk.book.replicas.get(body.client)
        if replica is not None and (replica.home, replica.move) == (peer, body.move):
            del self._desk.book.replicas[body.client]

    def on_handed_over(self, peer: Name, body: HandedOver, now: float) -> None:
        for event in body.events:
            self.on_redirect(peer, Redirect(body.client, event), now)

    def on_redirect(self, peer: Name, body: Redirect, now: float) -> None:
        guest = self._desk.book.get(body.client)
        if guest is None:
            self._desk.strays += 1
        else:
            self._desk.hand(guest, body.event, now)

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
            self._call_off(guest, now)
            self._stay(guest, now)

    def silent(self, guest: Guest, now: float) -> None:
        """The client has not been heard of for long: it is gone."""
        self._call_off(guest, now)
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

    def _call_off(self, guest: Guest, now: float, unless: Name | None = None) -> None:
        """Tell the foreign broker of a move under way that it will not be."""
        if guest.state in (State.COPYING, State.READY) and guest.other != unless:
            self._desk.tell(guest.other, Cancel(guest.move, guest.name), now)

    def _sound(self, peer: Name, wants: Wants, rates: Rates | None) -> bool:
        wrong = check_wants(wants, self._desk.channels.n_attributes)
        if not wrong and rates is not None:
            channels = range(self._desk.channels.count)
            if not all(channel in channels and isfinite(rate) and rate >= 0 for channel, rate in rates):
                wrong = "a rate is negative, or of a channel that does not exist"
        if wrong:
            self._desk.fault(peer, wrong)
        return not wrong
