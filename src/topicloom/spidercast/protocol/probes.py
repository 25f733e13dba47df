"""Look for nodes that name another root for a topic, and ask them to become neighbors.

Every `probe` seconds a node sends the roots of its topics to a node that it knows of and that is no neighbor,
for each of its topics in turn. Whoever names another root for one of them is in another component, and
sends CONNECT. Only roots that have been the same for a while count: during an election everybody differs.

A found difference raises an *alarm*: where one topic was split others are too. The node then asks for each
of its topics at once, some times over. Those that it reaches across the cut do the same, so after a cut the
alarm reaches everybody within a second, and costs nothing otherwise. What gossip says of other nodes' roots
is only a hint: whoever seems to differ is probed first.
"""

from __future__ import annotations

from collections.abc import Collection
from math import inf

from topicloom.spidercast.protocol.membership import Membership, NeighborChoice
from topicloom.spidercast.protocol.messages import NodeId, Probe, Roots, Topic
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.root_parents import HOLD
from topicloom.spidercast.protocol.roots import LISTENING, PATIENCE, TopicRoots, sort_topics

ROUNDS = 3  # how often a node in alarm asks for each topic
MOST_PROBED = 64  # nodes probed a moment ago that are remembered


class Probes:
    """The probes of one node. `due` is when the next one is sent."""

    __slots__ = ("_context", "_left", "_membership", "_probed", "_roots", "_topics", "due")

    def __init__(self, context: NodeContext, roots: TopicRoots, membership: Membership) -> None:
        self._context, self._roots, self._membership = context, roots, membership
        self._topics: list[Topic] = []  # those to ask for, the next one last
        self._left = 0  # probes of the alarm that are still to be sent
        self._probed: dict[NodeId, float] = {}
        self.due = inf

    def start(self, now: float) -> None:
        """Begin at a random point of the period, when roots have settled: before that everybody differs."""
        settings = self._context.settings
        begun = now + (LISTENING + PATIENCE + HOLD) * settings.heartbeat
        self.due = begun + self._context.rng.random() * settings.probe

    def start_early(self, now: float) -> None:
        """Begin within a heartbeat: a root that the view promises did not come."""
        settings = self._context.settings
        self.due = min(self.due, now + self._context.rng.random() * settings.heartbeat)

    def handle_timer(self, linked: Collection[NodeId], now: float) -> None:
        """Send one probe: to a node of which gossip says that it differs, or to one with the next topic."""
        settings = self._context.settings
        peer = self._next_suspect(linked)
        if peer is None:
            topic = self._next_topic()
            peer = None if topic is None else self._choose(topic, linked)
        if peer is not None:
            self._probed.pop(peer, None)
            self._probed[peer] = now
            if len(self._probed) > MOST_PROBED:
                del self._probed[next(iter(self._probed))]
            self._context.send(peer, Probe(self._roots.settled(now)))
        self._left = max(0, self._left - 1)
        hurried = self._left or self._context.suspects
        self.due = now + (settings.connect_timeout if hurried else settings.probe)

    def _next_suspect(self, linked: Collection[NodeId]) -> NodeId | None:
        suspects = self._context.suspects
        while suspects:
            peer = next(iter(suspects))
            del suspects[peer]
            if peer not in linked:
                return peer
        return None

    def _choose(self, topic: Topic, linked: Collection[NodeId]) -> NodeId | None:
        banned = {*linked, self._context.name}
        return self._membership.choose(NeighborChoice.COVERING, (topic,), banned, self._context.rng)

    def linked(self, peer: NodeId, roots: Roots, now: float) -> None:
        """Note that a neighbor came; one that was probed came because it names another root."""
        if not self._probed:
            return
        probed = self._probed.pop(peer, -inf)
        if probed + self._context.settings.connect_quarantine > now and self._differs(roots, now):
            self.raise_alarm(now)

    def _differs(self, roots: Roots, now: float) -> bool:
        return self._roots.differ({topic: root[:2] for topic, root in roots.items()}, now)

    def hurry(self, now: float) -> None:
        """Send the next probe soon."""
        self.due = min(self.due, now + self._context.settings.connect_timeout)

    def raise_alarm(self, now: float) -> None:
        """Ask for every topic soon."""
        if self._left <= 0:
            self._left = ROUNDS * len(self._context.interest)
            self.due = now

    def _next_topic(self) -> Topic | None:
        interest = self._context.interest
        while self._topics:
            topic = self._topics.pop()
            if topic in interest:
                return topic
        self._topics = sort_topics(interest)
        self._context.rng.shuffle(self._topics)
        return self._topics.pop() if self._topics else None
