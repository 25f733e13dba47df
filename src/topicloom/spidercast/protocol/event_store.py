"""The bounded memory of one node for events: those it can still pass on, and those it must not deliver again.

An event is *held* while it may be asked for, *fresh* while it is still announced, and *known* for as long as
memory allows: in full for the newest ids, as one number per publisher and topic for the ids before them.
"""

from __future__ import annotations

from collections import OrderedDict
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from topicloom.spidercast.protocol.messages import Event, EventId, NodeId, Topic
from topicloom.spidercast.protocol.settings import ProtocolSettings

Stream: TypeAlias = tuple[NodeId, Topic]  # the events of one publisher on one topic


class Held:
    """An event that can be passed on. `event` is as it leaves this node: its hops count the next link."""

    __slots__ = ("born", "event", "holders", "hops", "rounds", "source")

    def __init__(
        self, event: Event, born: float, source: NodeId | None, rounds: int, holders: tuple[NodeId, ...] = ()
    ) -> None:
        self.event = event
        self.born = born
        self.source = source  # over whose link the tree goes: the sender, or one with a much shorter path
        self.hops = event.hops  # what they would be if it had come from there
        # A tuple: some 150 bytes less than a set, and a node has few neighbors.
        self.holders = holders if source is None or source in holders else (source, *holders)
        self.rounds = rounds

    def held_by(self, peer: NodeId) -> None:
        """Note that `peer` has the event."""
        if peer not in self.holders:
            self.holders += (peer,)


OVERHEAD = 256  # bytes that an event or an id takes beside its payload and its names


def weight(event: Event) -> int:
    """Return about how many bytes an event takes in memory."""
    return OVERHEAD + len(event.payload) + len(event.signature) + id_weight(event.id)


def id_weight(id: EventId) -> int:
    """Return about how many bytes the names in an id take."""
    return sum(len(name) for name in (id.publisher, id.topic) if isinstance(name, str))


def stream_weight(stream: Stream) -> int:
    """Return about how many bytes one number of a stream takes in memory."""
    return OVERHEAD + sum(len(name) for name in stream if isinstance(name, str))


class EventStore:
    """At most `keep_bytes` of held events, none older than `keep_seconds`; ids by `remember_ids` and
    `remember_bytes`."""

    __slots__ = (
        "_by_age",
        "_count",
        "_forgotten",
        "_forgotten_bytes",
        "_older",
        "_settings",
        "_share",
        "_young",
        "_young_bytes",
        "fresh",
        "held",
        "held_bytes",
    )

    def __init__(self, settings: ProtocolSettings) -> None:
        self._settings = settings
        self.held: dict[EventId, Held] = {}
        self.fresh: dict[EventId, Held] = {}
        self._by_age: list[tuple[float, int, Held]] = []
        self._count = 0
        # Ids are forgotten half a memory at a time: two sets need no order inside.
        self._share = max(1, settings.remember_ids // 2)
        self._young_bytes = self.held_bytes = 0
        self._young: set[EventId] = set()
        self._older: set[EventId] = set()
        self._forgotten: OrderedDict[Stream, int] = OrderedDict()
        self._forgotten_bytes = 0

    def knows(self, id: EventId) -> bool:
        """Tell whether the event came before, or is so old that it may have."""
        if id in self._young or id in self._older or id in self.held:
            return True
        stream = (id.publisher, id.topic)
        if stream not in self._forgotten:
            return False
        self._forgotten.move_to_end(stream)
        return id.number <= self._forgotten[stream]

    def add(self, event: Event, born: float, source: NodeId | None, holders: tuple[NodeId, ...] = ()) -> None:
        """Hold and know an event that began at `born` by our clock; `source` sent it. `holders` have it."""
        id = event.id
        held = Held(event, born, source, self._settings.announce_rounds, holders)
        self._remember(id)
        self.held[id] = held
        if held.rounds:
            self.fresh[id] = held
        self._count += 1
        heappush(self._by_age, (born, self._count, held))
        self.held_bytes += weight(event)
        while self.held_bytes > self._settings.keep_bytes and self._by_age:
            self._drop_oldest()

    def expire(self, now: float) -> None:
        """Drop events older than `keep_seconds`."""
        oldest = now - self._settings.keep_seconds
        while self._by_age and self._by_age[0][0] < oldest:
            self._drop_oldest()

    def round_passed(self) -> None:
        """Count one heartbeat for all fresh events: some are fresh no longer."""
        for held in self.fresh.values():
            held.rounds -= 1
        self.fresh = {id: held for id, held in self.fresh.items() if held.rounds > 0}

    def drop_topic(self, topic: Topic) -> None:
        """Drop the events of `topic`; they stay known."""
        self._by_age = [entry for entry in self._by_age if entry[2].event.id.topic != topic]
        heapify(self._by_age)
        self.held = {id: held for id, held in self.held.items() if id.topic != topic}
        self.fresh = {id: held for id, held in self.fresh.items() if id.topic != topic}
        self.held_bytes = sum(weight(held.event) for held in self.held.values())

    def _drop_oldest(self) -> None:
        event = heappop(self._by_age)[2].event
        id = event.id
        self.held_bytes -= weight(event)
        del self.held[id]
        self.fresh.pop(id, None)

    def _remember(self, id: EventId) -> None:
        full = 2 * self._young_bytes >= self._settings.remember_bytes
        if self._young and (full or len(self._young) >= self._share):
            self._forget(self._older)
            self._older, self._young, self._young_bytes = self._young, set(), 0
        self._young.add(id)
        self._young_bytes += OVERHEAD + id_weight(id)

    def _forget(self, ids: set[EventId]) -> None:
        """Keep only the highest number of each stream, and only of the streams used last."""
        highest: dict[Stream, int] = {}
        for id in ids:
            stream = (id.publisher, id.topic)
            if id.number > highest.get(stream, 0):
                highest[stream] = id.number
        # The order of a set of strings differs from run to run; that of the numbers does not.
        for stream in sorted(highest, key=lambda stream: (highest[stream], str(stream))):
            if stream not in self._forgotten:
                self._forgotten_bytes += stream_weight(stream)
            self._forgotten[stream] = max(highest[stream], self._forgotten.get(stream, 0))
            self._forgotten.move_to_end(stream)
        settings = self._settings
        while self._forgotten and (
            len(self._forgotten) > settings.remember_ids or self._forgotten_bytes > settings.remember_bytes
        ):
            self._forgotten_bytes -= stream_weight(self._forgotten.popitem(last=False)[0])
