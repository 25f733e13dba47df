"""What a broker knows of all others: who lives, what they want, publish and carry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from topicloom.base.arrays import Floats
from topicloom.content.brokers.flow import NOTHING, Flow, flow_of
from topicloom.content.brokers.interest import Channels
from topicloom.content.brokers.matching import Index
from topicloom.content.brokers.messages import Box, Name, News, Point, Wants


@dataclass(slots=True)
class Peer:
    """One other broker. Letters overtake each other, so each part has the version it came with."""

    name: Name
    heard: float
    alive: bool = True
    life: int = -1
    """The highest it was heard of in; it rises with each start."""
    load: float = 0.0
    capacity: float = 0.0
    wants_version: int = 0
    rates_version: int = 0
    load_version: int = 0
    ranges: list[tuple[int, int]] = field(default_factory=list)
    """Of channels that its own users want."""
    flow: Flow = NOTHING
    numbers: dict[Box, int] = field(default_factory=dict)
    """What it wants, by box, as the index calls it."""


class View:
    """All other brokers of one broker."""

    __slots__ = ("_channels", "_index", "peers")

    def __init__(self, others: Iterable[Name], channels: Channels) -> None:
        self._channels = channels
        self._index = Index(channels.n_attributes)
        self.peers = {name: Peer(name, 0.0) for name in others}

    def living(self) -> Iterator[Peer]:
        return (peer for peer in self.peers.values() if peer.alive)

    def alive(self, name: Name) -> bool:
        peer = self.peers.get(name)
        return peer is not None and peer.alive

    def learn(self, name: Name, news: News) -> None:
        """Take what is newer than what is known."""
        peer = self.peers[name]
        if news.wants is not None and news.version > peer.wants_version:
            peer.wants_version = news.version
            self._set_wants(peer, news.wants)
        if news.rates is not None and news.version > peer.rates_version:
            peer.rates_version, peer.flow = news.version, flow_of(news.rates)
        if news.version > peer.load_version:
            peer.load_version, peer.load, peer.capacity = news.version, news.load, news.capacity
            peer.ranges = list(news.ranges)

    def bury(self, name: Name) -> None:
        """The broker is dead: nothing is wanted or published there. If it lives after all, it tells anew."""
        peer = self.peers[name]
        self._set_wants(peer, ())
        self.peers[name] = Peer(name, peer.heard, alive=False, life=peer.life)

    def interested(self, point: Point) -> set[Name]:
        """The living brokers where somebody wants an event."""
        return self._index.owners(point)  # type: ignore[return-value]

    def total_rates(self) -> Floats:
        """The rates of all others together, per channel."""
        total = np.zeros(self._channels.count)
        for peer in self.peers.values():
            total[peer.flow.channels] += peer.flow.rates
        return total

    def _set_wants(self, peer: Peer, wants: Wants) -> None:
        now = set(wants)
        for box in [box for box in peer.numbers if box not in now]:
            self._index.remove(peer.numbers.pop(box))
        for box in wants:
            if box not in peer.numbers:
                peer.numbers[box] = self._index.add(peer.name, box)
