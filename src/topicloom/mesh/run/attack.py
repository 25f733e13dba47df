"""Attack a running mesh with everything that one site knows: its files and the login of its clients.

Intruders try each secret at every port of every other broker. Where one gets in it listens to everything and
writes on topics that the site does not carry, while the clients of the mesh publish on all topics. Nothing
that the site does not carry may be heard, and nothing that was written may arrive.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from topicloom.base.summaries import Summary
from topicloom.errors import UsageError
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.run.adapter import Arrival, BrokerAdapter, Publication
from topicloom.mesh.run.running_mesh import RunningMesh

FORGED = 10**9  # numbers of messages from here on are the intruders'
PAUSE = 1.0  # seconds in which what was let through would show
WITNESSES = 20
Heard = Callable[[str, str], None]  # the broker an intruder is at, and the name it heard something on
Write = Callable[[str, int], Awaitable[None]]  # of a number, on a name


@dataclass(slots=True)
class Intrusion:
    """The logins that were tried, and what those that succeeded can do; `close` ends all of them."""

    attempts: int = 0
    writers: list[Write] = field(default_factory=list)
    closers: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    async def close(self) -> None:
        await asyncio.gather(*(close() for close in self.closers), return_exceptions=True)


class NodeAttack(Summary, frozen=True, kw_only=True):
    """One attack, as `run --attack --json` prints it: logins tried and let in, and what came of them."""

    node: str
    attempts: int
    logins: int
    foreign_topics: int
    read: list[str]
    written: list[str]

    @property
    def held(self) -> bool:
        return not (self.read or self.written)


async def attack(running: RunningMesh, node: str, folder: Path) -> NodeAttack:
    """Attack the mesh with what `node` knows; `folder` has the files of the mesh as they run."""
    mesh = running.mesh
    foreign = {topic.sent_as: topic for topic in mesh.topics if node not in topic.subscribers}
    read: set[str] = set()
    written: set[str] = set()

    def heard(at: str, name: str) -> None:
        if name in foreign:
            read.add(f"{foreign[name].topic} at {at}")

    def arrived(arrival: Arrival) -> None:
        if arrival.message >= FORGED and node not in _members(mesh, arrival.topic):
            written.add(f"{arrival.topic} to {arrival.node}")

    clients = await running.connect(arrived)
    intrusion = await running.adapter.intrude(mesh, node, folder, heard)
    try:
        number = FORGED
        for write in intrusion.writers:
            for name in foreign:
                number += 1
                await write(name, number)
        sent = [
            Publication(topic.senders[0], topic.topic, at)
            for at, topic in enumerate(mesh.topics)
            if topic.senders
        ]
        await asyncio.gather(*(clients.publish(one) for one in sent))
        end = time.monotonic() + PAUSE
        while time.monotonic() < end:
            running.brokers.check_alive()
            await asyncio.sleep(0.1)
    finally:
        await intrusion.close()
        await clients.close()
    return NodeAttack(
        node=node,
        attempts=intrusion.attempts,
        logins=len(intrusion.writers),
        foreign_topics=len(foreign),
        read=sorted(read)[:WITNESSES],
        written=sorted(written)[:WITNESSES],
    )


def is_genuine(payload: bytes) -> bool:
    """Return whether a message is of the mesh, and not what an intruder itself wrote."""
    return not (payload.isdigit() and int(payload) >= FORGED)


def _members(mesh: Mesh, topic: str) -> tuple[str, ...]:
    return next((one.subscribers for one in mesh.topics if one.topic == topic), ())


def check_attackable(adapter: BrokerAdapter, mesh: Mesh, kind: str) -> None:
    """Refuse to attack what lets everybody in, or what nobody here knows how to attack."""
    if type(adapter).intrude is BrokerAdapter.intrude:
        raise UsageError(f"`attack` cannot be done for {kind}: its links have no access lists yet")
    if not any(one.user for one in mesh.nodes):
        raise UsageError("`attack`: this mesh lets everybody in; export it with `hosts` or `credentials`")
