"""Clients at every NATS server, one for each account of its node, and the proof by the servers' counters."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import nats
import nats.errors

from topicloom.errors import MeshError
from topicloom.mesh.kinds.nats.access import NatsAccess
from topicloom.mesh.kinds.nats.crossings import LinkCounts, NodeAccount, judge_counters
from topicloom.mesh.kinds.nats.leaf_connections import (
    count_messages,
    live_links,
    missing_interest,
    read_all_leafs,
)
from topicloom.mesh.kinds.nats.monitor import read_client_subjects
from topicloom.mesh.model.config_files import LOOPBACK
from topicloom.mesh.model.mesh import Mesh, MeshLink
from topicloom.mesh.run.adapter import Arrival, Publication, Stray
from topicloom.mesh.run.tls import loopback_context

PATIENCE = 5.0  # seconds without progress until interest that has not spread is given up
ANSWER = 20.0  # seconds a server may take to let a client in; hundreds may ask at once
LOOK = 0.02  # seconds between two questions to the servers
STILL = 0.1  # seconds between two readings of counters that must agree


class NatsClients:
    """At each server a client in every account of its node, subscribed to the node's topics there."""

    def __init__(
        self, mesh: Mesh, access: Mapping[str, NatsAccess], arrived: Callable[[Arrival], None]
    ) -> None:
        self._mesh = mesh
        self._access = access
        self._arrived = arrived
        self._ports = {node.name: node.ports for node in mesh.nodes}
        self._topics = {topic.topic: topic for topic in mesh.topics}
        self._wanted: dict[NodeAccount, list[str]] = {}
        for topic in mesh.topics:
            for node in topic.subscribers:
                self._wanted.setdefault((node, topic.account or ""), []).append(topic.topic)
        self._clients: dict[NodeAccount, Any] = {}
        self._arrivals: Counter[NodeAccount] = Counter()
        self._links: list[MeshLink] = []
        self._base = LinkCounts({}, {})

    async def open(self) -> None:
        """Connect all, subscribe all, and wait until every server knows of all interest."""
        await asyncio.gather(*(self._connect(place) for place in self._wanted))
        await self._spread()
        leafs = await read_all_leafs(self._mesh)
        self._links = live_links(self._mesh, leafs)
        self._base = count_messages(self._mesh, leafs)

    async def _connect(self, place: NodeAccount) -> None:
        node, account = place
        client = await _log_in(node, account, self._ports[node]["client"], self._access[node])
        self._clients[place] = client
        for topic in self._wanted[place]:
            await client.subscribe(self._topics[topic].name, cb=self._hearer(place, topic))
        await client.flush()

    def _hearer(self, place: NodeAccount, topic: str) -> Callable[[Any], Awaitable[None]]:
        node, arrived, arrivals = place[0], self._arrived, self._arrivals

        async def got(message: Any) -> None:
            arrivals[place] += 1
            arrived(Arrival(node, topic, int(message.data)))

        return got

    async def _spread(self) -> None:
        """Interest goes from server to server after the client's own has taken it."""
        clock = asyncio.get_running_loop().time
        last, left = clock(), -1
        while clock() - last < PATIENCE:
            found = missing_interest(self._mesh, await read_all_leafs(self._mesh, subjects=True))
            if found == 0:
                return
            if found < left or left < 0:
                last, left = clock(), found
            await asyncio.sleep(LOOK)

    async def publish(self, publication: Publication) -> None:
        topic = self._topics[publication.topic]
        client = self._clients[publication.node, topic.account or ""]
        try:
            await client.publish(topic.name, str(publication.message).encode())
            await client.flush()  # the server's answer to this comes after it has taken the message
        except (nats.errors.Error, OSError, TimeoutError) as error:
            raise ConnectionError(f"the server of {publication.node} is gone: {error}") from None

    async def find_strays(self, publications: Sequence[Publication]) -> list[Stray]:
        counted = _since(self._base, await self._still())
        strays = judge_counters(self._mesh, self._links, publications, self._arrivals, counted)
        return [await self._explained(stray) for stray in strays]

    async def _still(self) -> LinkCounts:
        """The counters once they do not move any more."""
        before = count_messages(self._mesh, await read_all_leafs(self._mesh))
        while True:
            await asyncio.sleep(STILL)
            now = count_messages(self._mesh, await read_all_leafs(self._mesh))
            if now == before:
                return now
            before = now

    async def _explained(self, stray: Stray) -> Stray:
        """With the subscriptions of clients at that server that its node has no use for."""
        found = await read_client_subjects(self._ports[stray.node]["monitor"])
        unwanted = sorted(
            f"{subject} ({account})"
            for account, subjects in found.items()
            for subject in subjects
            - {self._topics[topic].name for topic in self._wanted.get((stray.node, account), ())}
        )
        if not unwanted:
            return stray
        return replace(stray, detail=f"{stray.detail}; clients there subscribed to {', '.join(unwanted[:5])}")

    async def close(self) -> None:
        await asyncio.gather(*(client.close() for client in self._clients.values()), return_exceptions=True)


async def _log_in(node: str, account: str, port: int, access: NatsAccess) -> Any:
    login = access.logins.get(account)
    if login is None:
        raise MeshError(f"the server of {node} has no user with a password in account {account}")
    try:
        return await nats.connect(
            f"{'nats' if access.authority is None else 'tls'}://{LOOPBACK}:{port}",
            user=login.user,
            password=login.password,
            tls=None
            if access.authority is None
            else loopback_context(access.authority, access.certificate, access.key),
            allow_reconnect=False,
            connect_timeout=ANSWER,
            error_cb=_ignore,
        )
    except (nats.errors.Error, OSError, TimeoutError) as error:
        if "authorization" in str(error).lower():
            raise MeshError(f"the server of {node} refuses a client in account {account}: {error}") from None
        raise ConnectionError(f"the server of {node} does not answer: {error}") from None


async def _ignore(_error: Exception) -> None:
    """A server that goes away is noticed by whoever publishes there; others are not disturbed."""


def _since(base: LinkCounts, now: LinkCounts) -> LinkCounts:
    """What was counted after `base`; a connection that was made anew counts from zero."""
    crossed = {key: count - _before(base.crossed.get(key, 0), count) for key, count in now.crossed.items()}
    accepted = {}
    for place, (inwards, outwards) in now.accepted.items():
        before = base.accepted.get(place, (0, 0))
        accepted[place] = inwards - _before(before[0], inwards), outwards - _before(before[1], outwards)
    return LinkCounts(crossed, accepted)


def _before(base: int, now: int) -> int:
    return base if now >= base else 0
