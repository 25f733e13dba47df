"""Tell other brokers what our users want and publish, when that changes, and learn the same from them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from topicloom.content.brokers.broker_state import BrokerState
from topicloom.content.brokers.messages import AskNews, Name, News, Ranges, Rates, Wants
from topicloom.content.brokers.wants_and_rates import Flow


class Announcements:
    """The part of a broker that exchanges interests, rates and loads."""

    def __init__(self, state: BrokerState) -> None:
        self._state = state
        self._version = 0
        self._told: tuple[Wants, Rates, float, Ranges] = ((), (), -1.0, ())
        self._before = np.zeros(state.channels.count + 1)  # rates of all channels before each one, added up

    def tell_wants(self, now: float) -> None:
        """Tell the union of what all users want, as soon as it changes: events depend on it."""
        if self._state.users.changed:
            wants = self._state.users.wants()
            if wants != self._told[0]:
                self._told = (wants, *self._told[1:])
                self._tell(wants, None, now)

    def tell_rates(self, now: float) -> None:
        """Tell rates, load and channels, from time to time if they changed: only costs depend on them."""
        own = np.zeros(self._state.channels.count)
        for record in self._state.users.in_charge():
            flow = record.flow(now)
            own[flow.channels] += flow.rates
        np.cumsum(self._state.others.total_rates() + own, out=self._before[1:])
        for record in self._state.users.in_charge():
            record.demand = self.demand(record.ranges, record.flow(now))
        busy = np.flatnonzero(own)
        rates = tuple(zip(busy.tolist(), own[busy].tolist(), strict=True))
        costs = rates, self._state.load, self._state.users.ranges()
        if costs != self._told[1:]:
            self._told = (self._told[0], *costs)
            self._tell(None, rates, now)

    def demand(self, ranges: Sequence[tuple[int, int]], flow: Flow, *, counted: bool = True) -> float:
        """Return all that passes a user's link: what it publishes, and what others publish that it wants.

        `counted`: the user is one of those whose rates were added up here.
        """
        wanted = sum(float(self._before[last + 1] - self._before[first]) for first, last in ranges)
        own = flow.within(ranges) if counted else 0.0
        return max(wanted - own, 0.0) + flow.total

    def on_news(self, peer: Name, body: News, now: float) -> None:
        if not self._state.is_valid(peer, body.wants or (), body.rates):
            return
        count = self._state.channels.count
        if not (isfinite(body.load) and body.capacity >= 0):
            self._state.fault(peer, f"load {body.load} or capacity {body.capacity} is not a valid number")
        elif not all(0 <= first <= last < count for first, last in body.ranges):
            self._state.fault(peer, "a range of channels ends before it begins, or where there are none")
        else:
            self._state.others.learn(peer, body)

    def on_ask_news(self, peer: Name, body: AskNews, now: float) -> None:
        self._state.tell(peer, self._news(self._told[0], self._told[1]), now)

    def _tell(self, wants: Wants | None, rates: Rates | None, now: float) -> None:
        news = self._news(wants, rates)
        for peer in self._state.others.living():
            self._state.mailbox.send(peer.name, news, now)

    def _news(self, wants: Wants | None, rates: Rates | None) -> News:
        self._version += 1
        state = self._state
        return News(self._version, wants, rates, state.users.ranges(), state.load, state.capacity)
