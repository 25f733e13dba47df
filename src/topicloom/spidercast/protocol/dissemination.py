"""Pass events over links whose both ends want the topic: an eager tree with lazy repair, per topic.

Plumtree (Leitão, Pereira, Rodrigues: Epidemic Broadcast Trees, SRDS 2007) over the neighbors that the overlay
gives. An event is pushed over eager links; a link that brings an event twice becomes lazy, and only ids go
over it. An id whose event does not follow is asked for, which makes that link eager again.

Against lost messages and crashes each event is announced again at some heartbeats to all neighbors not known
to hold it, and all held events to a new neighbor. A node where nothing was published keeps only its links.
"""

from __future__ import annotations

from math import inf

from msgspec.structs import replace

from topicloom.errors import UsageError
from topicloom.spidercast.protocol.event_paths import EventPaths
from topicloom.spidercast.protocol.event_store import EventStore, weight
from topicloom.spidercast.protocol.messages import (
    Event,
    EventId,
    EventMessage,
    Graft,
    Have,
    NodeId,
    Prune,
    Topic,
    Want,
)
from topicloom.spidercast.protocol.signing import signed_content
from topicloom.wire.core import Deliver, Send

MOST_HOPS = 1 << 31
MOST_SIGNED = 4096  # bytes of a signature
ROUND = 0.9  # of a heartbeat: rounds of announcements are at least so far apart


