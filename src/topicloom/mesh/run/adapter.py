"""What the runner asks of one kind of broker; the folders under kinds/ answer it.

The runner knows processes, publications and proofs; a target knows command lines, readiness and clients.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from topicloom.errors import UsageError
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode


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


def find_program(name: str) -> str:
    """Where a broker's program is; Debian puts some where only root looks."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/usr/local/bin")
    if found is None:
        raise UsageError(f"{name} is not installed; on Debian and Ubuntu: apt install {name}")
    return found


SomeClients = TypeVar("SomeClients", bound="MeshClients")


class MeshClients(Protocol):
    """Clients at every broker: one that subscribes to all topics its node wants, and publishes."""

    async def publish(self, publication: Publication) -> None:
        """Hand one message to the node's broker; returns when the broker has it."""

    async def find_strays(self, publications: Sequence[Publication]) -> list[Stray]:
        """What brokers carried beyond what these publications need; asked once all is quiet."""

    async def open(self) -> None:
        """Connect and subscribe all clients."""

    async def close(self) -> None:
        """Disconnect all clients."""


async def open_clients(traffic: SomeClients) -> SomeClients:
    """The same traffic, open; no client is left connected if that fails."""
    try:
        await traffic.open()
    except BaseException:
        await traffic.close()
        raise
    return traffic


@runtime_checkable
class SeesStrays(Protocol):
    """A Traffic that sees strays with probes may answer this too; then failover is judged for strays as well.

    Counters against an exact expectation cannot do so: while brokers come and go, nobody knows the paths.
    """

    def seen_strays(self) -> list[Stray]:
        """All strays since the clients connected."""


@runtime_checkable
class CountsMessages(Protocol):
    """A Traffic whose probes see every message at every broker may answer this too."""

    def messages_carried(self) -> int:
        """How often a broker took up one of our messages, over all brokers, since the clients connected."""


@runtime_checkable
class StaysAtBackup(Protocol):
    """A Target whose links stay with a backup that they found answers this too."""

    async def links_now(self, mesh: Mesh) -> list[MeshLink]:
        """The links that are up, each with the acceptor that it has now, and as its backups the other ends
        in the order in which it would turn to them."""


class BrokerAdapter(Protocol):
    """One kind of broker."""

    returns_after: float
    """Seconds after which a link that stands at a backup does not return by itself any more."""

    def door(self, node: MeshNode) -> int:
        """The port that the node's broker opens last: when it takes connections, so do the others."""

    def check_present(self) -> None:
        """Refuse, with the package to install, if the broker's program or client library is not here."""

    def commands(self, mesh: Mesh, folder: Path) -> list[Command]:
        """What to start, in order; the configurations of the mesh lie in `folder`.

        `folder` is a temporary copy and the working directory of the processes: files in it may be amended.
        Several processes of one node are fine. Their output is kept, and its end shown if one dies.
        """

    async def links_up(self, mesh: Mesh) -> set[str]:
        """The names of the links that are up now; brokers that do not answer yet have none."""

    async def connect(self, mesh: Mesh, arrived: Callable[[Arrival], None]) -> MeshClients:
        """Connect and subscribe clients everywhere; each message they get is told to `arrived`.

        Asked once all links are up. Returns when the subscriptions are in force across the links too, so
        that no message published from then on may be lost; after some seconds of waiting for that it
        returns all the same, and the proof tells. A ConnectionError means that a broker does not answer
        yet: the runner tries again. A broker that is killed later must not disturb the other clients.
        """
