"""What the parts of one broker share: who it is, its letters, its guests and what it knows of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from math import inf

from topicloom.content.brokers.flow import check_rates, flow_of
from topicloom.content.brokers.guest import Guest, Replica, Summary
from topicloom.content.brokers.interest import Channels, check_wants, joined, union
from topicloom.content.brokers.matching import Index
from topicloom.content.brokers.messages import (
    Body,
    Cancel,
    Delivery,
    Event,
    Name,
    Point,
    Ranges,
    Rates,
    Redirect,
    Wants,
)
from topicloom.content.brokers.post import Post
from topicloom.content.brokers.rules import State
from topicloom.content.brokers.settings import Settings
from topicloom.content.brokers.view import View
from topicloom.wire.core import Close, Effect


class Guestbook:
    """All users that a broker has to do with, and which of them an event is for."""

    def __init__(self, channels: Channels) -> None:
        self.guests: dict[Name, Guest] = {}
        self.replicas: dict[Name, Replica] = {}
        self.changed = False
        """Has what all guests want together perhaps changed since `wants` was asked?"""
        self._channels = channels
        self._index = Index(channels.n_attributes)
        self._deadlines: list[tuple[float, int, Name]] = []
        self._order = count()

    def get(self, name: Name) -> Guest | None:
        return self.guests.get(name)

    def state_of(self, name: Name) -> State:
        guest = self.guests.get(name)
        return State.ABSENT if guest is None else guest.state

    def enter(self, name: Name, term: int, summary: Summary, now: float) -> Guest:
        guest = Guest(name, term, State.ATTACHED, -1, (), None, summary, now)
        self.guests[name] = guest
        return guest

    def remove(self, guest: Guest) -> None:
        self._unlist(guest)
        del self.guests[guest.name]
        self.changed = True

    def set_wants(self, guest: Guest, version: int, wants: Wants, rates: Rates | None) -> None:
        """What the user wants from now on, unless something newer is known."""
        if version <= guest.version:
            return
        guest.version, guest.rates, guest.told = version, rates, flow_of(rates)
        if wants != guest.wants:
            self._unlist(guest)
            guest.wants = wants
            guest.numbers = tuple(self._index.add(guest.name, box) for box in wants)
            guest.ranges = self._channels.ranges_of(wants)
            self.changed = True

    def wants(self) -> Wants:
        """What all guests want together, those that are redirected included."""
        self.changed = False
        return union(box for guest in self.guests.values() for box in guest.wants)

    def ranges(self) -> Ranges:
        """The channels that the users want of whom we are the broker."""
        return tuple(joined(run for guest in self.in_charge() for run in guest.ranges))

    def matching(self, point: Point) -> list[Guest]:
        """The guests that want an event, in the order of their subscriptions."""
        owners = dict.fromkeys(self._index.owner_list(point))
        return [self.guests[name] for name in owners]  # type: ignore[index]

    def in_charge(self) -> Iterator[Guest]:
        return (guest for guest in self.guests.values() if guest.in_charge)

    def set_deadline(self, holder: Guest | Replica, name: Name, deadline: float) -> None:
        holder.deadline = deadline
        if deadline < inf:
            heappush(self._deadlines, (deadline, next(self._order), name))

    def next_deadline(self) -> float:
        return self._deadlines[0][0] if self._deadlines else inf

    def overdue(self, now: float) -> Iterator[Name]:
        """Names that had a deadline; it may have been moved since."""
        while self._deadlines and self._deadlines[0][0] <= now:
            yield heappop(self._deadlines)[2]

    def _unlist(self, guest: Guest) -> None:
        for number in guest.numbers:
            self._index.remove(number)
        guest.numbers = ()


@dataclass(slots=True)
class Desk:
    """Shared by the parts of a broker."""

    name: Name
    settings: Settings
    channels: Channels
    capacity: float
    prices: Callable[[Name], Sequence[float] | None]
    post: Post
    view: View
    book: Guestbook
    effects: list[Effect] = field(default_factory=list)
    strays: int = 0
    """Events redirected to us for users of whom nothing is known any more."""

    def tell(self, broker: Name, body: Body, now: float) -> None:
        """Write to another broker, unless it is dead."""
        if self.view.alive(broker):
            self.post.send(broker, body, now)

    def fault(self, peer: Name, reason: str) -> None:
        self.effects.append(Close(peer, reason))

    def sound(self, peer: Name, wants: Wants, rates: Rates | None) -> bool:
        """Could this be wanted and published? If not, it is a fault of `peer`."""
        wrong = check_wants(wants, self.channels.n_attributes) or check_rates(rates, self.channels.count)
        if wrong:
            self.fault(peer, wrong)
        return not wrong

    def call_off(self, guest: Guest, now: float, unless: Name | None = None) -> None:
        """Tell the foreign broker of a move under way that it will not be."""
        if guest.state in (State.COPYING, State.READY) and guest.other != unless:
            self.tell(guest.other, Cancel(guest.move, guest.name), now)

    def hand(self, guest: Guest, event: Event, now: float) -> None:
        """An event has come for a guest: to the user itself, or to the broker that has it now (redirect)."""
        if event.id.publisher == guest.name:
            return
        if guest.in_charge:
            self.post.send(guest.name, Delivery(event), now)
        elif event.id not in guest.kept:
            guest.kept[event.id] = event
            self.tell(guest.other, Redirect(guest.name, event), now)

    @property
    def load(self) -> float:
        """The demands of all users, and of those that room is kept for."""
        expected = sum(
            replica.demand for name, replica in self.book.replicas.items() if not self._present(name)
        )
        return sum(guest.demand for guest in self.book.in_charge()) + expected

    def has_room(self, demand: float) -> bool:
        return self.load + demand <= self.capacity * (1 + 1e-9)

    def _present(self, name: Name) -> bool:
        guest = self.book.get(name)
        return guest is not None and guest.in_charge
