"""Clients at every NATS server, one for each account of its node, and the proof by the servers' counters."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nats
import nats.errors

from topicloom.errors import MeshError
from topicloom.mesh.kinds.nats.config_language import parse_nats
from topicloom.mesh.kinds.nats.crossings import LinkCounts, judge_counters
from topicloom.mesh.kinds.nats.hashes import is_hash
from topicloom.mesh.kinds.nats.leaf_connections import (
    count_messages,
    live_links,
    missing_interest,
    read_all_leafs,
    read_client_subjects,
)
from topicloom.mesh.kinds.nats.read import text_of, users_of
from topicloom.mesh.kinds.nats.write import NAMES
from topicloom.mesh.model.config_files import LOOPBACK
from topicloom.mesh.model.mesh import Mesh, MeshLink, NodeAccount
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.run.adapter import (
    Arrival,
    MeshClients,
    Publication,
    Stray,
    all_of,
    loopback_context,
    read_until_still,
    wait_until_none,
)

PATIENCE = 5.0  # seconds without progress until interest that has not spread is given up
ANSWER = 20  # seconds a server may take to let a client in, or to answer it; hundreds may ask at once


@dataclass(frozen=True, slots=True)
class NatsAccess:
    """How to get into a server: a login for each account, certificates where it asks for them."""

    logins: Mapping[str, Login]
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


def read_access(path: Path) -> NatsAccess:
    """Read the logins and certificates of a server's configuration; files are named from its folder."""
    config = parse_nats(path, path.name)
    tls = config.get("tls")

    def file(name: str) -> Path | None:
        named = text_of(tls.get(name)) if tls is not None else None
        return path.parent / named if named is not None else None

    logins: dict[str, Login] = {}  # the first user with a password of each account
    for user, (account, password) in users_of(config):
        if password is not None and not is_hash(password):  # those with keys or hashes are not for us
            logins.setdefault(account, Login(user, password))
    certificate = file("cert_file")
    return NatsAccess(logins, file("ca_file") or certificate, certificate, file("key_file"))


class NatsClients(MeshClients):
    """At each server a client in every account of its node, subscribed to the node's topics there."""

    filters = NAMES.filters

    def __init__(
        self, mesh: Mesh, access: Mapping[str, NatsAccess], arrived: Callable[[Arrival], None]
    ) -> None:
        super().__init__(mesh, arrived)
        self._access = access
        self._ports = {node.name: node.ports for node in mesh.nodes}
        self._clients: dict[NodeAccount, Any] = {}
        self._arrivals: Counter[NodeAccount] = Counter()
        self._links: list[MeshLink] = []
        self._base = LinkCounts({}, {})

    async def open(self) -> None:
        """Connect all, subscribe all, and wait until every server knows of all interest."""
        await all_of(self._connect(place) for place in self._wanted)
        # Interest goes from server to server after the client's own has taken it.
        await wait_until_none(self._missing_interest, PATIENCE)
        leafs = await read_all_leafs(self._mesh)
        self._links = live_links(self._mesh, leafs)
        self._base = count_messages(self._mesh, leafs)

    async def _connect(self, place: NodeAccount) -> None:
        node, account = place
        client = await _log_in(node, account, self._ports[node]["client"], self._access[node])
        self._clients[place] = client
        for topic in self._wanted[place]:
            if node in topic.hearers:
                await client.subscribe(topic.name, cb=self._hearer(place, topic.topic))
        await client.flush()

    def _hearer(self, place: NodeAccount, topic: str) -> Callable[[Any], Awaitable[None]]:
        node, arrived, arrivals = place[0], self._arrived, self._arrivals

        async def got(message: Any) -> None:
            arrivals[place] += 1
            arrived(Arrival(node, topic, int(message.data)))

        return got

    async def _missing_interest(self) -> int:
        return missing_interest(self._mesh, await read_all_leafs(self._mesh, subjects=True))

    async def send(self, node: str, account: str, name: str, payload: bytes) -> None:
        client = self._clients[node, account]
        try:
            await client.publish(name, payload)
            # The server's answer to this comes after it has taken the message.
            await client.flush(timeout=ANSWER)
        except (nats.errors.Error, OSError, TimeoutError) as error:
            raise ConnectionError(f"the server of {node} is gone: {error}") from None

    async def find_strays(self, publications: Sequence[Publication]) -> list[Stray]:
        counted = (await read_until_still(self._counts)).since(self._base)
        strays = judge_counters(self._mesh, self._links, publications, self._arrivals, counted)
        return [await self._explained(stray) for stray in strays]

    async def _counts(self) -> LinkCounts:
        return count_messages(self._mesh, await read_all_leafs(self._mesh))

    async def _explained(self, stray: Stray) -> Stray:
        """Add the subscriptions of clients at that server that its node has no use for."""
        found = await read_client_subjects(self._ports[stray.node]["monitor"])
        unwanted = sorted(
            f"{subject} ({account})"
            for account, subjects in found.items()
            for subject in subjects - {topic.name for topic in self._wanted.get((stray.node, account), ())}
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
    """Do nothing: who publishes to a server that is gone notices; others are not disturbed."""
