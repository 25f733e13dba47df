"""Tell neighbors which events this node holds, and ask for events that others announced.

`EventAnnouncer` sends nothing but Have: soon over lazy links, again at heartbeats, and everything to
a new neighbor. `MissingEvents` decides whom to ask for an announced event that does not come: each announcer
in turn, `tries` times each. It sends nothing and has no clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from itertools import takewhile
from math import inf
from typing import TypeAlias

from topicloom.spidercast.protocol.event_store import EventStore
from topicloom.spidercast.protocol.messages import EventId, Have, NodeId, Topic
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.wire.core import Send

MAX_IDS = 4096  # ids in one message
MOST_TOLD = 32  # new neighbors that are told everything at once, between two beats
# The neighbors that want a topic, and whether the link is eager. A dict, since its order is the same in all
# runs; that of a set of strings is not.
TopicLinks: TypeAlias = dict[NodeId, bool]


class EventAnnouncer:
    """Announces the held events of `store` over the links in `topics`, which has each held topic."""

    __slots__ = ("_congested", "_context", "_new_neighbors", "_queue", "_store", "_told", "_topics", "due")

    def __init__(
        self,
        context: NodeContext,
        store: EventStore,
        topics: dict[Topic, TopicLinks],
        congested: Container[NodeId] = (),
    ) -> None:
        self._context, self._congested = context, congested
        self._store = store
        self._topics = topics
        self._queue: list[EventId] = []  # new events, not announced over lazy links so far
        self._new_neighbors: dict[NodeId, int] = {}  # how often each is told everything again
        self._told: set[NodeId] = set()  # who was told everything since the last beat
        self.due = inf

    def announce_later(self, id: EventId, now: float) -> None:
        """Tell the lazy links of a new event after a delay that gathers several into one message."""
        settings = self._context.settings
        self._queue.append(id)
        if len(self._queue) >= MAX_IDS:
            self.announce_to_lazy(now)
        elif self.due == inf:
            self.due = now + settings.announce_delay

    def announce_to_lazy(self, now: float) -> None:
        """Announce the new events for the first time, over lazy links only."""
        chosen: dict[NodeId, list[EventId]] = {}
        full = self._congested
        for id in self._queue:
            held = self._store.held.get(id)
            if held is None:
                continue
            for peer, eager in self._topics[id.topic].items():
                if (not eager or peer in full) and peer not in held.holders:
                    chosen.setdefault(peer, []).append(id)
        self._queue.clear()
        self.due = inf
        self._tell(chosen, now)

    def announce_all_to(self, peer: NodeId, now: float) -> None:
        """Tell `peer` of all that is held: its link may have joined a split topic.

        That is a look at every event. Whoever links or changes its interest again and again, and many
        that do so by turns, are told at the next beat.
        """
        rounds = self._context.settings.announce_rounds
        if peer in self._told or len(self._told) >= MOST_TOLD:
            self._new_neighbors[peer] = max(1, rounds)
            return
        self._told.add(peer)
        self._store.expire(now)
        if rounds:
            # Once is not enough: the message may be lost, or come before `peer` knows of the link.
            self._new_neighbors[peer] = rounds
        self._tell({peer: self._not_held_by(peer)}, now)

    def forget(self, peer: NodeId) -> None:
        """Note that `peer` is a neighbor no longer."""
        self._new_neighbors.pop(peer, None)

    def announce_again(self, now: float) -> None:
        """Tell of the fresh events again, at a heartbeat."""
        self._told.clear()
        store = self._store
        if not store.held:
            return
        store.expire(now)
        if not store.fresh and not self._new_neighbors:
            return
        chosen: dict[NodeId, list[EventId]] = {}
        for id, held in store.fresh.items():
            for peer in self._topics[id.topic]:
                if peer not in held.holders:
                    chosen.setdefault(peer, []).append(id)
        store.round_passed()
        for peer in self._new_neighbors:  # theirs include the fresh ones
            chosen[peer] = self._not_held_by(peer)
        self._new_neighbors = {peer: left - 1 for peer, left in self._new_neighbors.items() if left > 1}
        self._tell(chosen, now)

    def _not_held_by(self, peer: NodeId) -> list[EventId]:
        topics = self._topics
        held = self._store.held.items()
        return [id for id, event in held if peer in topics[id.topic] and peer not in event.holders]

    def _tell(self, chosen: dict[NodeId, list[EventId]], now: float) -> None:
        """Send one Have to each neighbor; neighbors that are told the same share the message."""
        same: dict[tuple[EventId, ...], list[NodeId]] = {}
        for peer, ids in chosen.items():
            if ids:
                same.setdefault(tuple(ids), []).append(peer)
        held = self._store.held
        for key, to in same.items():
            for start in range(0, len(key), MAX_IDS):
                told = key[start : start + MAX_IDS]
                ages = tuple([max(0.0, now - held[id].born) for id in told])
                hops = tuple([held[id].event.hops for id in told])
                self._context.effects.append(Send(tuple(to), Have(told, ages, hops)))


class MissingEvent:
    """An event that others hold. `left` counts the questions that may still be asked."""

    __slots__ = ("announcers", "asked", "due", "first", "left")

    def __init__(self, announcer: NodeId, hops: int, due: float, tries: int) -> None:
        self.first = announcer
        self.announcers = [(0, hops, announcer)]  # how often each was asked, and how long its path is
        self.asked: tuple[NodeId, ...] = ()
        self.due = due
        self.left = tries

    def announced(self, announcer: NodeId, hops: int, tries: int) -> None:
        """Note one more announcer."""
        if all(announcer != peer for _, _, peer in self.announcers):
            self.announcers.append((0, hops, announcer))
            self.left += tries

    @property
    def nearest(self) -> tuple[int, NodeId] | None:
        """The fewest hops that the event would have over an announcer that told them, and that one."""
        told = [(hops, peer) for _, hops, peer in self.announcers if hops > 0]
        return min(told, key=lambda one: one[0], default=None)

    def next_to_ask(self, neighbors: Container[NodeId]) -> NodeId | None:
        """Return the next announcer that is still a neighbor, or None if all were asked often enough.

        Of those asked least often it is the one with the shortest path: the answer becomes a tree's link.
        """
        while self.announcers and self.left:
            best = min(self.announcers, key=lambda told: told[:2])
            self.announcers.remove(best)
            times, hops, peer = best
            if peer not in neighbors:
                continue
            self.announcers.append((times + 1, hops, peer))
            self.left -= 1
            if peer not in self.asked:
                self.asked += (peer,)
            return peer
        return None


class MissingEvents:
    """At most `most` missing events, a quarter of them by one announcer. `due` may be early, never late."""

    __slots__ = ("_missing", "_most", "_shares", "_timeout", "_topics", "_tries", "due")

    def __init__(self, timeout: float, tries: int, most: int) -> None:
        self._timeout = timeout
        self._tries = tries
        self._most = most
        self._missing: dict[EventId, MissingEvent] = {}  # in the order of `due`
        self._shares: Counter[NodeId] = Counter()  # first announcer -> missing events
        self._topics: Counter[Topic] = Counter()  # how many are missing
        self.due = inf

    def announced(self, id: EventId, announcer: NodeId, now: float, hops: int = 0) -> None:
        """Note that `announcer` holds an event that has not come here, `hops` links from its publisher."""
        missing = self._missing.get(id)
        if missing is not None:
            missing.announced(announcer, hops, self._tries)
        elif len(self._missing) < self._most and 4 * self._shares[announcer] <= self._most:
            self._shares[announcer] += 1
            self._topics[id.topic] += 1
            due = now + self._timeout
            self._missing[id] = MissingEvent(announcer, hops, due, self._tries)
            self.due = min(self.due, due)

    def ask_at_once(self, id: EventId, announcer: NodeId) -> bool:
        """Ask the only announcer so far before its turn, if nothing else of the topic is missing."""
        missing = self._missing.get(id)
        if missing is None or missing.asked or self._topics[id.topic] > 1:
            return False
        return len(missing.announcers) == 1 and missing.next_to_ask((announcer,)) is not None

    def came(self, id: EventId) -> MissingEvent | None:
        """Note that the event came; return what others had said of it before."""
        missing = self._missing.pop(id, None)
        if missing is not None:
            self._let_go(id, missing)
            if not self._missing:
                self.due = inf
        return missing

    def _let_go(self, id: EventId, missing: MissingEvent) -> None:
        self._shares[missing.first] -= 1
        self._topics[id.topic] -= 1
        if not self._topics[id.topic]:
            del self._topics[id.topic]

    def overdue(self, now: float, neighbors: Container[NodeId]) -> dict[NodeId, list[EventId]]:
        """Return whom to ask for what now."""
        ready = list(takewhile(lambda id: self._missing[id].due <= now, self._missing))
        questions: dict[NodeId, list[EventId]] = {}
        for id in ready:
            missing = self._missing.pop(id)
            peer = missing.next_to_ask(neighbors)
            if peer is not None:
                questions.setdefault(peer, []).append(id)
                missing.due = now + self._timeout
                self._missing[id] = missing
            else:
                self._let_go(id, missing)
        self.due = next(iter(self._missing.values())).due if self._missing else inf
        return questions

    def drop_topic(self, topic: Topic) -> None:
        """Miss no events of `topic` any more."""
        self._missing = {id: missing for id, missing in self._missing.items() if id.topic != topic}
        self._shares = Counter(missing.first for missing in self._missing.values())
        del self._topics[topic]
        if not self._missing:
            self.due = inf
