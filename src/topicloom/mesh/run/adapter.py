"""What running a mesh asks of one kind of broker, and what the adapters under kinds/ share.

The runner knows processes, publications and proofs; an adapter knows command lines, readiness and clients.
"""

from __future__ import annotations

import asyncio
import shutil
import ssl
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from topicloom.errors import UsageError
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode, wanted_topics
from topicloom.mesh.plan.filters import FilterRule

LOOK = 0.02  # seconds between two questions to the brokers
STILL = 0.1  # seconds between two readings that must agree
if TYPE_CHECKING:
    from topicloom.mesh.run.attack import Intrusion

T = TypeVar("T")
Argv = tuple[str, ...]  # the command line of a process


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


class MeshClients(ABC):
    """Clients at every broker: one that subscribes to all topics its node wants, and publishes.

    Each message they get is passed to `arrived`. A broker that is killed must not disturb the clients of
    others.
    """

    def __init__(self, mesh: Mesh, arrived: Callable[[Arrival], None]) -> None:
        self._mesh = mesh
        self._arrived = arrived
        self._topics = {topic.topic: topic for topic in mesh.topics}
        self._wanted = wanted_topics(mesh)
        self._turns: Counter[str] = Counter()
        self._outside: set[tuple[str, str]] = set()  # node, and a name that only its own broker may carry

    @abstractmethod
    async def open(self) -> None:
        """Connect and subscribe all clients, once all links are up.

        Returns when the subscriptions are in force across the links too, so that no message published from
        then on may be lost; after some seconds of waiting for that it returns all the same, and the proof
        shows it. A ConnectionError means that a broker does not answer yet: the runner tries again.
        """

    @abstractmethod
    async def close(self) -> None:
        """Disconnect all clients."""

    filters: FilterRule | None = None

    async def publish(self, publication: Publication) -> None:
        """Hand one message to the node's broker; return when the broker has it."""
        topic = self._topics[publication.topic]
        self._turns[topic.topic] += 1  # names that a filter matches take turns
        name = topic.names_sent[self._turns[topic.topic] % len(topic.names_sent)]
        await self.send(publication.node, topic.account or "", name, str(publication.message).encode())

    async def publish_outside(self) -> None:
        """Publish beside each filter, on a name that no topic matches: no other broker may carry that."""
        names = [topic.name for topic in self._topics.values()]
        for topic in self._topics.values():
            if self.filters is not None and topic.example is not None and topic.senders:
                name, node = self.filters.outside(topic.name, names), topic.senders[0]
                if name is not None:
                    self._outside.add((node, name))
                    await self.send(node, topic.account or "", name, b"0")

    async def send(self, node: str, account: str, name: str, payload: bytes) -> None:
        """Hand a message under this name to the node's broker; return when the broker has it."""
        raise NotImplementedError

    @abstractmethod
    async def find_strays(self, publications: Sequence[Publication]) -> list[Stray]:
        """Return what brokers carried beyond what these publications need; asked once all is quiet."""

    async def retain(self, publication: Publication) -> None:
        """Publish a message that brokers keep for later subscribers; only where they can."""
        raise NotImplementedError

    def seen_strays(self) -> list[Stray] | None:
        """Return all strays since the clients connected; None without probes that see them as they come.

        Counters against an exact expectation cannot: while brokers come and go, nobody knows the paths.
        """
        return None

    def messages_carried(self) -> int | None:
        """Count how often brokers took up one of our messages; None without probes that see every one."""
        return None


class BrokerAdapter(ABC):
    """One kind of broker; `program` is what runs it, if that is one of its own."""

    program: str
    secrets: Collection[str] = ()  # of the files that are run: no message repeats them
    returns_after: float  # seconds after which a link at a backup does not return by itself any more

    def check_present(self) -> None:
        """Refuse, with the package to install, if the broker's program or client library is not here."""
        find_program(self.program)

    @abstractmethod
    def last_port(self, node: MeshNode) -> int:
        """Return the port that the node's broker opens last: when it takes connections, so do the others."""

    @abstractmethod
    def commands(self, mesh: Mesh, folder: Path) -> Mapping[str, Argv]:
        """Return what to start for each node; the configurations of the mesh lie in `folder`.

        `folder` is a temporary copy and the working directory of the processes: files in it may be amended.
        Their output is kept, and its end shown if one dies.
        """

    @abstractmethod
    async def links_up(self, mesh: Mesh) -> set[str]:
        """Return the names of the links that are up now; brokers that do not answer yet have none."""

    async def links_now(self, mesh: Mesh) -> Sequence[MeshLink]:
        """Return the links, each with the acceptor that it stays with, and as its backups the other ends in
        the order in which it would turn to them."""
        return mesh.links

    @abstractmethod
    def clients(self, mesh: Mesh, arrived: Callable[[Arrival], None]) -> MeshClients:
        """Return clients for every broker, not yet connected."""

    retains = False  # whether brokers keep messages for later subscribers

    async def read_retained(self, mesh: Mesh) -> dict[tuple[str, str], int]:
        """Return the message that the broker of each node keeps of each of its topics: (node, topic)."""
        raise NotImplementedError

    def limit(self, mesh: Mesh) -> str | None:
        """Return what this kind cannot keep an attacker from, if there is anything."""
        return None

    async def intrude(
        self, mesh: Mesh, node: str, folder: Path, heard: Callable[[str, str], None]
    ) -> Intrusion:
        """Log in wherever the secrets of one node let anybody in; see run/attack.py."""
        raise NotImplementedError

    def corrupt(self, mesh: Mesh, node: str, folder: Path) -> None:
        """Change the files of one node so that its broker keeps to no access list, and asks for all."""
        raise NotImplementedError

    async def usurp(self, mesh: Mesh, node: str, heard: Callable[[str, str], None]) -> Intrusion:
        """Listen to everything at the broker of a node, as its master."""
        raise NotImplementedError

    async def connect(self, mesh: Mesh, arrived: Callable[[Arrival], None]) -> MeshClients:
        """Connect and subscribe clients everywhere; none is left connected if that fails."""
        clients = self.clients(mesh, arrived)
        try:
            await clients.open()
        except BaseException:
            await clients.close()
            raise
        return clients


async def all_of(work: Iterable[Awaitable[object]]) -> None:
    """Wait for all of it to end, whatever becomes of some, and raise the first fault.

    What went on behind a fault would open clients that nobody closes: they would hear all a second time.
    """
    for one in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(one, BaseException):
            raise one


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
