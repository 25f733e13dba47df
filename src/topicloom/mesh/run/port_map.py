"""What moving a mesh to this machine needs whatever the broker: old and new ports, paths, names of links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from topicloom.errors import InputError
from topicloom.mesh.model.config_files import LOOPBACK, Address, Location, same_host
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode

FreePort = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Relocated:
    """The mesh as configured, on this machine, and the changed text of each of its files by name."""

    mesh: Mesh
    configs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MovedPort:
    """Where something listens: `host` is what others call it."""

    node: str
    host: str
    port: int
    purpose: str
    new_port: int


class PortMap:
    """All ports of a mesh, where they were and where they are now; ports nobody dials are drawn here too."""

    def __init__(self, mesh: Mesh, free_port: FreePort) -> None:
        self._draw = free_port
        self._drawn: set[int] = set()
        self._doors: dict[tuple[str, int], MovedPort] = {}
        self._by_purpose: dict[tuple[str, str], MovedPort] = {}
        for node in mesh.nodes:
            for purpose, port in node.ports.items():
                door = MovedPort(node.name, node.host, port, purpose, self.free_port())
                taken = self._doors.setdefault((same_host(node.host), port), door)
                if taken is not door:
                    raise InputError(
                        f"manifest.json: {node.name} and {taken.node} both listen on {node.host}:{port}; "
                        "give one of them another port"
                    )
                self._by_purpose[node.name, purpose] = door

    def free_port(self) -> int:
        """A port that was not given out before."""
        while (port := self._draw()) in self._drawn:
            pass
        self._drawn.add(port)
        return port

    def moved(self, node: MeshNode, port: int) -> int:
        """The new port of a node's port; one that the manifest does not know gets a free one."""
        door = self.of(node, port)
        return door.new_port if door is not None else self.free_port()

    def of(self, node: MeshNode, port: int) -> MovedPort | None:
        """The node's own door with this port, if the manifest has it."""
        door = self._doors.get((same_host(node.host), port))
        return door if door is not None and door.node == node.name else None

    def behind(self, address: Address, purposes: tuple[str, ...] | None = None) -> MovedPort:
        """Whose port an address is; refused if it is nobody's, or serves something else."""
        door = self._doors.get((same_host(address.host), address.port))
        if door is None:
            raise address.where.fault(
                f"{address} is no broker of this mesh; correct it, or add the node to manifest.json"
            )
        if purposes is not None and door.purpose not in purposes:
            raise address.where.fault(
                f"{address} is the {door.purpose} port of {door.node}; links dial {' or '.join(purposes)}"
            )
        return door

    def node(self, node: MeshNode) -> MeshNode:
        """The node as it is now."""
        ports = {purpose: self._by_purpose[node.name, purpose].new_port for purpose in node.ports}
        return replace(node, host=LOOPBACK, ports=ports)


Relocate = Callable[[Path, Mesh, PortMap], Relocated]
"""The mesh of a folder on loopback: what every kind of broker that can be run does in its own language."""


def absolute_path(text: str, where: Location, config: Path, folder: Path) -> str:
    """A path of a configuration, from the configuration's own folder or the mesh's; it must exist."""
    for base in (config.parent, folder):
        if (base / text).exists():
            return str((base / text).resolve())
    raise where.fault(f"{text!r} is not there; it is looked for beside the file and in {folder}")


def check_links(links: list[tuple[MeshLink, Location]]) -> tuple[MeshLink, ...]:
    """The links, each with its own name: readiness is told by name."""
    seen: dict[str, Location] = {}
    for link, where in links:
        if link.name in seen:
            raise where.fault(f"a link {link.name!r} exists already at {seen[link.name]}; rename one of them")
        seen[link.name] = where
    return tuple(link for link, _ in links)


def named_link(mesh: Mesh, dialer: str, acceptor: str, account: str) -> MeshLink:
    """A link of one account as the manifest has it; one it does not have carries what both ends want."""
    for link in mesh.links:
        if (link.dialer, link.acceptor, link.account) == (dialer, acceptor, account):
            return link
    stems = {node.name: Path(node.configs[0]).stem.partition("~")[0] for node in mesh.nodes}
    topics = tuple(
        topic.topic
        for topic in mesh.topics
        if topic.account == account and {dialer, acceptor} <= set(topic.subscribers)
    )
    return MeshLink(f"{stems[dialer]}~{stems[acceptor]}~{account}", dialer, acceptor, topics, account)


def without_repeats(links: list[MeshLink]) -> tuple[MeshLink, ...]:
    """The links, a doubled one under another name: names are unique in a mesh."""
    seen: dict[str, int] = {}
    found = []
    for link in links:
        seen[link.name] = seen.get(link.name, 0) + 1
        found.append(replace(link, name=f"{link.name}~{seen[link.name]}") if seen[link.name] > 1 else link)
    return tuple(found)
