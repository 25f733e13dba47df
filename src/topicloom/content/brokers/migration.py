"""Users moving: a broker's side of request_to_move, accept, decline and redirect [Zhao2011, V].

The table of `user_rules.py` says what is allowed; `admission.py` takes users in.
"""

from __future__ import annotations

from itertools import count
from math import inf

from topicloom.content.brokers import messages as msg
from topicloom.content.brokers.broker_state import BrokerState
from topicloom.content.brokers.messages import Name
from topicloom.content.brokers.user_records import UserRecord
from topicloom.content.brokers.user_rules import UserState

MOST_DOUBLINGS = 5  # of the time for which a user is left alone that did not move when asked


class Migration:
    """The part of a broker that lets users go."""

    def __init__(self, state: BrokerState) -> None:
        self._state = state
        self._moves = count(1)

    def request_to_move(self, record: UserRecord, foreign: Name, now: float) -> bool:
        """Ask a user to move; return False if it cannot be asked now."""
        if record.state is not UserState.ATTACHED or not self._state.others.alive(foreign):
            return False
        record.state, record.move, record.other = UserState.ASKED, next(self._moves), foreign
        self._state.mailbox.send(record.name, msg.RequestToMove(record.move, foreign), now)
        self._set_deadline(record, self._state.settings.patience, now)
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
        self._set_deadline(record, self._state.settings.patience, now)

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
        self._set_deadline(record, 3 * self._state.settings.patience, now)

    def on_no_room(self, peer: Name, body: msg.NoRoom, now: float) -> None:
        record = self._moving(body.user, UserState.COPYING, body.move)
        if record is not None and record.other == peer:
            self._end_move(record, now)

    def on_took_over(self, peer: Name, body: msg.TookOver, now: float) -> None:
        """Hand over a user that another broker has now, and redirect for a TTL."""
        state, record = self._state, self._state.users.get(body.user)
        if record is None:
            return
        if record.term >= body.term:
            if record.in_charge:
                state.tell(peer, msg.TookOver(record.name, record.term), now)
            return
        state.cancel_move(record, now, unless=peer)
        for sent in state.mailbox.withdraw(record.name, lambda sent: isinstance(sent, msg.Delivery)):
            assert isinstance(sent, msg.Delivery)
            record.kept[sent.event.id] = sent.event
        record.term, record.state, record.other = body.term, UserState.REDIRECTING, peer
        self._set_deadline(record, state.settings.ttl, now)
        if record.kept:
            state.tell(peer, msg.HandedOver(record.name, body.term, tuple(record.kept.values())), now)

    def expire(self, name: Name, now: float) -> None:
        """End what has lasted until its deadline, if the deadline was not moved."""
        users = self._state.users
        expected, record = users.expected.get(name), users.get(name)
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
        record = self._state.users.get(user)
        return record if record is not None and (record.state, record.move) == (state, move) else None

    def _set_deadline(self, record: UserRecord, seconds: float, now: float) -> None:
        self._state.users.set_deadline(record, record.name, now + seconds)

    def _end_move(self, record: UserRecord, now: float) -> None:
        """Call the move off and leave the user alone for a while, each time for longer: one that always
        declines would otherwise take the place of others in every round."""
        record.state, record.other = UserState.ATTACHED, ""
        record.rest = now + self._state.settings.stay * self._state.settings.round * 2**record.declined
        record.declined = min(record.declined + 1, MOST_DOUBLINGS)
        self._state.users.set_deadline(record, record.name, inf)
