"""What a broker knows of each user, and which users an event is for. State only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from math import exp, inf

from topicloom.content.brokers.matching import SubscriptionIndex
from topicloom.content.brokers.messages import Event, EventId, Name, Point, Ranges, Rates, Wants
from topicloom.content.brokers.user_rules import IN_CHARGE, UserState
from topicloom.content.brokers.wants_and_rates import NOTHING, Channels, Flow, flow_of, joined, union


class RateCounter:
    """Count how often a user publishes on each channel, with fading weights ([Zhao2011]: summarize).

    >>> counter = RateCounter(window=60.0, now=0.0)
    >>> for second in range(600): counter.count(3, float(second))
    >>> [(channel, round(rate, 1)) for channel, rate in counter.rates(600.0)]
    [(3, 1.0)]
    """

    __slots__ = ("_since", "_weights", "_window")

    def __init__(self, window: float, now: float, rates: Iterable[tuple[int, float]] = ()) -> None:
        """Go on from the `rates` of the broker that counted before, as if they had always been so."""
        self._window = window
        self._weights = {channel: (rate * window, now) for channel, rate in rates}
        self._since = -inf if self._weights else now

    def count(self, channel: int, now: float) -> None:
        weight, at = self._weights.get(channel, (0.0, now))
        self._weights[channel] = weight * exp((at - now) / self._window) + 1.0, now

    def rates(self, now: float) -> Rates:
        """Return messages per second, ascending channels; what faded below one in ten windows is left out."""
        # A young counter has seen less than its window: the weights of a steady rate still grow.
        grown = 1.0 - exp((self._since - now) / self._window)
        rates = (
            (channel, weight * exp((at - now) / self._window) / self._window / max(grown, 0.05))
            for channel, (weight, at) in sorted(self._weights.items())
        )
        return tuple((channel, rate) for channel, rate in rates if rate * self._window > 0.1)


@dataclass(slots=True)
class UserRecord:
    """A user as a broker knows it. `deadline` is when the present state ends by itself.

    It is not asked to move before `rest`; `declined` counts the moves in a row that came to nothing. `told`
    is what it says it publishes. `other` is the foreign broker while moving, the broker in charge while
    redirecting; `kept` then holds all that came for it since it left and what it had not confirmed.
    """

    name: Name
    counter: RateCounter
    term: int = -1
    state: UserState = UserState.ATTACHED
    version: int = -1
    wants: Wants = ()
    rates: Rates | None = None
    heard: float = 0.0
    rest: float = 0.0
    declined: int = 0
    ranges: list[tuple[int, int]] = field(default_factory=list)
    told: Flow = NOTHING
    demand: float = 0.0
    move: int = 0
    other: Name = ""
    deadline: float = inf
    kept: dict[EventId, Event] = field(default_factory=dict)

    def flow(self, now: float) -> Flow:
        """Return what the user says it publishes, or else what was counted."""
        return self.told if self.rates is not None else flow_of(self.counter.rates(now))

    @property
    def in_charge(self) -> bool:
        """Whether this broker is the user's broker."""
        return self.state in IN_CHARGE


@dataclass(slots=True)
class ExpectedUser:
    """A user that another broker wants to send us; room is reserved until `deadline`."""

    name: Name
    move: int
    home: Name
    counted: Rates
    demand: float
    deadline: float = inf


class UserRecords:
    """All users that a broker has to do with, and which of them an event is for."""

    def __init__(self, channels: Channels) -> None:
        self.records: dict[Name, UserRecord] = {}
        self.expected: dict[Name, ExpectedUser] = {}
        self.changed = False  # what all users want together, since `wants` was asked
        self._channels = channels
        self._index = SubscriptionIndex(channels.n_attributes)
        self._deadlines: list[tuple[float, int, Name]] = []
        self._order = count()

    def remove(self, record: UserRecord) -> None:
        self._index.assign(record.name, ())
        del self.records[record.name]
        self.changed = True

    def set_wants(self, record: UserRecord, version: int, wants: Wants, rates: Rates | None) -> None:
        """Note what the user wants from now on, unless something newer is known."""
        if version <= record.version:
            return
        record.version, record.rates, record.told = version, rates, flow_of(rates)
        if wants != record.wants:
            self._index.assign(record.name, wants)
            record.wants, record.ranges = wants, self._channels.ranges_of(wants)
            self.changed = True

    def wants(self) -> Wants:
        """Return what all users want together, those that are redirected included."""
        self.changed = False
        return union(box for record in self.records.values() for box in record.wants)

    def ranges(self) -> Ranges:
        """Return the channels that the users want of whom this is the broker."""
        return tuple(joined(run for record in self.in_charge() for run in record.ranges))

    def matching(self, point: Point) -> list[UserRecord]:
        """Return the users that want an event, in the order of their subscriptions."""
        return [self.records[name] for name in dict.fromkeys(self._index.owners(point))]

    def in_charge(self) -> Iterator[UserRecord]:
        return (record for record in self.records.values() if record.in_charge)

    def set_deadline(self, user: UserRecord | ExpectedUser, deadline: float) -> None:
        user.deadline = deadline
        if deadline < inf:
            heappush(self._deadlines, (deadline, next(self._order), user.name))

    def next_deadline(self) -> float:
        return self._deadlines[0][0] if self._deadlines else inf

    def overdue(self, now: float) -> Iterator[Name]:
        """Yield names whose deadline has come; it may have been moved since."""
        while self._deadlines and self._deadlines[0][0] <= now:
            yield heappop(self._deadlines)[2]
