"""Drive SpiderCast nodes in virtual time: carry out their effects and count what they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from topicloom.simulation.links import Links
from topicloom.simulation.loop import Loop
from topicloom.simulation.repeats import Repeats
from topicloom.spidercast.protocol.insight import dismantle, ear_of
from topicloom.spidercast.protocol.messages import (
    Event,
    EventId,
    Graft,
    Have,
    Heartbeat,
    NodeId,
    Prune,
    Topic,
    Want,
)
from topicloom.spidercast.protocol.node import Node
from topicloom.spidercast.protocol.node_state import Neighbor, most_unread
from topicloom.spidercast.simulator.connections import Connections
from topicloom.wire.core import Close, Deliver, Effect, LinkDown, LinkUp, Send

# The messages that exist because of published events; all others are control messages.
EVENT_MESSAGES: tuple[type, ...] = (Event, Have, Want, Graft, Prune)


@dataclass(slots=True)
class Counters:
    """Running totals. `waiting` holds, for each event, the nodes that must still get it."""

    messages: Counter[type] = field(default_factory=Counter)
    lost: int = 0
    links_made: int = 0
    links_ended: int = 0
    published: int = 0
    delivered: int = 0
    hops: Counter[int] = field(default_factory=Counter)
    expected: int = 0
    waiting: dict[EventId, set[int]] = field(default_factory=dict)
    waited: float = 0.0
    _published_at: dict[EventId, float] = field(default_factory=dict)

    @property
    def heartbeats(self) -> int:
        return self.messages[Heartbeat]

    @property
    def event_messages(self) -> int:
        return sum(self.messages[kind] for kind in EVENT_MESSAGES)

    @property
    def control_messages(self) -> int:
        """Everything else: what building and keeping the overlay costs beside heartbeats."""
        return self.messages.total() - self.heartbeats - self.event_messages

    def publish(self, event: EventId, expected: set[int], now: float) -> None:
        """Count an event; `expected` are the present nodes that want the topic: all must get it."""
        self.published += 1
        self.expected += len(expected)
        if expected:
            self.waiting[event] = expected
            self._published_at[event] = now

    def deliver(self, node: int, event: EventId, hops: int, now: float) -> None:
        self.delivered += 1
        self.hops[hops] += 1
        waiting = self.waiting.get(event)
        if waiting is None or node not in waiting:
            return
        waiting.discard(node)
        self.waited = max(self.waited, now - self._published_at[event])
        if not waiting:
            self._close(event)

    def expect_no_more(self, node: int, topics: Container[Topic] | None = None) -> None:
        """Expect no delivery to `node` any more, because it went away or no longer wants `topics`."""
        for event in [event for event, nodes in self.waiting.items() if node in nodes]:
            if topics is not None and event.topic not in topics:
                continue
            self.waiting[event].discard(node)
            self.expected -= 1
            if not self.waiting[event]:
                self._close(event)

    def _close(self, event: EventId) -> None:
        del self.waiting[event], self._published_at[event]

    @property
    def missing(self) -> int:
        """The number of deliveries that are still due."""
        return sum(len(nodes) for nodes in self.waiting.values())


class World(Loop[Node]):
    """Nodes by number, and what they have done so far."""

    def __init__(self, links: Links, *, reset: bool = False) -> None:
        super().__init__(links, self._carry_out_of, Repeats(Heartbeat, _task_of, _ear_of, most_unread))
        self.counters = Counters()
        self.connections = Connections(self, links.delay, reset=reset)
        self._watches = reset or links.shape is not None  # whether connections matter for what is sent

    def leave(self, number: int) -> None:
        """Let a node tell its neighbors that it leaves, and remove it."""
        self.tell(number, lambda node: node.leave(self.now))
        dismantle(self.remove(number))
        self.connections.left(number)

    def crash(self, number: int) -> None:
        """Remove a node without a word; its ends of its links end with it, the others when noticed."""
        node = self.remove(number)
        self.counters.links_ended += len(node.neighbors)
        self.connections.crashed(number, node.neighbors)
        dismantle(node)

    def thaw(self, name: NodeId) -> None:
        """Let a frozen node go on; it hears what became of its connections too."""
        super().thaw(name)
        self.connections.thawed(name)

    def publish(self, number: int, topic: int, expected: set[int], payload: bytes = b"") -> None:
        """Let a node publish an event that `expected` must get."""
        node = self.present(number)
        self.counters.publish(node.publish(topic, payload, self.now), expected, self.now)
        self.settle(number)

    def _carry_out_of(self, number: int, effects: Sequence[Effect], cause: object) -> None:
        counters = self.counters
        for effect in effects:
            if type(effect) is Send:
                counters.messages[type(effect.message)] += len(effect.to)
                counters.lost += self.send(number, effect.to, effect.message)
                if self._watches:
                    self.connections.sent(number, effect.to)
            elif type(effect) is Deliver:
                counters.deliver(number, effect.event.id, effect.hops, self.now)
            elif type(effect) is LinkUp:
                counters.links_made += 1
            elif type(effect) is LinkDown:
                counters.links_ended += 1
                if self._watches:
                    self.connections.released(number, effect.peer)
            elif type(effect) is Close:
                self.connections.close(number, effect.peer)


def _task_of(message: Heartbeat) -> int:
    return message.task


def _ear_of(core: object, sender: NodeId, message: Heartbeat) -> Neighbor | None:
    """Return where a node notes this heartbeat, if it expects it."""
    return ear_of(core, sender, message) if type(core) is Node else None
