"""What running a mesh asks of one kind of broker, and what the adapters under kinds/ share.

The runner knows processes, publications and proofs; an adapter knows command lines, readiness and clients.
"""

from __future__ import annotations

import asyncio
import shutil
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from topicloom.errors import UsageError
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode

LOOK = 0.02  # seconds between two questions to the brokers
STILL = 0.1  # seconds between two readings that must agree
T = TypeVar("T")
SomeClients = TypeVar("SomeClients", bound="MeshClients")


@dataclass(frozen=True, slots=True)
class Command:
    """One process to start: the node it belongs to and its command line."""

    node: str
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Publication:
    """Message number `message`, published on `topic` by a client of `node`."""

    node: str
    topic: str
    message: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """A client of `node` that subscribed to `topic` got message number `message`."""

    node: str
    topic: str
    message: int


@dataclass(frozen=True, slots=True)
class Stray:
    """The broker of `node` carried `count` messages that its node does not want; `detail` says which."""

    node: str
    count: int
    detail: str


class MeshClients(Protocol):
    """Clients at every broker: one that subscribes to all topics its node wants, and publishes."""

    async def open(self) -> None:
        """Connect and subscribe all clients."""

    async def close(self) -> None:
        """Disconnect all clients."""

    async def publish(self, publication: Publication) -> None:
        """Hand one message to the node's broker; return when the broker has it."""

    async def find_strays(self, publications: Sequence[Publication]) -> list[Stray]:
        """Return what brokers carried beyond what these publications need; asked once all is quiet."""


@runtime_checkable
class SeesStrays(Protocol):
    """Clients with probes that see strays; then failover is judged for strays as well.

    Counters against an exact expectation cannot do so: while brokers come and go, nobody knows the paths.
    """

    def seen_strays(self) -> list[Stray]:
        """Return all strays since the clients connected."""


@runtime_checkable
class CountsMessages(Protocol):
    """Clients with probes that see every message at every broker."""

    def messages_carried(self) -> int:
        """Count how often a broker took up one of our messages, since the clients connected."""


@runtime_checkable
class StaysAtBackup(Protocol):
    """An adapter of brokers whose links stay with a backup that they found."""

    async def links_now(self, mesh: Mesh) -> list[MeshLink]:
        """Return the links that are up, each with the acceptor that it has now, and as its backups the other
        ends in the order in which it would turn to them."""


class BrokerAdapter(Protocol):
    """One kind of broker."""

    returns_after: float  # seconds after which a link at a backup does not return by itself any more

    def last_port(self, node: MeshNode) -> int:
        """Return the port that the node's broker opens last: when it takes connections, so do the others."""

    def check_present(self) -> None:
        """Refuse, with the package to install, if the broker's program or client library is not here."""

    def commands(self, mesh: Mesh, folder: Path) -> list[Command]:
        """Return what to start, in order; the configurations of the mesh lie in `folder`.

        `folder` is a temporary copy and the working directory of the processes: files in it may be amended.
        Several processes of one node are fine. Their output is kept, and its end shown if one dies.
        """

    async def links_up(self, mesh: Mesh) -> set[str]:
        """Return the names of the links that are up now; brokers that do not answer yet have none."""

    async def connect(self, mesh: Mesh, arrived: Callable[[Arrival], None]) -> MeshClients:
        """Connect and subscribe clients everywhere; each message they get is passed to `arrived`.

        Called once all links are up. Returns when the subscriptions are in force across the links too, so
        that no message published from then on may be lost; after some seconds of waiting for that it
        returns all the same, and the proof shows it. A ConnectionError means that a broker does not answer
        yet: the runner tries again. A broker that is killed later must not disturb the other clients.
        """


async def open_clients(clients: SomeClients) -> SomeClients:
    """Open the clients; none is left connected if that fails."""
    try:
        await clients.open()
    except BaseException:
        await clients.close()
        raise
    return clients


async def wait_until_none(missing: Callable[[], Awaitable[int]], patience: float) -> None:
    """Ask how many are missing until it is none, or until it has not fallen for `patience` seconds."""
    clock = asyncio.get_running_loop().time
    last, left = clock(), -1
    while clock() - last < patience:
        found = await missing()
        if found == 0:
            return
        if found < left or left < 0:
            last, left = clock(), found
        await asyncio.sleep(LOOK)


async def read_until_still(read: Callable[[], Awaitable[T]]) -> T:
    """Read until two readings agree."""
    before = await read()
    while True:
        await asyncio.sleep(STILL)
        now = await read()
        if now == before:
            return now
        before = now


def find_program(name: str) -> str:
    """Find a broker's program; Debian puts some where only root looks."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/usr/local/bin")
    if found is None:
        raise UsageError(f"{name} is not installed; on Debian and Ubuntu: apt install {name}")
    return found


def loopback_context(authority: Path, certificate: Path | None, key: Path | None) -> ssl.SSLContext:
    """Check certificates against the mesh's authority but not their names, since all runs on loopback."""
    context = ssl.create_default_context(cafile=str(authority))
    context.check_hostname = False
    if certificate is not None:
        context.load_cert_chain(str(certificate), str(key) if key else None)
    return context
