"""Cut or stall links of a running mesh under load: what is lost, what comes twice, what brokers then retain.

Messages are published on all topics all the time. Some seconds later the links are broken, some seconds later
mended. In a durable mesh all that was published must arrive; elsewhere what was lost is only counted. A
message may come twice where a broker could not know that the other end had it: those under way over a link,
in one direction, at the moment of the cut, no more. Of a topic with one publisher every broker must retain
the last value in the end.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from topicloom.base.summaries import Summary
from topicloom.errors import MeshError, UsageError
from topicloom.mesh.model.mesh import Mesh, MeshLink, neighbors_by_topic
from topicloom.mesh.model.search import search
from topicloom.mesh.run.adapter import Arrival, MeshClients, Publication
from topicloom.mesh.run.delivery import due_arrivals
from topicloom.mesh.run.detours import Detours, How
from topicloom.mesh.run.inbox import Inbox
from topicloom.mesh.run.retained import count_wrong, retain_values
from topicloom.mesh.run.running_mesh import RunningMesh

TICK = 0.2  # seconds between two rounds of messages
BEFORE = 1.0  # seconds of traffic before anything breaks
HOLD = {"cut": 4.0, "stall": 14.0}  # seconds until links are mended; a stalled one is noticed after up to 12
IN_FLIGHT = 20  # messages that Mosquitto sends over one link before it waits for answers


class BrokenLinks(Summary, frozen=True, kw_only=True):
    """Links that were cut or stalled together, as `run --json` prints it.

    `lost` deliveries of all that was published; `doubled` are messages that came to somebody more than once,
    `doubled_most` how many of them one link doubled in one direction.
    `retained` brokers were asked for topics of one publisher, `retained_wrong` had no value or an old one;
    None where brokers retain nothing.
    """

    how: str
    links: int
    seconds: float
    durable: bool
    published: int
    delivered: int
    lost: int
    doubled: int
    doubled_most: int
    retained: int | None
    retained_wrong: int | None
    seconds_back: float
    exact_again: bool

    @property
    def held(self) -> bool:
        twice = IN_FLIGHT if self.durable else 0
        whole = not self.lost if self.durable else True
        return self.exact_again and whole and self.doubled_most <= twice and not self.retained_wrong


@dataclass(slots=True)
class _Flow:
    """What is published while links break."""

    sent: list[Publication] = field(default_factory=list)
    number: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def next(self) -> int:
        """Return the number of the next message."""
        self.number += 1
        return self.number


async def break_links(
    running: RunningMesh, detours: Detours, links: Sequence[MeshLink], how: How
) -> BrokenLinks:
    """Break these links under load, at their backups too, mend them, and prove the mesh again."""
    pairs = {(link.dialer, end) for link in links for end in (link.acceptor, *link.backups)}
    inbox, flow = Inbox(time.monotonic), _Flow()
    clients = await running.connect(inbox.arrived)
    publishing = asyncio.create_task(_publish(running, clients, inbox, flow))
    try:
        kept = await retain_values(running, clients, flow.next)
        await _last(running, BEFORE)
        began = time.monotonic()
        detours.break_(pairs, how)
        await _last(running, HOLD[how] / 2)
        kept |= await retain_values(running, clients, flow.next)
        await _last(running, HOLD[how] / 2)
        detours.mend()
        mended = time.monotonic()
        await running.wait_in_place()
        back = time.monotonic()
        wrong = await count_wrong(running, kept)
        flow.ended.set()
        await publishing
        check = running.brokers.check_alive
        await inbox.wait(running.settings.quiet, check)
        await inbox.settle(running.settings.settle, check)
    finally:
        detours.mend()
        flow.ended.set()
        publishing.cancel()
        await asyncio.gather(publishing, return_exceptions=True)
        await clients.close()
    due = due_arrivals(running.mesh, flow.sent)
    return BrokenLinks(
        how=how,
        links=len(links),
        seconds=mended - began,
        durable="durable" in running.mesh.options,
        published=len(flow.sent),
        delivered=len(due & inbox.counts.keys()),
        lost=len(due - inbox.counts.keys()),
        doubled=len({one.message for one, count in inbox.counts.items() if count > 1}),
        doubled_most=max(doubled_by_link(running.mesh, flow.sent, inbox.counts).values(), default=0),
        retained=len(kept) if running.adapter.retains else None,
        retained_wrong=wrong if running.adapter.retains else None,
        seconds_back=back - mended,
        exact_again=await _exact(running),
    )


def doubled_by_link(
    mesh: Mesh, sent: Sequence[Publication], counts: Mapping[Arrival, int]
) -> dict[tuple[str, str], int]:
    """Count the messages that came twice over a link, by where it came from and where to.

    Whoever gets a message twice passes it on twice. So of all that got it twice, it was doubled on the way to
    those whose neighbor towards the publisher got it once.
    """
    near = neighbors_by_topic(
        (link.dialer, end, link.topics) for link in mesh.links for end in (link.acceptor, *link.backups)
    )
    publications = {one.message: one for one in sent}
    found: Counter[tuple[str, str]] = Counter()
    for arrival, count in counts.items():
        if count > 1 and arrival.message in publications:
            ways = near.get(arrival.topic, {})
            over = search(publications[arrival.message].node, lambda node, ways=ways: ways.get(node, ()))  # type: ignore[misc]
            before = over.get(arrival.node, arrival.node)
            if counts.get(Arrival(before, arrival.topic, arrival.message), 0) <= 1:
                found[before, arrival.node] += 1
    return found


async def _publish(running: RunningMesh, clients: MeshClients, inbox: Inbox, flow: _Flow) -> None:
    turn = 0
    while not flow.ended.is_set():
        batch = []
        for topic in running.mesh.topics:
            if topic.senders and topic.hearers:
                node = topic.senders[turn % len(topic.senders)]
                batch.append(Publication(node, topic.topic, flow.next()))
        inbox.expect(due_arrivals(running.mesh, batch))
        await running.publish(clients, batch, inbox)
        flow.sent += batch
        turn += 1
        if inbox.storm:
            raise MeshError("messages go round and round, so it was ended; a topic has a cycle of links")
        await asyncio.sleep(TICK)


async def _last(running: RunningMesh, seconds: float) -> None:
    """Wait, as long as all brokers live."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        running.brokers.check_alive()
        await asyncio.sleep(TICK)


async def _exact(running: RunningMesh) -> bool:
    again = await running.prove_again()
    return again.verdict.exact and not again.storm


def links_named(mesh: Mesh, option: str, names: Collection[str]) -> list[MeshLink]:
    """Return the links of these names; `all` is every link."""
    known = {link.name: link for link in mesh.links}
    if set(names) == {"all"} and "all" not in known:
        return list(known.values())
    for name in names:
        if name not in known:
            raise UsageError(
                f"`{option}={name}`: the mesh has no such link; manifest.json names them, or give all"
            )
    return [known[name] for name in dict.fromkeys(names)]
