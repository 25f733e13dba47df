"""What the parts of one broker share: its name, letters and users, and what it knows of other brokers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Floats
from topicloom.content.brokers import messages as msg
from topicloom.content.brokers.letters import Mailbox
from topicloom.content.brokers.matching import SubscriptionIndex
from topicloom.content.brokers.messages import Body, Event, Name, Point, Rates, Wants
from topicloom.content.brokers.settings import BrokerSettings
from topicloom.content.brokers.user_records import UserRecord, UserRecords
from topicloom.content.brokers.user_rules import UserState
from topicloom.content.brokers.wants_and_rates import NOTHING, Channels, Flow, find_fault, flow_of
from topicloom.wire.core import Close, Effect

NO_NEWS = msg.News(0, None, None, (), 0.0, 0.0)


@dataclass(slots=True)
class OtherBroker:
    """One other broker. Letters overtake each other, so parts that may be absent have versions of their own.

    `life` is the highest it was heard in, `last` the newest of its news.
    """

    name: Name
    heard: float
    alive: bool = True
    life: int = -1
    last: msg.News = NO_NEWS
    wants_version: int = 0
    rates_version: int = 0
    flow: Flow = NOTHING


class OtherBrokers:
    """All other brokers of one broker."""

    def __init__(self, others: Iterable[Name], channels: Channels) -> None:
        self._channels = channels
        self._index = SubscriptionIndex(channels.n_attributes)
        self.peers = {name: OtherBroker(name, 0.0) for name in others}

    def living(self) -> Iterator[OtherBroker]:
        return (peer for peer in self.peers.values() if peer.alive)

    def alive(self, name: Name) -> bool:
        peer = self.peers.get(name)
        return peer is not None and peer.alive

    def learn(self, name: Name, news: msg.News) -> None:
        """Take what is newer than what is known."""
        peer = self.peers[name]
        if news.wants is not None and news.version > peer.wants_version:
            peer.wants_version = news.version
            self._index.assign(name, news.wants)
        if news.rates is not None and news.version > peer.rates_version:
            peer.rates_version, peer.flow = news.version, flow_of(news.rates)
        if news.version > peer.last.version:
            peer.last = news

    def mark_dead(self, name: Name) -> None:
        """Mark a broker as dead: nothing is wanted or published there. If it is alive, it will tell anew."""
        peer = self.peers[name]
        self._index.assign(name, ())
        self.peers[name] = OtherBroker(name, peer.heard, alive=False, life=peer.life)

    def interested(self, point: Point) -> set[Name]:
        """Return the living brokers with users that want an event."""
        return set(self._index.owners(point))

    def total_rates(self) -> Floats:
        """Return the rates of all others together, per channel."""
        total = np.zeros(self._channels.count)
        for peer in self.peers.values():
            total[peer.flow.channels] += peer.flow.rates
        return total


class BrokerState:
    """Shared by the parts of a broker. `strays` counts events redirected to us for users we do not know."""

    def __init__(
        self,
        name: Name,
        brokers: Sequence[Name],
        capacity: float,
        channels: Channels,
        prices: Callable[[Name], Sequence[float] | None],
        settings: BrokerSettings,
        life: int,
    ) -> None:
        self.name, self.brokers, self.capacity = name, list(brokers), capacity
        self.channels, self.prices, self.settings = channels, prices, settings
        self.effects: list[Effect] = []
        self.strays = 0
        self.mailbox = Mailbox(life, settings.resend, self.effects, settings.remember)
        self.others = OtherBrokers((other for other in brokers if other != name), channels)
        self.users = UserRecords(channels)

    def tell(self, broker: Name, body: Body, now: float) -> None:
        """Write to another broker, unless it is dead."""
        if self.others.alive(broker):
            self.mailbox.send(broker, body, now)

    def fault(self, peer: Name, reason: str) -> None:
        self.effects.append(Close(peer, reason))

    def is_valid(self, peer: Name, wants: Wants, rates: Rates | None) -> bool:
        """Tell whether this can be wanted and published; if not, `peer` is at fault."""
        wrong = find_fault(wants, rates, self.channels.n_attributes, self.channels.count)
        if wrong:
            self.fault(peer, wrong)
        return not wrong

    def cancel_move(self, record: UserRecord, now: float, unless: Name | None = None) -> None:
        """Tell the foreign broker of a move under way that the move is off."""
        if record.state in (UserState.COPYING, UserState.READY) and record.other != unless:
            self.tell(record.other, msg.Cancel(record.move, record.name), now)

    def deliver(self, record: UserRecord, event: Event, now: float) -> None:
        """Send an event to a user, or to the broker that has the user now (redirect)."""
        if event.id.publisher == record.name:
            return
        if record.in_charge:
            self.mailbox.send(record.name, msg.Delivery(event), now)
        elif event.id not in record.kept:
            record.kept[event.id] = event
            self.tell(record.other, msg.Redirect(record.name, event), now)

    def forget_user(self, record: UserRecord, now: float) -> None:
        """End all that goes on with a user that left or is gone."""
        self.cancel_move(record, now)
        self.users.remove(record)
        self.mailbox.withdraw(record.name)

    @property
    def load(self) -> float:
        """The demands of all users, and of those that room is reserved for."""
        own = {record.name: record.demand for record in self.users.in_charge()}
        expected = sum(user.demand for name, user in self.users.expected.items() if name not in own)
        return sum(own.values()) + expected

    def has_room(self, demand: float) -> bool:
        return self.load + demand <= self.capacity * (1 + 1e-9)
