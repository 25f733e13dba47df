"""Clients at every Zenoh router, and the proof by the routers' traces."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from topicloom.mesh.kinds.zenoh.message_trace import Carried, judge_trace, read_carried
from topicloom.mesh.kinds.zenoh.probes import Probes, is_probe
from topicloom.mesh.kinds.zenoh.sessions import DaemonThreads, ZenohRouter, ZenohSession, linked, read_links
from topicloom.mesh.kinds.zenoh.write import NAMES
from topicloom.mesh.model.mesh import Mesh, NodeAccount
from topicloom.mesh.run.adapter import (
    Arrival,
    MeshClients,
    Publication,
    Stray,
    all_of,
    read_until_still,
    wait_until_none,
)

PATIENCE = 5.0  # seconds without progress until interest that has not spread is given up
THREADS = 16  # the library's calls block
CLOSING = 5.0  # seconds to take leave


class ZenohClients(MeshClients):
    """At each router a client that has subscribed to the topics of its node and account."""

    filters = NAMES.filters

    def __init__(
        self,
        mesh: Mesh,
        routers: Mapping[NodeAccount, ZenohRouter],
        traces: Mapping[str, Path],
        arrived: Callable[[Arrival], None],
    ) -> None:
        super().__init__(mesh, arrived)
        self._routers = routers
        self._traces = traces
        self._arrivals: Counter[tuple[str, str]] = Counter()
        self._sessions: dict[NodeAccount, ZenohSession] = {}
        self._subscribers: list[Any] = []
        self._loop = asyncio.get_running_loop()
        self._threads = DaemonThreads(THREADS)
        self._closed = False
        self._base: dict[str, Counter[str]] = {}
        self._probes = Probes(self._loop.time)

    async def open(self) -> None:
        """Connect all, subscribe all, and wait until every sender reaches all hearers."""
        await all_of(self._call(self._connect, place) for place in self._wanted)
        # Interest goes from router to router after the client's own has taken it.
        await wait_until_none(self._missing_interest, PATIENCE)
        self._base = await self._call(self._traced)

    def _connect(self, place: NodeAccount) -> None:
        session = ZenohSession(self._routers[place])
        self._sessions[place] = session
        for topic in self._wanted[place]:
            if place[0] in topic.hearers:
                hearer = self._hearer(place[0], topic.topic)
                self._subscribers.append(session.session.declare_subscriber(topic.name, hearer))

    def _hearer(self, node: str, topic: str) -> Callable[[Any], None]:
        def got(sample: Any) -> None:  # in a thread of the library
            payload = sample.payload.to_bytes()
            if self._closed:
                return
            if is_probe(payload):
                self._loop.call_soon_threadsafe(self._probes.arrived, node, payload)
            else:
                self._loop.call_soon_threadsafe(self._count, Arrival(node, topic, int(payload)))

        return got

    def _count(self, arrival: Arrival) -> None:
        self._arrivals[arrival.node, arrival.topic] += 1
        self._arrived(arrival)

    async def _missing_interest(self) -> int:
        """Send probes where it is time to; count the hearers that those of a sender did not reach yet."""
        links = await read_links(self._traces.values())
        calls = []
        missing = 0
        for place, topics in self._wanted.items():
            node, account = place
            together = linked(links, self._routers[place].identifier)
            probes = []
            for topic in topics:
                if node in topic.senders:
                    others = (one for one in topic.hearers if one != node)
                    due = {one for one in others if self._routers[one, account].identifier in together}
                    missing += self._probes.missing((node, topic.topic), due)
                    if (probe := self._probes.next((node, topic.topic), due)) is not None:
                        probes.append((topic.name, probe))
            calls.append(self._call(self._probe, place, probes))
        await asyncio.gather(*calls)
        return missing

    def _probe(self, place: NodeAccount, probes: Sequence[tuple[str, bytes]]) -> None:
        for name, payload in probes:
            self._sessions[place].put(name, payload)

    async def send(self, node: str, account: str, name: str, payload: bytes) -> None:
        await self._call(self._sessions[node, account].publish, name, payload)

    async def find_strays(self, publications: Sequence[Publication]) -> list[Stray]:
        carried = await read_until_still(lambda: self._call(self._carried))
        return judge_trace(self._mesh, publications, self._arrivals, carried)

    def _traced(self) -> dict[str, Counter[str]]:
        return {node: read_carried(trace) for node, trace in self._traces.items()}

    def _carried(self) -> Carried:
        """Return what was carried since the clients connected."""
        carried = {node: found - self._base[node] for node, found in self._traced().items()}
        for node, name in self._outside:
            carried[node].pop(name, None)
        return carried

    async def close(self) -> None:
        self._closed = True
        closing = [self._call(one.close) for one in self._sessions.values()]
        if closing:
            # Threads may hang in routers that do not answer any more; these are ended right after this.
            await asyncio.wait(closing, timeout=CLOSING)
        self._threads.shutdown()

    def _call(self, function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        return self._loop.run_in_executor(self._threads, function, *arguments)
