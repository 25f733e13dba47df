"""Attack a running mesh with everything that one site knows: its files and the login of its clients.

Intruders try each secret at every port of every other broker. Then they take the site's own broker over: it
keeps to no access list any more, asks its neighbors for everything and passes everything on. Where one gets
in it listens to all and writes on topics that the site does not carry, while the clients of the mesh publish
on all topics. Nothing that the site does not carry may be heard, and nothing that was written may arrive.
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
    """One attack, as `run --attack --json` prints it: logins tried and let in, and what came of them.

    `taken_over` are sessions at the site's own broker once it kept to no rules any more.
    """

    node: str
    attempts: int
    logins: int
    taken_over: int
    foreign_topics: int
    read: list[str]
    written: list[str]
    limit: str | None  # what was not tried because the kind cannot keep anybody from it

    @property
    def held(self) -> bool:
        return not (self.read or self.written)


async def attack(running: RunningMesh, node: str, folder: Path) -> NodeAttack:
    """Attack the mesh with what `node` knows; `folder` has the files of the mesh as they run."""
    battle = _Battle(running, node)
    intrude, usurp = running.adapter.intrude, running.adapter.usurp
    outside = await battle.fight(lambda heard: intrude(running.mesh, node, folder, heard))
    own = next(one for one in running.mesh.nodes if one.name == node)
    before = {name: (folder / name).read_bytes() for name in own.configs}
    try:
        running.adapter.corrupt(running.mesh, node, folder)
        await _restart(running, node)
        inside = await battle.fight(lambda heard: usurp(running.mesh, node, heard))
    finally:
        for name, content in before.items():
            (folder / name).write_bytes(content)
    await _restart(running, node)
    return NodeAttack(
        node=node,
        attempts=outside.attempts,
        logins=len(outside.writers),
        taken_over=len(inside.writers),
        foreign_topics=len(battle.foreign),
        read=sorted(battle.read)[:WITNESSES],
        written=sorted(battle.written)[:WITNESSES],
        limit=running.adapter.limit(running.mesh),
    )


async def _restart(running: RunningMesh, node: str) -> None:
    running.brokers.end(node)
    await running.start([node])
    await running.wait_in_place()


class _Battle:
    """What intruders heard and wrote that they must not."""

    def __init__(self, running: RunningMesh, node: str) -> None:
        self.running, self.node = running, node
        topics = running.mesh.topics
        self.foreign = {topic.sent_as: topic for topic in topics if node not in topic.subscribers}
        self.strange = {topic.topic for topic in self.foreign.values()}
        self.read: set[str] = set()
        self.written: set[str] = set()
        self.number = FORGED

    def heard(self, at: str, name: str) -> None:
        if name in self.foreign:
            self.read.add(f"{self.foreign[name].topic} at {at}")

    def arrived(self, arrival: Arrival) -> None:
        if arrival.message >= FORGED and arrival.topic in self.strange:
            self.written.add(f"{arrival.topic} to {arrival.node}")

    async def fight(self, enter: Callable[[Heard], Awaitable[Intrusion]]) -> Intrusion:
        """Let intruders in, have them write everywhere, publish on all topics, and send them away."""
        running = self.running
        clients = await running.connect(self.arrived)
        try:
            intrusion = await enter(self.heard)
            try:
                await self._write(intrusion.writers)
                sent = [
                    Publication(topic.senders[0], topic.topic, at)
                    for at, topic in enumerate(running.mesh.topics)
                    if topic.senders
                ]
                await asyncio.gather(*(clients.publish(one) for one in sent))
                end = time.monotonic() + PAUSE
                while time.monotonic() < end:
                    running.brokers.check_alive()
                    await asyncio.sleep(0.1)
            finally:
                await intrusion.close()
        finally:
            await clients.close()
        return intrusion

    async def _write(self, writers: list[Write]) -> None:
        for write in writers:
            for name in self.foreign:
                self.number += 1
                await write(name, self.number)


def is_genuine(payload: bytes) -> bool:
    """Return whether a message is of the mesh, and not what an intruder itself wrote."""
    return not (payload.isdigit() and int(payload) >= FORGED)


def check_attackable(adapter: BrokerAdapter, mesh: Mesh, kind: str) -> None:
    """Refuse to attack what lets everybody in, or what nobody here knows how to attack."""
    if type(adapter).intrude is BrokerAdapter.intrude:
        raise UsageError(f"`attack` cannot be done for {kind}")
    if not any(one.user for one in mesh.nodes):
        raise UsageError("`attack`: this mesh lets everybody in; export it with `hosts` or `credentials`")
