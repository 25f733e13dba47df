"""Each publisher's events on a topic in the order of their numbers, for applications that ask for it.

An event names the number before it, so a gap is seen at once; what comes after a gap waits for `order_wait`
seconds at most. Only the delivery waits: passing events on never does.
"""

from __future__ import annotations

from bisect import insort
from collections import OrderedDict
from math import inf
from typing import NamedTuple

from topicloom.spidercast.protocol.event_store import Stream, stream_weight, weight
from topicloom.spidercast.protocol.messages import EventId, Topic
from topicloom.wire.core import Deliver


class Waiting(NamedTuple):
    """An event whose predecessor has not been delivered."""

    delivery: Deliver
    due: float


class Ordering:
    """Holds back at most `most` events of `most_bytes`, each for at most `wait` seconds; remembers `streams`
    streams, in `stream_bytes`."""

    __slots__ = (
        "_last", "_last_bytes", "_most", "_most_bytes", "_numbers", "_stream_bytes", "_streams", "_wait",
        "_waiting", "_waiting_bytes", "due",
    )  # fmt: skip

    def __init__(
        self,
        wait: float,
        most: int,
        streams: int,
        *,
        most_bytes: int = 64 << 20,
        stream_bytes: int = 64 << 20,
    ) -> None:
        self._wait = wait
        self._most = most
        self._streams = streams
        self._most_bytes, self._stream_bytes = most_bytes, stream_bytes
        self._last_bytes = self._waiting_bytes = 0
        self._last: OrderedDict[Stream, int] = OrderedDict()
        self._waiting: dict[EventId, Waiting] = {}  # in the order of arrival, hence of `due`
        self._numbers: dict[Stream, list[tuple[int, EventId]]] = {}  # those waiting, sorted
        self.due = inf

    def accept(self, delivery: Deliver, now: float) -> list[Deliver] | None:
        """Return what may be delivered now that this event came; None if it came too late itself.

        The first event of a stream that comes waits for its predecessor too: it may only have been overtaken.
        """
        id: EventId = delivery.event.id
        stream = (id.publisher, id.topic)
        last = self._last.get(stream)
        if (last is not None and id.number <= last) or id in self._waiting:
            return None
        ready = delivery.event.previous <= (last or 0)
        if ready and stream not in self._numbers:
            self._delivered(stream, id.number)
            return [delivery]
        self._waiting[id] = Waiting(delivery, now + self._wait)
        self._waiting_bytes += weight(delivery.event)
        insort(self._numbers.setdefault(stream, []), (id.number, id))
        out: list[Deliver] = []
        if ready:
            # Lower numbers that wait go first: after this one they would be too late.
            out = self._release(stream, id.number)
        while len(self._waiting) > self._most or (self._waiting and self._waiting_bytes > self._most_bytes):
            out += self._release_first()
        self._set_due()
        return out

    def expire(self, now: float) -> list[Deliver]:
        """Return what has waited long enough, with what comes before it and right after it in its stream."""
        out: list[Deliver] = []
        while self._waiting and next(iter(self._waiting.values())).due <= now:
            out += self._release_first()
        self._set_due()
        return out

    def drop_topic(self, topic: Topic) -> None:
        """Forget the waiting events of `topic`."""
        self._waiting = {id: waiting for id, waiting in self._waiting.items() if id.topic != topic}
        self._waiting_bytes = sum(weight(one.delivery.event) for one in self._waiting.values())
        self._numbers = {stream: ids for stream, ids in self._numbers.items() if stream[1] != topic}
        self._set_due()

    def _release_first(self) -> list[Deliver]:
        id = next(iter(self._waiting))
        return self._release((id.publisher, id.topic), id.number)

    def _release(self, stream: Stream, number: int) -> list[Deliver]:
        """Return all waiting up to `number`, and those after it whose predecessor is thereby delivered."""
        numbers = self._numbers[stream]
        out: list[Deliver] = []
        last = 0
        for other, id in numbers:
            if other > number and self._waiting[id].delivery.event.previous > last:
                break
            delivery = self._waiting.pop(id).delivery
            self._waiting_bytes -= weight(delivery.event)
            out.append(delivery)
            last = other
        del numbers[: len(out)]
        if not numbers:
            del self._numbers[stream]
        self._delivered(stream, last)
        return out

    def _delivered(self, stream: Stream, number: int) -> None:
        if stream not in self._last:
            self._last_bytes += stream_weight(stream)
        self._last[stream] = number
        self._last.move_to_end(stream)
        while self._last and (len(self._last) > self._streams or self._last_bytes > self._stream_bytes):
            self._last_bytes -= stream_weight(self._last.popitem(last=False)[0])

    def _set_due(self) -> None:
        self.due = next(iter(self._waiting.values())).due if self._waiting else inf
