"""The links that carry a node's events, topic by topic, and what is kept once there are events.

A link carries the events of a topic that both its ends want. It is eager (events are pushed) or lazy (only
ids are). A node where nothing was published keeps nothing but its links.
"""

from __future__ import annotations

from collections.abc import Collection
from math import inf

from topicloom.spidercast.protocol.announcements import EventAnnouncer, MissingEvents, TopicLinks
from topicloom.spidercast.protocol.event_rules import EventLinkState
from topicloom.spidercast.protocol.event_store import EventStore
from topicloom.spidercast.protocol.messages import NodeId, Topic, Topics
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.ordering import Ordering

# Numbers of a life start at incarnation << LIFE_BITS: a life may publish a million events on a topic for each
# millisecond until the next life.
LIFE_BITS = 20


class EventLinks:
    """Links by neighbor and by topic; the store and its helpers, made when the first event comes."""

    __slots__ = (
        "_announcer", "_answered", "_congested", "_context", "_first", "_highest", "_hurried", "_links",
        "_missing_events", "_next_round", "_numbers", "_ordering", "_since", "_since_later", "_store",
        "_topics", "delivered", "duplicates", "forged", "late", "repaired", "unread", "unwanted",
    )  # fmt: skip

    def __init__(self, context: NodeContext) -> None:
        self._context = context
        self._first = context.life << LIFE_BITS
        # The caller's own collections: never copied, a node may have many.
        self._links: dict[NodeId, Collection[Topic]] = {}
        self._since = -inf  # when the first topic was subscribed to; others only if at another time
        self._since_later: dict[Topic, float] | None = None
        self._store: EventStore | None = None  # and with it everything that `_allocate` makes
        self.unread: Topics = frozenset()  # topics that the node only publishes on
        self.delivered = self.duplicates = self.late = self.repaired = self.unwanted = self.forged = 0

    @property
    def held_bytes(self) -> int:
        """The bytes of the events that are held for others."""
        return 0 if self._store is None else self._store.held_bytes

    def _allocate(self) -> EventStore:
        """Make what is needed once there are events."""
        settings = self._context.settings
        most = max(1, settings.max_missing)
        self._store = EventStore(settings)
        self._missing_events = MissingEvents(settings.repair_timeout, max(1, settings.announce_rounds), most)
        self._ordering = (
            Ordering(
                settings.order_wait,
                most,
                settings.remember_ids,
                most_bytes=settings.keep_bytes,
                stream_bytes=settings.remember_bytes,
            )
            if settings.ordered
            else None
        )
        self._topics: dict[Topic, TopicLinks] = {}
        self._answered: dict[NodeId, int] = {}  # bytes sent to those that asked, since the last heartbeat
        self._congested: set[NodeId] = set()
        # Neighbors that were asked for an event of a topic at once, since the tree broke here.
        self._hurried: set[tuple[NodeId, Topic]] = set()
        self._announcer = EventAnnouncer(self._context, self._store, self._topics, self._congested)
        self._numbers: dict[Topic, int] = {}
        self._next_round = -inf  # when events may be announced again
        self._highest = self._first
        return self._store

    def link_up(self, peer: NodeId, shared: Collection[Topic], now: float) -> None:
        """Take `peer` as a neighbor; both ends want the topics in `shared`."""
        self._share(peer, shared, (), now)

    def shared_changed(self, peer: NodeId, shared: Collection[Topic], now: float) -> None:
        """Note that an interest changed at one of the ends."""
        before = self._links.get(peer)
        if before is not None:
            self._share(peer, shared, before, now)

    def link_down(self, peer: NodeId, now: float) -> None:
        """Note that `peer` is a neighbor no longer."""
        self._links.pop(peer, None)
        if self._store is not None:
            self._announcer.forget(peer)
            self._congested.discard(peer)
            for topic, links in self._topics.items():
                self._hurried.discard((peer, topic))
                if links.pop(peer, False):  # the tree broke here: the next event goes over all links
                    links.update(dict.fromkeys(links, True))
                    self._hurried.difference_update([(other, topic) for other in links])

    def _share(self, peer: NodeId, shared: Collection[Topic], before: Collection[Topic], now: float) -> None:
        self._links[peer] = shared
        store = self._store
        if store is None:
            return
        for topic, links in self._topics.items():
            if topic not in shared:
                links.pop(peer, None)
            elif topic not in before or peer not in links:
                links[peer] = True
        if store.held and not set(before).issuperset(shared):
            self._announcer.announce_all_to(peer, now)

    def subscribed(self, topic: Topic, now: float, *, read: bool = True) -> None:
        """Want `topic` from now on; without `read` nothing of it is delivered, only passed on."""
        self.unread = self.unread - {topic} if read else self.unread | {topic}
        if self._since == -inf:
            self._since = now
        if now != self._since:
            self._since_later = self._since_later or {}
            self._since_later[topic] = now

    def unsubscribed(self, topic: Topic, now: float) -> None:
        """Want `topic` no more: nothing of it is held, asked for or delivered."""
        self.unread -= {topic}
        if self._since_later is not None:
            self._since_later.pop(topic, None)
        if self._store is None:
            return
        self._topics.pop(topic, None)
        self._hurried = {pair for pair in self._hurried if pair[1] != topic}
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

    def state_of(self, peer: NodeId, topic: Topic) -> EventLinkState:
        """Return what the link to `peer` is to the events of `topic`, in the words of `event_rules.py`."""
        if topic not in self._links.get(peer, ()) or topic not in self._context.interest:
            return EventLinkState.APART
        links = None if self._store is None else self._topics.get(topic)
        return EventLinkState.EAGER if links is None or links[peer] else EventLinkState.LAZY

    def congested(self, peer: NodeId, on: bool) -> None:
        """Push nothing to a neighbor whose connection is full; it is told of events and asks for them."""
        if self._store is None:
            self._allocate()
        (self._congested.add if on else self._congested.discard)(peer)

    def _links_of(self, topic: Topic) -> TopicLinks:
        links = self._topics.get(topic)
        if links is None:
            links = {peer: True for peer, shared in self._links.items() if topic in shared}
            self._topics[topic] = links
        return links

    def _is_last_eager(self, peer: NodeId, topic: Topic) -> bool:
        """Tell whether the link to `peer` is the only eager one. It stays so: where many publish at once each
        link may bring a duplicate, and a node without eager links gets events late and cannot hand out its
        own."""
        links = self._topics.get(topic)
        return links is not None and links.get(peer, False) and sum(links.values()) == 1

    def _set_eager(self, peer: NodeId, topic: Topic, *, eager: bool) -> bool:
        """Make the link to `peer` eager or lazy for `topic`; return False if it carries no such events."""
        links = self._topics.get(topic)
        if links is None or peer not in links:
            return False
        links[peer] = eager
        return True
