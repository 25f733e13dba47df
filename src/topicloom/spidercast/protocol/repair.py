"""Which announced events are missing, and whom to ask for them next. Nothing here speaks or has a clock.

An announcer is asked when the event has not come `timeout` seconds later, then the next one after as long
again, and round again: `tries` times each, then the event is given up until somebody announces it anew.
"""

from __future__ import annotations

from collections.abc import Container
from math import inf

from topicloom.spidercast.protocol.messages import EventId, NodeId, Topic


class Missing:
    """An event that others hold. `left` counts the questions that may still be asked."""

    __slots__ = ("announcers", "asked", "due", "left")

    def __init__(self, announcer: NodeId, due: float, tries: int) -> None:
        self.announcers = [announcer]
        self.asked: tuple[NodeId, ...] = ()
        self.due = due
        self.left = tries

    def next_to_ask(self, neighbors: Container[NodeId]) -> NodeId | None:
        """The announcer whose turn it is, as long as it is a neighbor."""
        while self.announcers and self.left:
            peer = self.announcers.pop(0)
            if peer not in neighbors:
                continue
            self.announcers.append(peer)
            self.left -= 1
            if peer not in self.asked:
                self.asked += (peer,)
            return peer
        return None


class Repairs:
    """At most `most` missing events. `due` may be early, never late."""

    __slots__ = ("_missing", "_most", "_timeout", "_tries", "due")

    def __init__(self, timeout: float, tries: int, most: int) -> None:
        self._timeout = timeout
        self._tries = tries
        self._most = most
        self._missing: dict[EventId, Missing] = {}  # in the order of `due`
        self.due = inf

    def announced(self, id: EventId, announcer: NodeId, now: float) -> None:
        """`announcer` holds the event, which has not come here."""
        missing = self._missing.get(id)
        if missing is not None:
            if announcer not in missing.announcers:
                missing.announcers.append(announcer)
                missing.left += self._tries
        elif len(self._missing) < self._most:
            due = now + self._timeout
            self._missing[id] = Missing(announcer, due, self._tries)
            self.due = min(self.due, due)

    def came(self, id: EventId, peer: NodeId) -> bool:
        """The event came from `peer`; whether `peer` had been asked for it."""
        missing = self._missing.pop(id, None)
        if missing is None:
            return False
        if not self._missing:
            self.due = inf
        return peer in missing.asked

    def overdue(self, now: float, neighbors: Container[NodeId]) -> dict[NodeId, list[EventId]]:
        """Whom to ask for what now."""
        ready: list[EventId] = []
        for id, missing in self._missing.items():
            if missing.due > now:
                break
            ready.append(id)
        questions: dict[NodeId, list[EventId]] = {}
        for id in ready:
            missing = self._missing.pop(id)
            peer = missing.next_to_ask(neighbors)
            if peer is not None:
                questions.setdefault(peer, []).append(id)
                missing.due = now + self._timeout
                self._missing[id] = missing
        self.due = next(iter(self._missing.values())).due if self._missing else inf
        return questions

    def drop_topic(self, topic: Topic) -> None:
        """Events of `topic` are not missed."""
        self._missing = {id: missing for id, missing in self._missing.items() if id.topic != topic}
        if not self._missing:
            self.due = inf
