"""Pass events over links whose both ends want the topic: an eager tree with lazy repair, per topic.

Plumtree (Leitão, Pereira, Rodrigues: Epidemic Broadcast Trees, SRDS 2007) over the neighbors that the overlay
gives. An event is pushed over eager links; a link that brings an event twice becomes lazy, and only ids go
over it. An id whose event does not follow is asked for, which makes that link eager again.

Against lost messages and crashes each event is announced again at some heartbeats to all neighbors not known
to hold it, and all held events to a new neighbor. A node where nothing was published keeps only its links.
"""

from __future__ import annotations

from math import inf

from topicloom.errors import UsageError
from topicloom.spidercast.protocol.announcements import EventAnnouncer, MissingEvents, TopicLinks
from topicloom.spidercast.protocol.event_store import EventStore
from topicloom.spidercast.protocol.messages import Event, EventId, Have, NodeId, Prune, Topic, Topics, Want
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.ordering import Ordering
from topicloom.wire.core import Deliver, Send

# Numbers of a life start at version << VERSION_BITS: a life may publish a million events on a topic for each
# version that the next life is ahead.
VERSION_BITS = 20
MOST_HOPS = 1 << 31


class Dissemination:
    """The part of a node that passes events on. Counters are plain attributes, for the driver to read."""

    __slots__ = (
        "_announcer", "_context", "_first", "_highest", "_links", "_missing_events", "_numbers", "_ordering",
        "_since", "_since_later", "_store", "_topics",
        "delivered", "duplicates", "late", "repaired", "unwanted",
    )  # fmt: skip

    def __init__(self, context: NodeContext) -> None:
        self._context = context
        self._first = context.version << VERSION_BITS
        self._links: dict[NodeId, Topics] = {}  # the caller's own sets: never copied, a node may have many
        self._since = -inf  # when the first topic was subscribed to; others only if at another time
        self._since_later: dict[Topic, float] | None = None
        self._store: EventStore | None = None  # and with it everything that `_allocate` makes
        self.delivered = self.duplicates = self.late = self.repaired = self.unwanted = 0

    def _allocate(self) -> EventStore:
        """Make what is needed once there are events."""
        settings = self._context.settings
        most = max(1, settings.keep_events)
        self._store = EventStore(settings)
        self._missing_events = MissingEvents(settings.repair_timeout, max(1, settings.announce_rounds), most)
        self._ordering = (
            Ordering(settings.order_wait, most, settings.remember_ids) if settings.ordered else None
        )
        self._topics: dict[Topic, TopicLinks] = {}
        self._announcer = EventAnnouncer(self._context, self._store, self._topics)
        self._numbers: dict[Topic, int] = {}
        self._highest = self._first
        return self._store

    def link_up(self, peer: NodeId, shared: Topics, now: float) -> None:
        """Take `peer` as a neighbor; both ends want the topics in `shared`."""
        self._share(peer, shared, frozenset(), now)

    def shared_changed(self, peer: NodeId, shared: Topics, now: float) -> None:
        """Note that an interest changed at one of the ends."""
        before = self._links.get(peer)
        if before is not None:
            self._share(peer, shared, before, now)

    def link_down(self, peer: NodeId, now: float) -> None:
        """Note that `peer` is a neighbor no longer."""
        self._links.pop(peer, None)
        if self._store is not None:
            self._announcer.forget(peer)
            for links in self._topics.values():
                links.pop(peer, None)

    def _share(self, peer: NodeId, shared: Topics, before: Topics, now: float) -> None:
        self._links[peer] = shared
        store = self._store
        if store is None:
            return
        for topic, links in self._topics.items():
            if topic not in shared:
                links.pop(peer, None)
            elif topic not in before or peer not in links:
                links[peer] = True
        if store.held and not shared <= before:
            self._announcer.announce_all_to(peer, now)

    def subscribed(self, topic: Topic, now: float) -> None:
        """Want `topic` from now on."""
        if self._since == -inf:
            self._since = now
        if now != self._since:
            self._since_later = self._since_later or {}
            self._since_later[topic] = now

    def unsubscribed(self, topic: Topic, now: float) -> None:
        """Want `topic` no more: nothing of it is held, asked for or delivered."""
        if self._since_later is not None:
            self._since_later.pop(topic, None)
        if self._store is None:
            return
        self._topics.pop(topic, None)
        self._highest = max(self._highest, self._numbers.pop(topic, 0))
        self._store.drop_topic(topic)
        self._missing_events.drop_topic(topic)
        if self._ordering is not None:
            self._ordering.drop_topic(topic)

    def _wanted_for(self, topic: Topic, now: float) -> float:
        """Return how long the node has wanted `topic`, and a little more. Older events are history: ages
        leave out the time on the wire, so an event published since never looks older than the interest."""
        later = self._since_later
        since = self._since if later is None else later.get(topic, self._since)
        return now - since + self._context.settings.announce_delay

    def _links_of(self, topic: Topic) -> TopicLinks:
        links = self._topics.get(topic)
        if links is None:
            links = {peer: True for peer, shared in self._links.items() if topic in shared}
            self._topics[topic] = links
        return links

    def publish(self, topic: Topic, payload: bytes, now: float) -> EventId:
        """Publish a new event for all that want `topic`, the own application included."""
        context = self._context
        if topic not in context.interest:
            raise UsageError(
                f"topic {topic!r}: node {context.name!r} does not subscribe to it; subscribe first"
            )
        if self._store is None:
            self._allocate()
        previous = self._numbers.get(topic, 0)
        number = (previous or max(context.version << VERSION_BITS, self._highest)) + 1
        self._numbers[topic] = number
        id = EventId(context.name, topic, number)
        event = Event(id, previous, 1, 0.0, payload)
        self._deliver(event, 0, now)
        self._pass_on(event, None, now)
        return id

    def receive(self, peer: NodeId, message: Event | Have | Want | Prune, now: float) -> None:
        """Handle a message. Nonsense, and what a non-neighbor says, is ignored."""
        if peer not in self._links:
            return
        if isinstance(message, Event):
            self._receive_event(peer, message, now)
        elif isinstance(message, Have):
            self._receive_have(peer, message, now)
        elif self._store is not None and isinstance(message, Want):
            self._receive_want(peer, message, self._store, now)
        elif self._store is not None and isinstance(message, Prune):
            self._set_eager(peer, message.topic, eager=False)

    def _receive_event(self, peer: NodeId, event: Event, now: float) -> None:
        id = event.id
        topic = id.topic
        if topic not in self._context.interest:
            self.unwanted += 1
            return
        store = self._store or self._allocate()
        if store.knows(id):
            self._receive_duplicate(peer, id, store)
            return
        if self._impossible(id):
            self.unwanted += 1
            return
        age = event.age if event.age >= 0.0 else 0.0
        if age > self._context.settings.keep_seconds:
            self.late += 1
            return
        if self._missing_events.came(id, peer):
            self.repaired += 1
        hops = min(max(event.hops, 0), MOST_HOPS)
        further = Event(id, event.previous, hops + 1, age, event.payload)
        if age <= self._wanted_for(topic, now):
            self._deliver(further, hops, now)
        links = self._links_of(topic)
        if peer in links:
            links[peer] = True
        self._pass_on(further, peer, now)

    def _receive_duplicate(self, peer: NodeId, id: EventId, store: EventStore) -> None:
        self.duplicates += 1
        held = store.held.get(id)
        if held is not None:
            if held.source == peer:
                # Sent or carried twice: that is the tree's link, and must stay so.
                return
            held.held_by(peer)
        self._set_eager(peer, id.topic, eager=False)
        self._context.send(peer, Prune(id.topic))

    def _impossible(self, id: EventId) -> bool:
        """Tell whether nobody published it: numbers start at 1, and our own of this life are known here."""
        return id.number < 1 or (id.number > self._first and id.publisher == self._context.name)

    def _pass_on(self, event: Event, source: NodeId | None, now: float) -> None:
        """Hold a new event, push it over the eager links, and have it announced over the lazy ones."""
        id = event.id
        links = self._links_of(id.topic)
        store = self._store or self._allocate()
        store.add(event, now - event.age, source)
        to = tuple([peer for peer, eager in links.items() if eager and peer != source])
        if to:
            self._context.effects.append(Send(to, event))
        if len(to) + (source in links) < len(links):
            self._announcer.announce_later(id, now)

    def _deliver(self, event: Event, hops: int, now: float) -> None:
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
        for id, age in zip(message.ids, message.ages, strict=False):
            held = store.held.get(id)
            if held is not None:
                held.held_by(peer)
            elif id.topic in context.interest and not store.knows(id) and not self._impossible(id):
                oldest = max(self._wanted_for(id.topic, now), context.settings.relay_seconds)
                if age <= min(oldest, context.settings.keep_seconds):
                    self._missing_events.announced(id, peer, now)

    def _receive_want(self, peer: NodeId, message: Want, store: EventStore, now: float) -> None:
        store.expire(now)
        for id in dict.fromkeys(message.ids):
            held = store.held.get(id)
            if self._set_eager(peer, id.topic, eager=True) and held is not None:
                event = held.event
                age = max(0.0, now - held.born)
                self._context.send(peer, Event(id, event.previous, event.hops, age, event.payload))

    def _set_eager(self, peer: NodeId, topic: Topic, *, eager: bool) -> bool:
        """Make the link to `peer` eager or lazy for `topic`; return False if it carries no such events."""
        links = self._topics.get(topic)
        if links is None or peer not in links:
            return False
        links[peer] = eager
        return True

    def announce_again(self, now: float) -> None:
        """Announce again, at a heartbeat, what is fresh to all that may have missed it."""
        store = self._store
        if store is not None and store.held:
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
