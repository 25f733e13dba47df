"""Users coming and going: a broker's side of the messages of [Zhao2011, V], from register to redirect.

The table of `user_rules.py` says what is allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from math import inf

from topicloom.content.brokers import messages as msg
from topicloom.content.brokers.broker_state import BrokerState
from topicloom.content.brokers.messages import Name
from topicloom.content.brokers.user_records import ExpectedUser, RateCounter, UserRecord
from topicloom.content.brokers.user_rules import UserState
from topicloom.content.brokers.wants_and_rates import flow_of

KEEP_ROOM = 4  # times `patience`: for so long room is reserved for a user that was announced
MOST_DOUBLINGS = 5  # of the time for which a user is left alone that did not move when asked


class Migration:
    """The part of a broker that takes users in and lets them go."""

    def __init__(self, state: BrokerState, demand_of: Callable[..., float]) -> None:
        """`demand_of(ranges, flow, counted=...)` returns what passes the link of a user that wants these
        ranges of channels and publishes this; `counted`: it was among the users already."""
        self._state, self._demand_of = state, demand_of
        self._moves = count(1)
        self.arrived = 0  # users that came by a migration

    # -- users coming -----------------------------------------------------------------------------------

    def on_register(self, peer: Name, body: msg.Register, now: float) -> None:
        self._admit(peer, body, None, now, body.force)

    def on_connect(self, peer: Name, body: msg.Connect, now: float) -> None:
        expected = self._state.users.expected.get(peer)
        if expected is not None and (expected.move != body.move or expected.home not in body.before):
            expected = None  # too late: the room may be gone
        self._admit(peer, body, expected, now, expected is not None)

    def _admit(
        self, peer: Name, body: msg.Attempt, expected: ExpectedUser | None, now: float, force: bool
    ) -> None:
        """Become the broker of `peer`, or refuse it."""
        state, users = self._state, self._state.users
        record = users.records.get(peer)
        if record is not None and record.term >= body.term:
            return
        if not state.is_valid(peer, body.wants, body.rates):
            state.mailbox.send(peer, msg.Refused(body.term), now)
            return
        if expected is not None:
            demand = expected.demand
        else:
            ranges = state.channels.ranges_of(body.wants)
            demand = self._demand_of(ranges, flow_of(body.rates), counted=record is not None)
        # A user that was here recently may come back even if its room is taken: we hold its events.
        if not (force or record is not None or state.has_room(demand)):
            state.mailbox.send(peer, msg.Refused(body.term), now)
            return
        counted = RateCounter(state.settings.window, now, expected.counted if expected is not None else ())
        if record is None:
            record = users.records[peer] = UserRecord(peer, counted)
        elif expected is not None and not record.in_charge:
            record.counter = counted
        state.cancel_move(record, now)
        users.expected.pop(peer, None)
        kept, record.kept = record.kept, {}
        record.term, record.state, record.other, record.heard = body.term, UserState.ATTACHED, "", now
        users.set_deadline(record, inf)
        users.set_wants(record, body.version, body.wants, body.rates)
        record.demand = demand
        record.rest = now + state.settings.stay * state.settings.round if expected is not None else now
        self.arrived += expected is not None
        state.mailbox.send(peer, msg.Welcome(body.term), now)
        for event in kept.values():
            state.deliver(record, event, now)
        for broker in dict.fromkeys(body.before):
            if broker != state.name:
                state.tell(broker, msg.TookOver(peer, body.term), now)

    def on_subscribe(self, peer: Name, body: msg.Subscribe, now: float) -> None:
        record = self._state.users.records.get(peer)
        if record is not None and self._state.is_valid(peer, body.wants, body.rates):
            self._state.users.set_wants(record, body.version, body.wants, body.rates)
            record.demand = self._demand_of(record.ranges, record.flow(now))

    def on_leave(self, peer: Name, body: msg.Leave, now: float) -> None:
        record = self._state.users.records.get(peer)
        if record is not None and record.term <= body.term:
            self._state.forget_user(record, now)

    def on_replicate(self, peer: Name, body: msg.Replicate, now: float) -> None:
        """Reserve room for a user that may come, if there is any."""
        state, users = self._state, self._state.users
        record = users.records.get(body.user)
        ours = record is not None and record.in_charge
        valid = state.is_valid(peer, body.wants, body.rates) and state.is_valid(peer, (), body.counted)
        if ours or not valid or not 0 <= body.demand < inf or not state.has_room(body.demand):
            state.tell(peer, msg.NoRoom(body.move, body.user), now)
            return
        expected = ExpectedUser(body.user, body.move, peer, body.counted, body.demand)
        users.expected[body.user] = expected
        users.set_deadline(expected, now + KEEP_ROOM * state.settings.patience)
        state.tell(peer, msg.Replicated(body.move, body.user), now)

    def on_cancel(self, peer: Name, body: msg.Cancel, now: float) -> None:
        expected = self._state.users.expected.get(body.user)
        if expected is not None and (expected.home, expected.move) == (peer, body.move):
            del self._state.users.expected[body.user]

    def on_handed_over(self, peer: Name, body: msg.HandedOver, now: float) -> None:
        for event in body.events:
            self.on_redirect(peer, msg.Redirect(body.user, event), now)

    def on_redirect(self, peer: Name, body: msg.Redirect, now: float) -> None:
        record = self._state.users.records.get(body.user)
        if record is None:
            self._state.strays += 1
        else:
            self._state.deliver(record, body.event, now)

    # -- users going ------------------------------------------------------------------------------------

    def request_to_move(self, record: UserRecord, foreign: Name, now: float) -> bool:
        """Ask a user to move; return False if it cannot be asked now."""
        if record.state is not UserState.ATTACHED or not self._state.others.alive(foreign):
            return False
        record.state, record.move, record.other = UserState.ASKED, next(self._moves), foreign
        self._state.mailbox.send(record.name, msg.RequestToMove(record.move, foreign), now)
        self._state.users.set_deadline(record, now + self._state.settings.patience)
        return True

    def on_accept(self, peer: Name, body: msg.Accept, now: float) -> None:
        record = self._moving(peer, UserState.ASKED, body.move)
        if record is None:
            return
        if not self._state.others.alive(record.other):
            self._end_move(record, now)
            return
        record.state = UserState.COPYING
        known = record.term, record.version, record.wants, record.rates, record.counter.rates(now)
        self._state.tell(record.other, msg.Replicate(record.move, peer, *known, record.demand), now)
        self._state.users.set_deadline(record, now + self._state.settings.patience)

    def on_decline(self, peer: Name, body: msg.Decline, now: float) -> None:
        record = self._moving(peer, UserState.ASKED, body.move)
        if record is not None:
            self._end_move(record, now)

    def on_replicated(self, peer: Name, body: msg.Replicated, now: float) -> None:
        record = self._moving(body.user, UserState.COPYING, body.move)
        if record is None or record.other != peer:
            return
        record.state = UserState.READY
        self._state.mailbox.send(record.name, msg.Ready(record.move, peer), now)
        # The user tries for as long as it is patient, and one of two messages must then come back here.
        self._state.users.set_deadline(record, now + 3 * self._state.settings.patience)

    def on_no_room(self, peer: Name, body: msg.NoRoom, now: float) -> None:
        record = self._moving(body.user, UserState.COPYING, body.move)
        if record is not None and record.other == peer:
            self._end_move(record, now)

    def on_took_over(self, peer: Name, body: msg.TookOver, now: float) -> None:
        """Hand over a user that another broker has now, and redirect for a TTL."""
        state, record = self._state, self._state.users.records.get(body.user)
        if record is None:
            return
        if record.term >= body.term:
            if record.in_charge:
                state.tell(peer, msg.TookOver(record.name, record.term), now)
            return
        state.cancel_move(record, now, unless=peer)
        for sent in state.mailbox.withdraw(record.name, msg.Delivery):
            record.kept[sent.event.id] = sent.event
        record.term, record.state, record.other = body.term, UserState.REDIRECTING, peer
        state.users.set_deadline(record, now + state.settings.ttl)
        if record.kept:
            state.tell(peer, msg.HandedOver(record.name, body.term, tuple(record.kept.values())), now)

    def expire(self, name: Name, now: float) -> None:
        """End what has lasted until its deadline, if the deadline was not moved."""
        users = self._state.users
        expected, record = users.expected.get(name), users.records.get(name)
        if expected is not None and expected.deadline <= now:
            del users.expected[name]
        if record is None or record.deadline > now:
            return
        if record.state is UserState.REDIRECTING:
            users.remove(record)
        else:
            self._state.cancel_move(record, now)
            self._end_move(record, now)

    def forget_silent(self, record: UserRecord, now: float) -> None:
        """Forget a user that has not been heard of for long."""
        self._state.forget_user(record, now)

    def broker_died(self, broker: Name, now: float) -> None:
        """End moves that copy to a dead broker; a user told to connect to it finds out by itself."""
        for record in list(self._state.users.records.values()):
            if record.state is UserState.COPYING and record.other == broker:
                self._end_move(record, now)

    def _moving(self, user: Name, state: UserState, move: int) -> UserRecord | None:
        record = self._state.users.records.get(user)
        return record if record is not None and (record.state, record.move) == (state, move) else None

    def _end_move(self, record: UserRecord, now: float) -> None:
        """Call the move off and leave the user alone for a while, each time for longer: one that always
        declines would otherwise take the place of others in every round."""
        record.state, record.other = UserState.ATTACHED, ""
        record.rest = now + self._state.settings.stay * self._state.settings.round * 2**record.declined
        record.declined = min(record.declined + 1, MOST_DOUBLINGS)
        self._state.users.set_deadline(record, inf)
