"""A SpiderCast node: two maintenance tasks, a membership, dissemination, behind one interface.

No clock, no socket, no thread, no randomness of its own: every call brings `now` (seconds on any steady
clock), effects are taken with `take_effects`, and `next_timer` says when `handle_timer` wants to be called.
A fault of a remote node never raises out of `receive`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from random import Random

from topicloom.errors import UsageError
from topicloom.spidercast.protocol import messages as msg
from topicloom.spidercast.protocol.goals import NodeGoals
from topicloom.spidercast.protocol.membership import Membership
from topicloom.spidercast.protocol.messages import EventId, Message, NodeId, Root, Topic, Topics
from topicloom.spidercast.protocol.node_messages import HANDLERS, NodeMessages
from topicloom.spidercast.protocol.node_state import EventCounts, NodeContext, most_unread
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.spidercast.protocol.signing import EventKeys
from topicloom.wire.core import Close, Send
from topicloom.wire.messages import Unknown


class Node(NodeMessages):
    """One participant; see the file's head for how it is driven."""

    __slots__ = ()

    def __init__(
        self,
        name: NodeId,
        interest: Iterable[Topic],
        *,
        membership: Callable[[NodeContext], Membership],
        rng: Random,
        settings: ProtocolSettings | None = None,
        goals: NodeGoals | None = None,
        incarnation: int = 1,
        address: str = "",
        keys: EventKeys | None = None,
    ) -> None:
        """`incarnation` must be higher after each restart of the same node: the time in ms, kept on disk."""
        context = NodeContext(name, frozenset(interest), 1, settings or ProtocolSettings(), rng)
        context.life, context.address, context.keys = incarnation, address, keys
        super().__init__(context, goals or NodeGoals(), membership)

    # -- what a driver calls ----------------------------------------------------------------------------

    def start(self, now: float) -> None:
        """Begin to look for neighbors."""
        self._running = True
        for topic in self._context.interest:
            self._dissemination.subscribed(topic, now)
        self._membership.start(now)
        if self._roots is not None and self._probes is not None:
            self._roots.start(now)
            self._context.unread = []
        for task in self._tasks:
            task.start(now)
        if self._probes is not None:
            self._probes.start(now)
        self._rearm()

    def receive(self, peer: NodeId, message: Message | Unknown, now: float) -> None:
        """Handle a message from `peer`. Nothing that a peer says raises."""
        if not self._running:
            if type(message) is msg.Heartbeat:
                self._context.send(peer, msg.Leave(message.task, gone=True))
            return
        if type(message) is msg.Heartbeat:  # by far the most frequent one
            known = self._tasks[message.task].neighbors.get(peer)
            if known is not None and known.heartbeat is message:  # and nearly always the same as before
                known.heard = now
            elif known is not None and known.unread is not None and len(known.unread) < most_unread(message):
                known.heard, known.heartbeat = now, message
                known.unread.append((peer, message))
            else:
                self._on_heartbeat(peer, message, now)
            return
        if peer == self._context.name:
            self._effects.append(Close(peer, "it has our own name"))
            return
        handler = HANDLERS.get(type(message))
        if handler is None:
            self._close(peer, f"unknown message {type(message).__name__}", now)
            return
        handler(self, peer, message, now)

    def subscribe(self, topics: Iterable[Topic], now: float, *, read: bool = True) -> None:
        """Want more topics. With `read=False` the node only publishes on them: it is a member of their
        overlays and passes events on, but none is delivered."""
        wanted = frozenset(topics)
        added = wanted - self._context.interest
        if added:
            self._change_interest(self._context.interest | added, now)
        # A topic that is read already keeps its time: events under way since then are still delivered.
        for topic in (added | (wanted & self._dissemination.unread)) if read else added:
            self._dissemination.subscribed(topic, now, read=read)

    def unsubscribe(self, topics: Iterable[Topic], now: float) -> None:
        """Want fewer topics; topics that are not wanted anyway are ignored."""
        removed = self._context.interest & frozenset(topics)
        if removed:
            self._change_interest(self._context.interest - removed, now)
            for topic in removed:
                self._dissemination.unsubscribed(topic, now)

    def publish(self, topic: Topic, payload: bytes, now: float) -> EventId:
        """Publish on one of the node's own topics."""
        name = self._context.name
        if not self._running:
            raise UsageError(f"node {name}: it has left or not started; it cannot publish")
        if not isinstance(payload, bytes):
            raise UsageError(f"node {name}: a payload is bytes, not {type(payload).__name__}")
        if topic not in self._context.interest:
            raise UsageError(f"node {name}: publish on topic {topic} needs a subscription to it")
        event = self._dissemination.publish(topic, payload, now)
        self._due = min(self._due, self._dissemination.next_timer())
        return event

    def connected(self, peer: NodeId, host: str, now: float) -> None:
        """Hear from the driver from which host `peer` speaks: one host gets half of the places at most."""
        self._context.addresses.connected(peer, host, self._links)

    def lost(self, peer: NodeId, now: float) -> None:
        """Hear from the driver that the connection to `peer` broke: it is no neighbor any more."""
        self._context.addresses.disconnected(peer)
        self._give_up(peer, "connection lost", now)

    def refused(self, peer: NodeId, now: float) -> None:
        """Hear from the driver that `peer` could not be reached: others are tried for a while."""
        self._context.addresses.refused(peer)
        self._membership.gone(peer, now)
        for task in self._tasks:
            task.refused(peer, now)
        self._give_up(peer, "refused", now)

    def congested(self, peer: NodeId, on: bool, now: float) -> None:
        """Hear from the driver that what is sent to `peer` piles up (or no longer does): while it does, the
        peer is told of events and not sent them."""
        if peer in self._links:
            self._dissemination.congested(peer, on)

    def leave(self, now: float) -> None:
        """Tell the neighbors, and stop. The farewell is sent before the links go."""
        for task in self._tasks:
            task.leave(now)
        self._running = False
        self._due = inf

    def handle_timer(self, now: float) -> None:
        """Do what is due; calling it too early does no harm."""
        if not self._running:
            return
        if now - self._due > self._context.settings.heartbeat:
            self._excuse_stall(now)
        greedy, random = self._tasks
        # The round of announcements goes by the first task that speaks: greedy may be asleep.
        spoke = (greedy.beat if greedy.beat < inf else random.beat) <= now
        roots = self._roots
        if roots is not None:
            if roots.due <= now:
                self._time_roots(roots, now)
            if self._context.unread is not None and (greedy.beat <= now or random.beat <= now):
                self._read_heartbeats(roots, now)
        if greedy.wake <= now or greedy.beat <= now or greedy.alarm <= now:
            greedy.handle_timer(now)
            if self._goals.adaptive:
                self._adapt(now)
        if random.wake <= now or random.beat <= now or random.alarm <= now:
            random.handle_timer(now)
        if roots is not None and self._probes is not None:
            if roots.urgent < inf or greedy.beat <= now or random.beat <= now:
                self._tell_at_once(now)
            if self._probes.due <= now:
                self._probes.handle_timer(self._links, now)
        if spoke:
            self._dissemination.announce_again(now)
        members, events = self._membership.next_timer(), self._dissemination.next_timer()
        if members <= now:
            self._membership.handle_timer(now)
            members = self._membership.next_timer()
        if events <= now:
            self._dissemination.handle_timer(now)
            events = self._dissemination.next_timer()
        self._set_due(members, events)

    # -- what others may look at ------------------------------------------------------------------------

    @property
    def name(self) -> NodeId:
        return self._context.name

    @property
    def interest(self) -> Topics:
        return self._context.interest

    @property
    def incarnation(self) -> int:
        return self._context.life

    @property
    def version(self) -> int:
        """How often the interest has changed in this life, from 1."""
        return self._context.version

    @property
    def running(self) -> bool:
        """Whether it has started and not left."""
        return self._running

    @property
    def event_counts(self) -> EventCounts:
        """What became of the events that reached this node."""
        spread = self._dissemination
        return EventCounts(spread.duplicates, spread.repaired, spread.late, spread.held_bytes)

    @property
    def roots(self) -> dict[Topic, Root]:
        """The root of each topic: its life, its name, the hops to it. Empty without roots."""
        return {} if self._roots is None else dict(self._roots.table)

    def address_of(self, peer: NodeId) -> str:
        """Where `peer` can be reached, as far as it is known: by its own word, else by hearsay."""
        return self._context.addresses.of(peer)

    def has_link(self, peer: NodeId) -> bool:
        return peer in self._links

    def _change_interest(self, interest: Topics, now: float) -> None:
        context = self._context
        before, context.interest = context.interest, interest
        context.version += 1
        self._membership.interest_changed(now)
        for task in self._tasks:
            task.interest_changed(now)
        if self._roots is not None:
            self._roots.interest_changed(now)
            for peer in self._links:
                if not (interest - before).isdisjoint(self._known_interest(peer) or ()):
                    self._ask_again(peer)  # what it said of the roots of new topics was not kept
        self._shared_changed(self._links, now)
        if self._links:
            self._effects.append(Send(tuple(self._links), self._own_interest()))
        self._rearm()
