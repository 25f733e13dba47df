"""Users moving: a broker's side of request_to_move, accept, decline and redirect [Zhao2011, V].

What is allowed is in the table of `user_rules.py`; how users are taken in is in `admission.py`.
"""

from __future__ import annotations

from itertools import count
from math import inf

from topicloom.content.brokers.broker_state import BrokerState
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
from topicloom.content.brokers.user_records import UserRecord
from topicloom.content.brokers.user_rules import UserState

MOST_DOUBLINGS = 5
"""Of the time for which a user is left alone that did not move when asked."""


class Migration:
    """The part of a broker that lets users go."""

    __slots__ = ("_moves", "_state")

    def __init__(self, state: BrokerState) -> None:
        self._state = state
        self._moves = count(1)

    def from_users(self) -> Handlers:
        return {Accept: self.on_accept, Decline: self.on_decline}

    def from_brokers(self) -> Handlers:
        return {
            Replicated: self.on_replicated,
            NoRoom: self.on_no_room,
            TookOver: self.on_took_over,
        }

    # -- sending a user away ----------------------------------------------------------------------------

    def request_to_move(self, record: UserRecord, foreign: Name, now: float) -> bool:
        """Ask a user to move; False if this is not the moment."""
        if record.state is not UserState.ATTACHED or not self._state.others.alive(foreign):
            return False
        record.state, record.move, record.other = UserState.ASKED, next(self._moves), foreign
        self._state.mailbox.send(record.name, RequestToMove(record.move, foreign), now)
        self._allow(record, self._state.settings.patience, now)
        return True

    def on_accept(self, peer: Name, body: Accept, now: float) -> None:
        record = self._moving(peer, UserState.ASKED, body.move)
        if record is None:
            return
        if not self._state.others.alive(record.other):
            self._stay(record, now)
            return
        record.state = UserState.COPYING
        counted = record.counter.rates(now)
        body_out = Replicate(
            record.move, peer, record.term, record.version, record.wants, record.rates, counted, record.demand
        )
        self._state.tell(record.other, body_out, now)
        self._allow(record, self._state.settings.patience, now)

    def on_decline(self, peer: Name, body: Decline, now: float) -> None:
        record = self._moving(peer, UserState.ASKED, body.move)
        if record is not None:
            self._stay(record, now)

    def on_replicated(self, peer: Name, body: Replicated, now: float) -> None:
        record = self._moving(body.user, UserState.COPYING, body.move)
        if record is None or record.other != peer:
            return
        record.state = UserState.READY
        self._state.mailbox.send(record.name, Ready(record.move, peer), now)
        # The user tries for as long as it is patient, and one of two words must then come back here.
        self._allow(record, 3 * self._state.settings.patience, now)

    def on_no_room(self, peer: Name, body: NoRoom, now: float) -> None:
        record = self._moving(body.user, UserState.COPYING, body.move)
        if record is not None and record.other == peer:
            self._stay(record, now)

    def on_took_over(self, peer: Name, body: TookOver, now: float) -> None:
        """Another broker has the user now: hand over, and redirect for a TTL."""
        state, record = self._state, self._state.users.get(body.user)
        if record is None:
            return
        if record.term >= body.term:
            if record.in_charge:
                state.tell(peer, TookOver(record.name, record.term), now)
            return
        state.call_off(record, now, unless=peer)
        for sent in state.mailbox.withdraw(record.name, lambda sent: isinstance(sent, Delivery)):
            assert isinstance(sent, Delivery)
            record.kept[sent.event.id] = sent.event
        record.term, record.state, record.other = body.term, UserState.REDIRECTING, peer
        state.users.set_deadline(record, record.name, now + state.settings.ttl)
        if record.kept:
            state.tell(peer, HandedOver(record.name, body.term, tuple(record.kept.values())), now)

    # -- time, silence and death ------------------------------------------------------------------------

    def expire(self, name: Name, now: float) -> None:
        """A deadline of this user has come, perhaps."""
        users = self._state.users
        expected_user, record = users.expected.get(name), users.get(name)
        if expected_user is not None and expected_user.deadline <= now:
            del users.expected[name]
        if record is None or record.deadline > now:
            return
        if record.state is UserState.REDIRECTING:
            users.remove(record)
        else:
            self._state.call_off(record, now)
            self._stay(record, now)

    def silent(self, record: UserRecord, now: float) -> None:
        """The user has not been heard of for long: it is gone."""
        self._state.call_off(record, now)
        self._state.users.remove(record)
        self._state.mailbox.give_up(record.name)

    def died(self, broker: Name, now: float) -> None:
        """Copying to a dead broker is in vain; who was told to connect to it finds out by itself."""
        for record in list(self._state.users.records.values()):
            if record.state is UserState.COPYING and record.other == broker:
                self._stay(record, now)

    # -- inside -----------------------------------------------------------------------------------------

    def _moving(self, user: Name, state: UserState, move: int) -> UserRecord | None:
        record = self._state.users.get(user)
        return record if record is not None and record.state is state and record.move == move else None

    def _allow(self, record: UserRecord, seconds: float, now: float) -> None:
        self._state.users.set_deadline(record, record.name, now + seconds)

    def _stay(self, record: UserRecord, now: float) -> None:
        """The move is off; the user is left in peace for a while, each time for longer: one that always
        declines would otherwise take the place of others in every round."""
        record.state, record.other = UserState.ATTACHED, ""
        record.rest = now + self._state.settings.stay * self._state.settings.round * 2**record.declined
        record.declined = min(record.declined + 1, MOST_DOUBLINGS)
        self._state.users.set_deadline(record, record.name, inf)