class Dissemination(EventPaths):
    """The part of a node that passes events on. Counters are plain attributes, for the driver to read."""

    __slots__ = ()

    def publish(self, topic: Topic, payload: bytes, now: float) -> EventId:
        """Publish a new event for all that want `topic`, the own application included."""
        context = self._context
        if len(payload) > context.settings.max_payload:
            raise UsageError(
                f"topic {topic!r}: node {context.name!r} may publish {context.settings.max_payload:,} bytes "
                f"at a time, not {len(payload):,}; split the payload"
            )
        if topic not in context.interest:
            raise UsageError(
                f"topic {topic!r}: node {context.name!r} does not subscribe to it; subscribe first"
            )
        if self._store is None:
            self._allocate()
        previous = self._numbers.get(topic, 0)
        number = (previous or max(self._first, self._highest)) + 1
        self._numbers[topic] = number
        id = EventId(context.name, topic, number)
        event = self._signed(Event(id, previous, 1, 0.0, payload))
        self._deliver(event, 0, now)
        self._pass_on(event, None, now)
        return id

    def receive(self, peer: NodeId, message: EventMessage, now: float) -> None:
        """Handle a message. Nonsense, and what a non-neighbor says, is ignored."""
        if peer not in self._links:
            return
        if isinstance(message, Event):
            self._receive_event(peer, message, now)
        elif isinstance(message, Have):
            self._receive_have(peer, message, now)
        elif self._store is not None and isinstance(message, Want):
            self._receive_want(peer, message, self._store, now)
        elif self._store is not None and isinstance(message, Graft | Prune):
            grafts = isinstance(message, Graft)
            if grafts or not self._is_last_eager(peer, message.topic):
                self._set_eager(peer, message.topic, eager=grafts)

    def _receive_event(self, peer: NodeId, event: Event, now: float) -> None:
        id = event.id
        topic = id.topic
        if topic not in self._context.interest:
            self.unwanted += 1
            return
        store = self._store or self._allocate()
        if store.knows(id):
            self._receive_duplicate(peer, id, store, event.hops)
            return
        if self._impossible(id):
            self.unwanted += 1
            return
        if len(event.payload) > self._context.settings.max_payload or len(event.signature) > MOST_SIGNED:
            self.unwanted += 1
            return
        age = event.age if event.age >= 0.0 else 0.0
        if age > self._context.settings.keep_seconds:
            self.late += 1
            return
        if not self._is_genuine(event):
            self.forged += 1
            return
        told = self._missing_events.came(id)
        if told is not None and peer in told.asked:
            self.repaired += 1
        hops = min(max(event.hops, 0), MOST_HOPS)
        further = Event(id, event.previous, hops + 1, age, event.payload, event.signature)
        if age <= self._wanted_for(topic, now):
            self._deliver(further, hops, now)
        links = self._links_of(topic)
        if peer in links:
            links[peer] = True
        self._pass_on(further, peer, now, () if told is None else tuple([by for _, _, by in told.announcers]))
        held = store.held.get(id)
        if told is not None and held is not None and told.nearest is not None:
            hops, announcer = told.nearest
            if announcer not in told.asked:  # who was asked has to send it before the tree turns to it
                self._shorten(announcer, held, hops)

    def _receive_duplicate(self, peer: NodeId, id: EventId, store: EventStore, hops: int) -> None:
        self.duplicates += 1
        held = store.held.get(id)
        if held is not None:
            if held.source == peer:
                # Sent or carried twice: that is the tree's link, and must stay so.
                return
            held.held_by(peer)
            self._shorten(peer, held, hops, sent=True)
            if held.source == peer:
                return
        if self._is_last_eager(peer, id.topic):
            return
        self._set_eager(peer, id.topic, eager=False)
        self._context.send(peer, Prune(id.topic))

    def _signed(self, event: Event) -> Event:
        keys = self._context.keys
        return event if keys is None else replace(event, signature=keys.sign(signed_content(event)))

    def _is_genuine(self, event: Event) -> bool:
        """Tell whether its publisher signed it; without keys everything is believed."""
        keys = self._context.keys
        return keys is None or keys.is_valid(event.id.publisher, signed_content(event), event.signature)

    def _impossible(self, id: EventId) -> bool:
        """Tell whether nobody published it: numbers start at 1, and our own of this life are known here."""
        return id.number < 1 or (id.number > self._first and id.publisher == self._context.name)

    def _pass_on(
        self, event: Event, source: NodeId | None, now: float, holders: tuple[NodeId, ...] = ()
    ) -> None:
        """Hold a new event, push it over the eager links, and have it announced over the lazy ones.

        `holders` announced it: a copy for one of them would be a duplicate, and cost the link.
        """
        id = event.id
        links = self._links_of(id.topic)
        store = self._store or self._allocate()
        store.add(event, now - event.age, source, holders)
        without = {source, *holders, *self._congested}
        to = tuple([peer for peer, eager in links.items() if eager and peer not in without])
        if to:
            self._context.effects.append(Send(to, event))
        if len(to) + (source in links) < len(links):
            self._announcer.announce_later(id, now)

    def _deliver(self, event: Event, hops: int, now: float) -> None:
        if event.id.topic in self.unread:
            return
        delivery = Deliver(event, hops)
        if self._ordering is None:
            self.delivered += 1
            self._context.effects.append(delivery)
            return
        ready = self._ordering.accept(delivery, now)
        if ready is None:
            self.late += 1
        else:
            self.delivered += len(ready)
            self._context.effects.extend(ready)

    def _receive_have(self, peer: NodeId, message: Have, now: float) -> None:
        context = self._context
        store = self._store or self._allocate()
        for at, (id, age) in enumerate(zip(message.ids, message.ages, strict=False)):
            held = store.held.get(id)
            if held is not None:
                held.held_by(peer)
                if at < len(message.hops):
                    self._shorten(peer, held, message.hops[at])
            elif id.topic in context.interest and not store.knows(id) and not self._impossible(id):
                oldest = max(self._wanted_for(id.topic, now), context.settings.relay_seconds)
                if age <= min(oldest, context.settings.keep_seconds):
                    hops = message.hops[at] if at < len(message.hops) else 0
                    self._missing_events.announced(id, peer, now, hops)
                    if hops > 0 and age <= context.settings.repair_timeout:
                        self._hurry(peer, id)

    def _receive_want(self, peer: NodeId, message: Want, store: EventStore, now: float) -> None:
        store.expire(now)
        # One neighbor that asks again and again gets no more than a share of what this node can send.
        most = max(self._context.settings.max_payload, self._context.settings.keep_bytes // 4)
        for id in dict.fromkeys(message.ids):
            held = store.held.get(id)
            if self._set_eager(peer, id.topic, eager=True) and held is not None:
                event = held.event
                sent = self._answered.get(peer, 0) + weight(event)
                if sent > most:
                    return
                self._answered[peer] = sent
                age = max(0.0, now - held.born)
                again = Event(id, event.previous, event.hops, age, event.payload, event.signature)
                self._context.send(peer, again)

    def announce_again(self, now: float) -> None:
        """Announce again, at a heartbeat, what is fresh to all that may have missed it."""
        if self._store is None or now < self._next_round:
            return  # an early heartbeat, with news of roots, is no round
        self._next_round = now + ROUND * self._context.settings.heartbeat
        self._answered.clear()
        self._announcer.announce_again(now)

    def next_timer(self) -> float:
        """Return when `handle_timer` wants to be called; infinity for never."""
        if self._store is None:
            return inf
        due = min(self._announcer.due, self._missing_events.due)
        return due if self._ordering is None else min(due, self._ordering.due)

    def handle_timer(self, now: float) -> None:
        """Do what is due."""
        if self._store is None:
            return
        if self._announcer.due <= now:
            self._announcer.announce_to_lazy(now)
        if self._missing_events.due <= now:
            for peer, ids in self._missing_events.overdue(now, self._links).items():
                for id in ids:
                    self._set_eager(peer, id.topic, eager=True)
                self._context.send(peer, Want(tuple(ids)))
        if self._ordering is not None and self._ordering.due <= now:
            ready = self._ordering.expire(now)
            self.delivered += len(ready)
            self._context.effects.extend(ready)
