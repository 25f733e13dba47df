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
from statistics import median
from typing import Any

from topicloom.base.summaries import Summary
from topicloom.mesh.model.mesh import Mesh, components_of, neighbors_by_topic
from topicloom.mesh.run.adapter import Arrival, MeshClients, Publication
from topicloom.mesh.run.inbox import Inbox
from topicloom.mesh.run.running_mesh import RunningMesh

TICK = 0.1  # seconds between two rounds of messages
RATE = 5000  # deliveries in a second that the rounds may ask for: measuring must not slow what it measures


@dataclass(frozen=True, slots=True)
class SplitTopic:
    """A topic without a node: its components, and how backups join them (by their places).

    `silent` are subscribers that do not publish, `deaf` those that need not receive.
    """

    topic: str
    components: tuple[tuple[str, ...], ...]
    joined: tuple[tuple[int, ...], ...]
    silent: frozenset[str] = frozenset()
    deaf: frozenset[str] = frozenset()

    def reachable(self, component: int) -> Iterator[str]:
        """Yield the subscribers that a message from this component should reach."""
        for group in self.joined:
            if component in group:
                for place in group:
                    yield from (node for node in self.components[place] if node not in self.deaf)

    def publishers(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the components somebody publishes in, and who does."""
        for at, members in enumerate(self.components):
            own = [node for node in members if node not in self.silent]
            if own:
                yield at, own


@dataclass(frozen=True, slots=True)
class Recovery:
    """One topic: its components without the node (`parts`), how many are left once backups join them
    (`apart`), and the seconds until all that can be reached heard each other; None if they never did."""

    topic: str
    parts: int
    apart: int
    seconds: float | None


class NodeFailover(Summary, frozen=True, kw_only=True):
    """One killed broker, as `run --json` prints it: its topics counted, then each of them.

    `lost`: topics that did not recover. `seconds_max` and `seconds_median` are of topics that a backup
    joined; those never split waited for nothing. `missing`: deliveries of the last round that did not come.
    `strays` is None where the kind has no probes; `links_at_backups` is how many links stayed with a backup
    when it was back `seconds_back` later; `exact_again` tells of the proof after that.
    """

    node: str
    topics: int
    interrupted: int
    recovered: int
    apart: int
    lost: int
    seconds_max: float | None
    seconds_median: float | None
    missing: int
    duplicates: int
    strays: int | None
    links_at_backups: int
    seconds_back: float
    exact_again: bool
    by_topic: tuple[Recovery, ...]

    @property
    def held(self) -> bool:
        return self.exact_again and not (self.lost or self.missing or self.duplicates or self.strays)


def count_topics(topics: Sequence[Recovery]) -> dict[str, Any]:
    """Return what a failover tells of its topics, by field."""
    took = [one.seconds for one in topics if one.seconds is not None and one.apart < one.parts]
    return {
        "topics": len(topics),
        "interrupted": sum(one.parts > 1 for one in topics),
        "recovered": sum(one.seconds is not None and one.apart == 1 < one.parts for one in topics),
        "apart": sum(one.apart > 1 for one in topics),
        "lost": sum(one.seconds is None for one in topics),
        "seconds_max": max(took, default=None),
        "seconds_median": median(took) if took else None,
        "by_topic": tuple(topics),
    }


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
            everybody = frozenset(topic.subscribers)
            apart = everybody - set(topic.senders), everybody - set(topic.hearers)
            found.append(SplitTopic(topic.topic, tuple(map(tuple, components)), tuple(groups), *apart))
    return found


class RecoveryWatch:
    """Publishes from every component of every topic until each was heard wherever it should be."""

    def __init__(self, topics: Sequence[SplitTopic], inbox: Inbox) -> None:
        self.topics = topics
        self._inbox = inbox
        self._origin: list[tuple[str, int]] = []  # of each message: its topic and component
        self._open = {
            topic.topic: {(at, node) for at, _ in topic.publishers() for node in topic.reachable(at)}
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
                for at, members in topic.publishers():
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
    # After an earlier kill links may not be where the manifest has them.
    links = await running.adapter.links_now(running.mesh)
    topics = split_topics(replace(running.mesh, links=tuple(links)), node)
    inbox = Inbox(time.monotonic)
    watch = RecoveryWatch(topics, inbox)
    clients = await running.connect(watch.arrived)
    try:
        began = time.monotonic()
        running.brokers.kill(node)
        await _watch(running, watch, clients, inbox, began)
        moments = {topic.topic: watch.recovered_at(topic) for topic in topics}
        missing, duplicates = inbox.missing, sum(count - 1 for count in inbox.counts.values())
        seen = clients.seen_strays()
        strays = None if seen is None else sum(one.count for one in seen)
    finally:
        await clients.close()
    back = time.monotonic()
    await running.start([node])
    links_at_backups = await running.wait_in_place()
    seconds_back = time.monotonic() - back
    again = await running.prove_again()
    recoveries = []
    for topic in topics:
        moment = moments[topic.topic]
        seconds = None if moment is None else moment - began
        recoveries.append(Recovery(topic.topic, len(topic.components), len(topic.joined), seconds))
    return NodeFailover(
        node=node,
        missing=missing,
        duplicates=duplicates,
        strays=strays,
        links_at_backups=links_at_backups,
        seconds_back=seconds_back,
        exact_again=again.verdict.exact,
        **count_topics(recoveries),
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
