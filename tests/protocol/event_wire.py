"""A fake wire with a manual clock that joins the dissemination of several nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import pairwise
from math import inf
from random import Random

from topicloom.protocol.context import Context
from topicloom.protocol.dissemination import Dissemination
from topicloom.protocol.effects import Deliver, Send
from topicloom.protocol.messages import Event, EventId, Have, Message, NodeId, Prune, Topic, Want
from topicloom.protocol.settings import Settings

Spread = Event | Have | Want | Prune


class Wire:
    """Some nodes, links between them, and messages under way. Latencies differ, so messages overtake."""

    def __init__(
        self, seed: int = 1, latency: tuple[float, float] = (0.01, 0.03), **constants: object
    ) -> None:
        self.settings = Settings(**constants)  # type: ignore[arg-type]
        self.random = Random(seed)
        self.latency = latency
        self.loss = 0.0
        self.now = 0.0
        self.queue: list[tuple[float, int, Callable[[], None]]] = []
        self.count = 0
        self.nodes: dict[NodeId, Dissemination] = {}
        self.contexts: dict[NodeId, Context] = {}
        self.links: set[tuple[NodeId, NodeId]] = set()
        self.got: dict[NodeId, list[Deliver]] = {}
        self.sent: Counter[str] = Counter()

    def at(self, time: float, action: Callable[[], None]) -> None:
        self.count += 1
        heappush(self.queue, (time, self.count, action))

    def add(self, name: NodeId, topics: Iterable[Topic] = "x") -> Dissemination:
        context = Context(name, frozenset(topics), 1, self.settings, Random(0))
        node = self.nodes[name] = Dissemination(context)
        self.contexts[name] = context
        self.got[name] = []
        for topic in sorted(context.interest, key=str):
            node.subscribed(topic, self.now)
        self.at(self.now + self.random.uniform(0.0, self.settings.heartbeat), lambda: self.beat(name, node))
        return node

    def beat(self, name: NodeId, node: Dissemination) -> None:
        if self.nodes.get(name) is node:
            node.round(self.now)
            self.carry_out(name)
            self.at(self.now + self.settings.heartbeat, lambda: self.beat(name, node))

    def join(self, a: NodeId, b: NodeId) -> None:
        shared = self.contexts[a].interest & self.contexts[b].interest
        self.links |= {(a, b), (b, a)}
        for one, other in ((a, b), (b, a)):
            self.nodes[one].link_up(other, shared, self.now)
            self.carry_out(one)

    def part(self, a: NodeId, b: NodeId) -> None:
        self.links -= {(a, b), (b, a)}
        for one, other in ((a, b), (b, a)):
            if one in self.nodes:
                self.nodes[one].link_down(other, self.now)
                self.carry_out(one)

    def crash(self, name: NodeId) -> None:
        """No last word; the neighbors notice when their detector tells them."""
        del self.nodes[name]
        for one, other in sorted(self.links):
            if one == name:
                self.at(self.now + self.settings.detector, lambda other=other: self.part(name, other))

    def want(self, name: NodeId, topics: Iterable[Topic]) -> None:
        """Change an interest; both ends of each link hear of it at once."""
        context = self.contexts[name]
        before, context.interest = context.interest, frozenset(topics)
        context.version += 1
        for one, other in sorted(self.links):
            if name in (one, other):
                shared = self.contexts[one].interest & self.contexts[other].interest
                self.nodes[one].shared_changed(other, shared, self.now)
        for topic in context.interest - before:
            self.nodes[name].subscribed(topic, self.now)
        for topic in before - context.interest:
            self.nodes[name].unsubscribed(topic, self.now)
        for one in list(self.nodes):
            self.carry_out(one)

    def publish(self, name: NodeId, payload: bytes = b"", topic: Topic = "x") -> EventId:
        id = self.nodes[name].publish(topic, payload, self.now)
        self.carry_out(name)
        return id

    def carry_out(self, name: NodeId) -> None:
        effects = self.contexts[name].effects
        for effect in effects:
            if isinstance(effect, Send):
                for to in effect.to:
                    self.sent[type(effect.message).__name__] += 1
                    if self.random.random() >= self.loss:
                        self.carry(name, to, effect.message)
            else:
                assert isinstance(effect, Deliver)
                self.got[name].append(effect)
        effects.clear()
        due = self.nodes[name].next_timer()
        if due < inf:
            self.at(max(due, self.now), lambda: self.wake(name))

    def carry(self, name: NodeId, to: NodeId, message: Message) -> None:
        def arrive() -> None:
            if to in self.nodes and (name, to) in self.links:
                assert isinstance(message, Spread)
                self.nodes[to].receive(name, message, self.now)
                self.carry_out(to)

        self.at(self.now + self.random.uniform(*self.latency), arrive)

    def wake(self, name: NodeId) -> None:
        if name in self.nodes and self.nodes[name].next_timer() <= self.now:
            self.nodes[name].handle_timer(self.now)
            self.carry_out(name)

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while self.queue and self.queue[0][0] <= end:
            self.now, _, action = heappop(self.queue)
            action()
        self.now = end

    def receivers(self, id: EventId) -> list[NodeId]:
        """Who got the event, each as often as it did."""
        return sorted(name for name, got in self.got.items() for event in got if event.id == id)

    def total(self, counter: str) -> int:
        return sum(getattr(node, counter) for node in self.nodes.values())


def mesh(n: int, extra: int, **constants: object) -> Wire:
    """A ring of n nodes with some chords."""
    wire = Wire(**constants)  # type: ignore[arg-type]
    for name in range(n):
        wire.add(name)
    chords = [(a, b) for a in range(n) for b in range(a + 2, n) if (a, b) != (0, n - 1)]
    for a, b in [*pairwise(range(n)), (n - 1, 0), *wire.random.sample(chords, extra)]:
        wire.join(a, b)
    return wire


def line(n: int, **constants: object) -> Wire:
    wire = Wire(**constants)  # type: ignore[arg-type]
    for name in range(n):
        wire.add(name)
    for a, b in pairwise(range(n)):
        wire.join(a, b)
    return wire


def eager(wire: Wire) -> set[tuple[NodeId, NodeId]]:
    return {(a, b) for a, node in wire.nodes.items() for b, is_eager in node._topics["x"].items() if is_eager}
