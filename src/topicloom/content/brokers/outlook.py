"""A broker's picture of everything, put together from its guests and what others told it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topicloom.content.brokers.choice import Holder, Outlook
from topicloom.content.brokers.desk import Desk
from topicloom.content.brokers.guest import Guest
from topicloom.content.brokers.messages import Name
from topicloom.content.brokers.rules import State


def outlook_of(desk: Desk, brokers: Sequence[Name], guests: Sequence[Guest], now: float) -> Outlook:
    """What `choose_moves` needs; `brokers` are all of them in the order of the prices.

    Users on the move, and those that moved or declined not long ago, are seen but not moved. A dead broker
    has less than no room.
    """
    users = []
    for guest in guests:
        prices = desk.prices(guest.name)
        movable = prices is not None and guest.state is State.ATTACHED and guest.rest <= now
        users.append(Holder(guest.ranges, guest.flow(now), prices, movable=movable))
    others: list[Holder | None] = []
    loads, capacity = np.zeros(len(brokers)), np.full(len(brokers), -1.0)
    for place, name in enumerate(brokers):
        if name == desk.name:
            others.append(None)
            loads[place], capacity[place] = desk.load, desk.capacity
            continue
        peer = desk.view.peers[name]
        others.append(Holder(peer.ranges, peer.flow))
        if peer.alive:
            loads[place], capacity[place] = peer.load, peer.capacity
    return Outlook(brokers.index(desk.name), users, others, loads, capacity)
