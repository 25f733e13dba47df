"""What a broker tells all others, only when it changes, and what it learns from them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite

import numpy as np

from topicloom.content.brokers.desk import Desk
from topicloom.content.brokers.flow import Flow
from topicloom.content.brokers.interest import check_wants
from topicloom.content.brokers.messages import AskNews, Name, News, Rates, Wants
from topicloom.model.content import Floats


class Announcer:
    """The part of a broker that exchanges interests, rates and loads."""

    __slots__ = ("_before", "_desk", "_told", "_version")

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._version = 0
        self._told: tuple[Wants, Rates, float] = ((), (), -1.0)
        self._before = np.zeros(desk.channels.count + 1)  # rates of all channels before each one, added up

    def tell_wants(self, now: float) -> None:
        """The union of what all guests want, at once when it has changed: events depend on it."""
        if self._desk.book.changed:
            wants = self._desk.book.wants()
            if wants != self._told[0]:
                self._told = (wants, *self._told[1:])
                self._tell(wants, None, now)

    def tell_rates(self, now: float) -> None:
        """Rates and load, now and then and when they have changed: only costs depend on them."""
        own = self._own_rates(now)
        np.cumsum(self._desk.view.total_rates() + own, out=self._before[1:])
        for guest in self._desk.book.in_charge():
            guest.demand = self.demand(guest.ranges, guest.flow(now))
        busy = np.flatnonzero(own)
        rates = tuple(zip(busy.tolist(), own[busy].tolist(), strict=True))
        load = self._desk.load
        if (rates, load) != self._told[1:]:
            self._told = (self._told[0], rates, load)
            self._tell(None, rates, now)

    def demand(self, ranges: Sequence[tuple[int, int]], flow: Flow, *, counted: bool = True) -> float:
        """All that passes a user's link: what it publishes, and what others publish that it wants.

        `counted`: the user is one of those whose rates were added up here.
        """
        wanted = sum(float(self._before[last + 1] - self._before[first]) for first, last in ranges)
        own = flow.within(ranges) if counted else 0.0
        return max(wanted - own, 0.0) + flow.total

    def on_news(self, peer: Name, body: News, now: float) -> None:
        rates = body.rates or ()
        sound = all(0 <= channel < self._desk.channels.count and 0 <= rate < inf for channel, rate in rates)
        wrong = check_wants(body.wants or (), self._desk.channels.n_attributes)
        if wrong or not sound or not (isfinite(body.load) and body.capacity >= 0):
            self._desk.fault(peer, wrong or "a rate, load or capacity is no sound number")
            return
        self._desk.view.learn(peer, body)

    def on_ask_news(self, peer: Name, body: AskNews, now: float) -> None:
        self._desk.tell(peer, self._news(self._told[0], self._told[1]), now)

    def _own_rates(self, now: float) -> Floats:
        own = np.zeros(self._desk.channels.count)
        for guest in self._desk.book.in_charge():
            flow = guest.flow(now)
            own[flow.channels] += flow.rates
        return own

    def _tell(self, wants: Wants | None, rates: Rates | None, now: float) -> None:
        news = self._news(wants, rates)
        for peer in self._desk.view.living():
            self._desk.post.send(peer.name, news, now)

    def _news(self, wants: Wants | None, rates: Rates | None) -> News:
        self._version += 1
        return News(self._version, wants, rates, self._desk.load, self._desk.capacity)
