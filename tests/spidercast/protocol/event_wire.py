"""A fake wire with a manual clock that joins the dissemination of several nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from topicloom.simulation.links import Links
from topicloom.simulation.loop import Loop
from topicloom.spidercast.protocol.dissemination import Dissemination
from topicloom.spidercast.protocol.messages import Event, EventId, Graft, Have, NodeId, Prune, Topic, Want
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.wire.core import BaseCore, Deliver, Effect, Send

Spread = Event | Have | Want | Graft | Prune


class Got(NamedTuple):
    """One delivery."""

    id: EventId
    payload: bytes
    hops: int


class Spreader(BaseCore):
    """A core that only disseminates: what a node does for it is a round per heartbeat."""

    def __init__(
        self, wire: Wire, name: NodeId, node: Dissemination, context: NodeContext, beat: float
    ) -> None:
        super().__init__(context.effects)
        self._wire, self._name, self._node = wire, name, node
        self._period, self._beat = context.settings.heartbeat, beat

    def start(self, now: float) -> None:
        pass

    def receive(self, peer: NodeId, message: Any, now: float) -> None:
        if (peer, self._name) in self._wire.links:
            assert isinstance(message, Spread)
            self._node.receive(peer, message, now)

    def next_timer(self) -> float:
        return min(self._beat, self._node.next_timer())

    def handle_timer(self, now: float) -> None:
        if self._beat <= now:
            self._beat = now + self._period
            self._node.announce_again(now)
        if self._node.next_timer() <= now:
            self._node.handle_timer(now)
        assert self.next_timer() > now, "a driver would spin"


class Wire:
    """Some nodes, links between them, and messages under way. Latencies differ, so messages overtake."""

    def __init__(
        self, seed: int = 1, latency: tuple[float, float] = (0.01, 0.03), **constants: object
    ) -> None:
        self.settings = ProtocolSettings(**constants)  # type: ignore[arg-type]
        self.random = Random(seed)
        self.latency = latency
        self.loss = 0.0
        self.loop: Loop[Spreader] = Loop(Links(self._delay), self._carry_out)
        self.nodes: dict[NodeId, Dissemination] = {}
        self.contexts: dict[NodeId, NodeContext] = {}
        self.links: set[tuple[NodeId, NodeId]] = set()
        self.got: dict[NodeId, list[Got]] = {}
        self.sent: Counter[str] = Counter()

    @property
    def now(self) -> float:
        return self.loop.now

    def add(self, name: NodeId, topics: Iterable[Topic] = "x") -> Dissemination:
        context = NodeContext(name, frozenset(topics), 1, self.settings, Random(0), life=1)
        node = self.nodes[name] = Dissemination(context)
        self.contexts[name] = context
        self.got[name] = []
        for topic in sorted(context.interest, key=str):
            node.subscribed(topic, self.now)
        beat = self.now + self.random.uniform(0.0, self.settings.heartbeat)
        self.loop.enter(name, Spreader(self, name, node, context, beat))
        return node

    def join(self, a: NodeId, b: NodeId) -> None:
        shared = self.contexts[a].interest & self.contexts[b].interest
        self.links |= {(a, b), (b, a)}
        for one, other in ((a, b), (b, a)):
            self.nodes[one].link_up(other, shared, self.now)
            self.loop.settle(one)

    def part(self, a: NodeId, b: NodeId) -> None:
        self.links -= {(a, b), (b, a)}
        for one, other in ((a, b), (b, a)):
            if one in self.nodes:
                self.nodes[one].link_down(other, self.now)
                self.loop.settle(one)

    def crash(self, name: NodeId) -> None:
        """No last word; the neighbors notice when their detector tells them."""
        del self.nodes[name]
        self.loop.remove(name)
        for one, other in sorted(self.links):
            if one == name:
                self.loop.call_at(
                    self.now + self.settings.detector, lambda now, other=other: self.part(name, other)
                )

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
            self.loop.settle(one)

    def publish(self, name: NodeId, payload: bytes = b"", topic: Topic = "x") -> EventId:
        id = self.nodes[name].publish(topic, payload, self.now)
        self.loop.settle(name)
        return id

    def _carry_out(self, name: NodeId, effects: Sequence[Effect], cause: Any) -> None:
        for effect in effects:
            if isinstance(effect, Send):
                self.sent[type(effect.message).__name__] += len(effect.to)
                self.loop.send(name, effect.to, effect.message)
            else:
                assert isinstance(effect, Deliver)
                self.got[name].append(Got(effect.event.id, effect.event.payload, effect.hops))

    def _delay(self, name: NodeId, to: NodeId) -> float | None:
        return None if self.random.random() < self.loss else self.random.uniform(*self.latency)

    def run(self, seconds: float) -> None:
        self.loop.run(self.now + seconds)

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
