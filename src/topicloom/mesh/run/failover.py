"""Kill one broker of a running mesh, time until its topics flow again without it, and bring it back.

Without the node each of its topics may split. A link to the killed broker that has a backup joins two of the
components again; components that no backup joins stay split, which is reported and is no fault. From every
component messages are published, one member after the other, until every remaining subscriber that can be
reached has got one from each: the last of these first arrivals is when the topic has recovered.

Duplicates are all arrivals of the same message at the same client after the first one. QoS 1 allows a broker
to send again what was not acknowledged when a connection broke. Bridges with `cleansession true` forget it
instead, and only connections to the killed broker break, so none is expected. What was published while links
were down may be lost. Therefore at the end, when every topic flows again, one more message from every
component must reach everyone that can be reached.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from topicloom.mesh.model.mesh import Mesh, components_of, neighbors_by_topic
from topicloom.mesh.run.adapter import Arrival, MeshClients, Publication, SeesStrays, StaysAtBackup
from topicloom.mesh.run.delivery import DeliveryVerdict
from topicloom.mesh.run.inbox import Inbox
from topicloom.mesh.run.running_mesh import RunningMesh

TICK = 0.1  # seconds between two rounds of messages
RATE = 5000  # deliveries in a second that the rounds may ask for: measuring must not slow what it measures


@dataclass(frozen=True, slots=True)
class SplitTopic:
    """A topic without a node: its components, and how backups join them (by their places)."""

    topic: str
    components: tuple[tuple[str, ...], ...]
    joined: tuple[tuple[int, ...], ...]

    def reachable(self, component: int) -> Iterator[str]:
        """Yield the subscribers that a message from this component should reach."""
        for group in self.joined:
            if component in group:
                for place in group:
                    yield from self.components[place]


@dataclass(frozen=True, slots=True)
class Recovery:
    """One topic: its components without the node (`parts`), how many are left once backups join them
    (`apart`), and the seconds until all that can be reached heard each other; None if they never did."""

    topic: str
    parts: int
    apart: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class NodeFailover:
    """One killed broker. `missing`: deliveries of the last round that did not come. `strays` is None where
    the kind has no probes; `elsewhere` is how many links stayed with a backup when it was back
    `seconds_back` later; `again` is the proof after that."""

    node: str
    topics: tuple[Recovery, ...]
    missing: int
    duplicates: int
    strays: int | None
    elsewhere: int
    seconds_back: float
    again: DeliveryVerdict

    @property
    def held(self) -> bool:
        recovered = all(topic.seconds is not None for topic in self.topics)
        faults = self.missing or self.duplicates or self.strays
        return recovered and not faults and self.again.exact

    def seconds(self) -> list[float]:
        """Return how long topics took that a backup joined; those never split waited for nothing."""
        return [one.seconds for one in self.topics if one.seconds is not None and one.apart < one.parts]


def split_topics(mesh: Mesh, node: str) -> list[SplitTopic]:
    """Return the topics of a node as they are without its broker, but for those with nobody left."""
    kept = [
        (one.dialer, one.acceptor, one.topics) for one in mesh.links if node not in (one.dialer, one.acceptor)
    ]
    near = neighbors_by_topic(kept)
    backups = []
    for link in mesh.links:
        safe = [backup for backup in link.backups if backup != node]
        if link.acceptor == node and safe:
            backups.append((link.dialer, safe[0], link.topics))
    joined_near = neighbors_by_topic([*kept, *backups])
    found = []
    for topic in mesh.topics:
        rest = [other for other in topic.subscribers if other != node]
        if node in topic.subscribers and rest:
            components = components_of(rest, near.get(topic.topic, {}))
            place = {member: index for index, own in enumerate(components) for member in own}
            groups = [
                tuple(sorted({place[member] for member in group}))
                for group in components_of(rest, joined_near.get(topic.topic, {}))
            ]
            found.append(SplitTopic(topic.topic, tuple(map(tuple, components)), tuple(groups)))
    return found


class RecoveryWatch:
    """Publishes from every component of every topic until each was heard wherever it should be."""

    def __init__(self, topics: Sequence[SplitTopic], inbox: Inbox) -> None:
        self.topics = topics
        self._inbox = inbox
        self._origin: list[tuple[str, int]] = []  # of each message: its topic and component
        self._open = {
            topic.topic: {(at, node) for at in range(len(topic.components)) for node in topic.reachable(at)}
            for topic in topics
        }
        self._latest = dict.fromkeys(self._open, 0.0)

    def arrived(self, arrival: Arrival) -> None:
        """Note what a client got."""
        self._inbox.arrived(arrival)
        if arrival.message < len(self._origin):
            topic, component = self._origin[arrival.message]
            if (component, arrival.node) in self._open[topic]:
                self._open[topic].remove((component, arrival.node))
                self._latest[topic] = time.monotonic()

    def publications(self, turn: int, *, whole: bool) -> list[Publication]:
        """Plan and expect a message from every component of the topics not yet recovered, or of all."""
        planned: list[Publication] = []
        for topic in self.topics:
            if whole or self._open[topic.topic]:
                for at, members in enumerate(topic.components):
                    number = len(self._origin)
                    self._origin.append((topic.topic, at))
                    self._inbox.expect(Arrival(node, topic.topic, number) for node in topic.reachable(at))
                    planned.append(Publication(members[turn % len(members)], topic.topic, number))
        return planned

    def recovered_at(self, topic: SplitTopic) -> float | None:
        """Return when the last subscriber first heard of a component; None if one did not."""
        return None if self._open[topic.topic] else self._latest[topic.topic]


async def fail_over(running: RunningMesh, node: str) -> NodeFailover:
    """Kill the broker of `node`, watch, bring it back, and prove the mesh again."""
    mesh = running.mesh
    # After an earlier kill links are not where the manifest has them.
    if isinstance(running.adapter, StaysAtBackup):
        mesh = replace(mesh, links=tuple(await running.adapter.links_now(mesh)))
    topics = split_topics(mesh, node)
    inbox = Inbox(time.monotonic)
    watch = RecoveryWatch(topics, inbox)
    clients = await running.connect(watch.arrived)
    try:
        began = time.monotonic()
        running.brokers.kill(node)
        await _watch(running, watch, clients, inbox, began)
        moments = {topic.topic: watch.recovered_at(topic) for topic in topics}
        missing, duplicates = inbox.missing, sum(count - 1 for count in inbox.counts.values())
        strays = sum(one.count for one in clients.seen_strays()) if isinstance(clients, SeesStrays) else None
    finally:
        await clients.close()
    back = time.monotonic()
    await running.start([node])
    await running.wait_linked()
    elsewhere = await running.wait_in_place()
    seconds_back = time.monotonic() - back
    inbox = Inbox(time.monotonic)
    clients = await running.connect(inbox.arrived)
    try:
        again = await running.prove(2, clients, inbox)
    finally:
        await clients.close()
    recoveries = []
    for topic in topics:
        moment = moments[topic.topic]
        seconds = None if moment is None else moment - began
        recoveries.append(Recovery(topic.topic, len(topic.components), len(topic.joined), seconds))
    return NodeFailover(
        node, tuple(recoveries), missing, duplicates, strays, elsewhere, seconds_back, again.verdict
    )


async def _watch(
    running: RunningMesh, watch: RecoveryWatch, clients: MeshClients, inbox: Inbox, began: float
) -> None:
    turn = 0
    while time.monotonic() - began < running.settings.timeout and not inbox.storm:
        before = inbox.due
        planned = watch.publications(turn, whole=False)
        if not planned:
            break
        await running.publish(clients, planned, inbox)
        await asyncio.sleep(max(TICK, (inbox.due - before) / RATE))
        turn += 1
    # Once more on all topics, now that every link has found its place: each must come once and everywhere.
    inbox.give_up()
    check = running.brokers.check_alive
    await running.publish(clients, watch.publications(turn, whole=True), inbox)
    await inbox.wait(running.settings.quiet, check)
    await inbox.settle(running.settings.settle, check)
