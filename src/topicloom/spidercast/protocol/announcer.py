"""Who is told of which events, and when: soon over lazy links, again at heartbeats, all to a new neighbor.

It sends nothing but Have. A neighbor known to hold an event is not told of it.
"""

from __future__ import annotations

from math import inf
from typing import TypeAlias

from topicloom.spidercast.protocol.context import Context
from topicloom.spidercast.protocol.event_store import EventStore
from topicloom.spidercast.protocol.messages import EventId, Have, NodeId, Topic
from topicloom.wire.core import Send

TopicLinks: TypeAlias = dict[NodeId, bool]
"""The neighbors that want a topic, and whether the link is eager. A dict, since its order is the same in all
runs; that of a set of strings is not."""


class Announcer:
    """Looks at the held events of `store` and the links in `topics`, which has each held topic."""

    __slots__ = ("_context", "_greeting", "_queue", "_store", "_topics", "due")

    def __init__(self, context: Context, store: EventStore, topics: dict[Topic, TopicLinks]) -> None:
        self._context = context
        self._store = store
        self._topics = topics
        self._queue: list[EventId] = []  # new events, not announced over lazy links so far
        self._greeting: dict[NodeId, int] = {}  # new neighbors, and how often they are told everything again
        self.due = inf

    def later(self, id: EventId, now: float) -> None:
        """Tell the lazy links of a new event, after a while that gathers several into one message."""
        settings = self._context.settings
        self._queue.append(id)
        if len(self._queue) > settings.keep_events:
            self.tell_lazy(now)
        elif self.due == inf:
            self.due = now + settings.announce_delay

    def tell_lazy(self, now: float) -> None:
        """The first announcement of the new events, over lazy links only."""
        chosen: dict[NodeId, list[EventId]] = {}
        for id in self._queue:
            held = self._store.held.get(id)
            if held is None:
                continue
            for peer, eager in self._topics[id.topic].items():
                if not eager and peer not in held.holders:
                    chosen.setdefault(peer, []).append(id)
        self._queue.clear()
        self.due = inf
        self._tell(chosen, now)

    def greet(self, peer: NodeId, now: float) -> None:
        """Tell `peer` of all that is held: a topic that was cut may have become whole by its link."""
        self._store.expire(now)
        if self._context.settings.announce_rounds:
            # Once is not enough: the message may be lost, or come before `peer` knows of the link.
            self._greeting[peer] = self._context.settings.announce_rounds
        self._tell({peer: self._not_held_by(peer)}, now)

    def gone(self, peer: NodeId) -> None:
        """`peer` is a neighbor no longer."""
        self._greeting.pop(peer, None)

    def round(self, now: float) -> None:
        """A heartbeat round: tell of the fresh events again."""
        store = self._store
        store.expire(now)
        if not store.fresh and not self._greeting:
            return
        chosen: dict[NodeId, list[EventId]] = {}
        for id, held in store.fresh.items():
            for peer in self._topics[id.topic]:
                if peer not in held.holders:
                    chosen.setdefault(peer, []).append(id)
        store.round_passed()
        for peer in self._greeting:  # theirs include the fresh ones
            chosen[peer] = self._not_held_by(peer)
        self._greeting = {peer: left - 1 for peer, left in self._greeting.items() if left > 1}
        self._tell(chosen, now)

    def _not_held_by(self, peer: NodeId) -> list[EventId]:
        topics = self._topics
        held = self._store.held.items()
        return [id for id, event in held if peer in topics[id.topic] and peer not in event.holders]

    def _tell(self, chosen: dict[NodeId, list[EventId]], now: float) -> None:
        """One Have to each neighbor; neighbors that are told the same share the message."""
        same: dict[tuple[EventId, ...], list[NodeId]] = {}
        for peer, ids in chosen.items():
            if ids:
                same.setdefault(tuple(ids), []).append(peer)
        for key, to in same.items():
            ages = tuple([max(0.0, now - self._store.held[id].born) for id in key])
            self._context.effects.append(Send(tuple(to), Have(key, ages)))
