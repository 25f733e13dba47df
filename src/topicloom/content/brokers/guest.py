"""What a broker holds about one user. State only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import exp, inf

from topicloom.content.brokers.flow import NOTHING, Flow, flow_of
from topicloom.content.brokers.messages import Event, EventId, Name, Rates, Wants
from topicloom.content.brokers.rules import CHARGE, State


class Summary:
    """How often a user publishes on each channel, counted with a weight that fades ([Zhao2011]: summarize).

    >>> summary = Summary(window=60.0, now=0.0)
    >>> for second in range(600): summary.count(3, float(second))
    >>> [(channel, round(rate, 1)) for channel, rate in summary.rates(600.0)]
    [(3, 1.0)]
    """

    __slots__ = ("_since", "_weights", "_window")

    def __init__(self, window: float, now: float, rates: Iterable[tuple[int, float]] = ()) -> None:
        """`rates` of the broker that counted before: as if it had gone on here for ever."""
        self._window = window
        self._weights = {channel: (rate * window, now) for channel, rate in rates}
        self._since = -inf if self._weights else now

    def count(self, channel: int, now: float) -> None:
        weight, at = self._weights.get(channel, (0.0, now))
        self._weights[channel] = weight * exp((at - now) / self._window) + 1.0, now

    def rates(self, now: float) -> Rates:
        """Messages per second, ascending channels. What has faded below one in ten windows is left out."""
        # A young summary has seen less than its window: the weights of a steady rate have not yet grown up.
        grown = 1.0 - exp((self._since - now) / self._window)
        found = []
        for channel, (weight, at) in sorted(self._weights.items()):
            rate = weight * exp((at - now) / self._window) / self._window / max(grown, 0.05)
            if rate * self._window > 0.1:
                found.append((channel, rate))
        return tuple(found)


@dataclass(slots=True)
class Guest:
    """A user as a broker knows it. `deadline` is when the present state ends by itself.

    `kept` holds, while redirecting, all that came for it since it left and what it had not confirmed then.
    """

    name: Name
    term: int
    state: State
    version: int
    wants: Wants
    rates: Rates | None
    summary: Summary
    heard: float
    rest: float = 0.0
    """Until then it is not asked to move."""
    declined: int = 0
    """Moves that came to nothing, one after another."""
    numbers: tuple[int, ...] = ()
    ranges: list[tuple[int, int]] = field(default_factory=list)
    told: Flow = NOTHING
    """What the user says it publishes, if it does say so."""
    demand: float = 0.0
    move: int = 0
    other: Name = ""
    """The foreign broker while moving, the broker in charge while redirecting."""
    deadline: float = inf
    kept: dict[EventId, Event] = field(default_factory=dict)

    def flow(self, now: float) -> Flow:
        """What the user says it publishes, or else what was counted."""
        return self.told if self.rates is not None else flow_of(self.summary.rates(now))

    @property
    def in_charge(self) -> bool:
        """Are we the user's broker?"""
        return self.state in CHARGE


@dataclass(slots=True)
class Replica:
    """A user that another broker wants to send us; room is kept free until `deadline`."""

    move: int
    home: Name
    counted: Rates
    demand: float
    deadline: float
