"""Users coming: a broker's side of register, connect and replicate [Zhao2011, V].

What is allowed is in the table of `user_rules.py`; how users are sent away is in `migration.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from topicloom.content.brokers.broker_state import BrokerState
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
from topicloom.content.brokers.user_records import ExpectedUser, RateCounter
from topicloom.content.brokers.user_rules import UserState
from topicloom.content.brokers.wants_and_rates import flow_of

KEEP_ROOM = 4
"""Times `patience`: so long room is kept free for a user that was announced."""


class Admission:
    """The part of a broker that takes users in."""

    __slots__ = ("_demand_of", "_state", "arrived")

    def __init__(self, state: BrokerState, demand_of: Callable[..., float]) -> None:
        """`demand_of(ranges, flow, counted=...)` tells what passes the link of a user who wants these ranges
        of channels and publishes this; `counted`: it was among the users already."""
        self._state, self._demand_of = state, demand_of
        self.arrived = 0
        """Users that came by a migration."""

    def from_users(self) -> Handlers:
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
        expected_user = self._state.users.expected.get(peer)
        if (
            expected_user is not None
            and expected_user.move == body.move
            and expected_user.home in body.before
        ):
            self._admit(peer, body, expected_user, now)
        else:  # too late: the room may be gone
            self._admit(peer, body, None, now)

    def _admit(
        self,
        peer: Name,
        body: Register | Connect,
        expected_user: ExpectedUser | None,
        now: float,
        *,
        force: bool = False,
    ) -> None:
        state, users = self._state, self._state.users
        record = users.get(peer)
        if record is not None and record.term >= body.term:
            return
        if not state.sound(peer, body.wants, body.rates):
            state.mailbox.send(peer, Refused(body.term), now)
            return
        settled = record is not None and record.in_charge
        ranges = state.channels.ranges_of(body.wants)
        if expected_user is not None:
            demand = expected_user.demand
        else:
            demand = self._demand_of(ranges, flow_of(body.rates), counted=record is not None)
        # Who was here not long ago may come back even if its room is taken: we hold its events.
        if not (force or record is not None or expected_user is not None or state.has_room(demand)):
            state.mailbox.send(peer, Refused(body.term), now)
            return
        if record is None:
            counted = expected_user.counted if expected_user is not None else ()
            record = users.enter(peer, body.term, RateCounter(state.settings.window, now, counted), now)
        elif not settled and expected_user is not None:
            record.counter = RateCounter(state.settings.window, now, expected_user.counted)
        state.call_off(record, now)
        users.expected.pop(peer, None)
        kept, record.kept = record.kept, {}
        record.term, record.state, record.other, record.heard = body.term, UserState.ATTACHED, "", now
        users.set_deadline(record, peer, inf)
        users.set_wants(record, body.version, body.wants, body.rates)
        record.demand = demand
        record.rest = now + state.settings.stay * state.settings.round if expected_user is not None else now
        self.arrived += expected_user is not None
        state.mailbox.send(peer, Welcome(body.term), now)
        for event in kept.values():
            state.hand(record, event, now)
        for broker in dict.fromkeys(body.before):
            if broker != state.name:
                state.tell(broker, TookOver(peer, body.term), now)

    def on_subscribe(self, peer: Name, body: Subscribe, now: float) -> None:
        record = self._state.users.get(peer)
        if record is not None and self._state.sound(peer, body.wants, body.rates):
            self._state.users.set_wants(record, body.version, body.wants, body.rates)
            record.demand = self._demand_of(record.ranges, record.flow(now))

    def on_leave(self, peer: Name, body: Leave, now: float) -> None:
        record = self._state.users.get(peer)
        if record is not None and record.term <= body.term:
            self._state.call_off(record, now)
            self._state.users.remove(record)
            self._state.mailbox.give_up(peer)

    # -- expecting a user -------------------------------------------------------------------------------

    def on_replicate(self, peer: Name, body: Replicate, now: float) -> None:
        state, users = self._state, self._state.users
        record = users.get(body.user)
        ours = record is not None and record.in_charge
        sound = state.sound(peer, body.wants, body.rates) and state.sound(peer, (), body.counted)
        if ours or not sound or not 0 <= body.demand < inf or not state.has_room(body.demand):
            state.tell(peer, NoRoom(body.move, body.user), now)
            return
        expected_user = ExpectedUser(body.move, peer, body.counted, body.demand, inf)
        users.expected[body.user] = expected_user
        users.set_deadline(expected_user, body.user, now + KEEP_ROOM * state.settings.patience)
        state.tell(peer, Replicated(body.move, body.user), now)

    def on_cancel(self, peer: Name, body: Cancel, now: float) -> None:
        expected_user = self._state.users.expected.get(body.user)
        if expected_user is not None and (expected_user.home, expected_user.move) == (peer, body.move):
            del self._state.users.expected[body.user]

    def on_handed_over(self, peer: Name, body: HandedOver, now: float) -> None:
        for event in body.events:
            self.on_redirect(peer, Redirect(body.user, event), now)

    def on_redirect(self, peer: Name, body: Redirect, now: float) -> None:
        record = self._state.users.get(body.user)
        if record is None:
            self._state.strays += 1
        else:
            self._state.hand(record, body.event, now)
