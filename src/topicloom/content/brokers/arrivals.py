"""Users coming: a broker's side of register, connect and replicate [Zhao2011, V].

What is allowed is in the table of `rules.py`; how users are sent away is in `migration.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from topicloom.content.brokers.desk import Desk
from topicloom.content.brokers.flow import flow_of
from topicloom.content.brokers.guest import Replica, Summary
from topicloom.content.brokers.messages import (
    Cancel,
    Connect,
    HandedOver,
    Handlers,
    Leave,
    Name,
    NoRoom,
    Redirect,
    Refused,
    Register,
    Replicate,
    Replicated,
    Subscribe,
    TookOver,
    Welcome,
)
from topicloom.content.brokers.rules import State

KEEP_ROOM = 4
"""Times `patience`: so long room is kept free for a user that was announced."""


class Arrivals:
    """The part of a broker that takes users in."""

    __slots__ = ("_demand_of", "_desk", "arrived")

    def __init__(self, desk: Desk, demand_of: Callable[..., float]) -> None:
        """`demand_of(ranges, flow, counted=...)` tells what passes the link of a user who wants these ranges
        of channels and publishes this; `counted`: it was among the users already."""
        self._desk, self._demand_of = desk, demand_of
        self.arrived = 0
        """Users that came by a migration."""

    def from_clients(self) -> Handlers:
        return {
            Register: self.on_register,
            Connect: self.on_connect,
            Subscribe: self.on_subscribe,
            Leave: self.on_leave,
        }

    def from_brokers(self) -> Handlers:
        return {
            Replicate: self.on_replicate,
            Cancel: self.on_cancel,
            HandedOver: self.on_handed_over,
            Redirect: self.on_redirect,
        }

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
        if not desk.sound(peer, body.wants, body.rates):
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
        desk.call_off(guest, now)
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
        for broker in dict.fromkeys(body.before):
            if broker != desk.name:
                desk.tell(broker, TookOver(peer, body.term), now)

    def on_subscribe(self, peer: Name, body: Subscribe, now: float) -> None:
        guest = self._desk.book.get(peer)
        if guest is not None and self._desk.sound(peer, body.wants, body.rates):
            self._desk.book.set_wants(guest, body.version, body.wants, body.rates)
            guest.demand = self._demand_of(guest.ranges, guest.flow(now))

    def on_leave(self, peer: Name, body: Leave, now: float) -> None:
        guest = self._desk.book.get(peer)
        if guest is not None and guest.term <= body.term:
            self._desk.call_off(guest, now)
            self._desk.book.remove(guest)
            self._desk.post.give_up(peer)

    # -- expecting a user -------------------------------------------------------------------------------

    def on_replicate(self, peer: Name, body: Replicate, now: float) -> None:
        desk, book = self._desk, self._desk.book
        guest = book.get(body.client)
        ours = guest is not None and guest.in_charge
        sound = desk.sound(peer, body.wants, body.rates) and desk.sound(peer, (), body.counted)
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
