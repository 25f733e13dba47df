"""Moving an exported mesh to this machine: the same configurations, with loopback addresses and free ports.

Only addresses, ports and paths change, so what runs is what the files say: the links of the relocated mesh
are read from the configurations, not from the manifest, and a bridge that was removed, added or doubled by
hand is there as it is. A certificate names the host of its node, so the check of the host name alone is
switched off where the broker can do that; the chain of certificates is checked all the same.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from topicloom.errors import InputError
from topicloom.mesh.model.config_files import LOOPBACK, Address, Location, same_host
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode

FreePort = Callable[[], int]


class Relocated(NamedTuple):
    """A mesh on this machine, and the changed text of its files by name; no message repeats the `secrets`."""

    mesh: Mesh
    configs: Mapping[str, str]
    secrets: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class MovedPort:
    """A port of a node by its purpose, and where it is now."""

    node: str
    purpose: str
    new_port: int


@dataclass(frozen=True, slots=True)
class Route:
    """What a dialer calls to reach the port of an acceptor."""

    dialer: str
    acceptor: str
    host: str
    port: int


class PortMap:
    """All ports of a mesh, where they were and where they are now; ports nobody dials are drawn here too.

    With `detours` each dialer calls acceptors by another loopback address of this machine, by the same port:
    whoever listens there is between the two. `routes` are all that is called.
    """

    def __init__(self, mesh: Mesh, free_port: FreePort, *, detours: bool = False) -> None:
        self._free_port = free_port
        self.routes: list[Route] = []
        self._calls = {node.name: _detour(at) if detours else LOOPBACK for at, node in enumerate(mesh.nodes)}
        self._ports: dict[tuple[str, int], MovedPort] = {}  # by host and port as they were
        for node in mesh.nodes:
            for purpose, port in node.ports.items():
                moved = MovedPort(node.name, purpose, free_port())
                taken = self._ports.setdefault((same_host(node.host), port), moved)
                if taken is not moved:
                    raise InputError(
                        f"manifest.json: {node.name} and {taken.node} both listen on {node.host}:{port}; "
                        "give one of them another port"
                    )

    def new_port(self, node: MeshNode, port: int) -> int:
        """Return where a node's port is now; one that the manifest does not know gets a free one."""
        moved = self.of(node, port)
        return moved.new_port if moved is not None else self._free_port()

    def of(self, node: MeshNode, port: int) -> MovedPort | None:
        """Return the node's own port of this number, if the manifest has it."""
        moved = self._ports.get((same_host(node.host), port))
        return moved if moved is not None and moved.node == node.name else None

    def behind(self, address: Address, purpose: str) -> MovedPort:
        """Return whose port an address is; refuse one that is nobody's, or serves something else."""
        moved = self._ports.get((same_host(address.host), address.port))
        if moved is None:
            raise address.where.fault(
                f"{address} is no broker of this mesh; correct it, or add the node to manifest.json"
            )
        if moved.purpose != purpose:
            raise address.where.fault(
                f"{address} is the {moved.purpose} port of {moved.node}; links dial {purpose}"
            )
        return moved

    def dialled(self, dialer: str, moved: MovedPort) -> str:
        """Return HOST:PORT by which a dialer reaches a port."""
        route = Route(dialer, moved.node, self._calls[dialer], moved.new_port)
        self.routes.append(route)
        return f"{route.host}:{route.port}"

    @property
    def has_detours(self) -> bool:
        """Return whether dialers call other addresses than certificates may name."""
        return any(host != LOOPBACK for host in self._calls.values())

    def move(self, mesh: Mesh, links: tuple[MeshLink, ...]) -> Mesh:
        """Return the mesh on this machine, with the links that its configurations make."""
        nodes = []
        for node in mesh.nodes:
            ports = {purpose: self.new_port(node, port) for purpose, port in node.ports.items()}
            nodes.append(replace(node, host=LOOPBACK, ports=ports))
        return replace(mesh, nodes=tuple(nodes), links=links)


def _detour(number: int) -> str:
    """Return a loopback address of its own for each node; Linux has all of 127.0.0.0/8."""
    return f"127.77.{number // 250}.{number % 250 + 1}"


Relocate = Callable[[Path, Mesh, PortMap], Relocated]  # what every kind that can be run does in its language


def copy_mesh(folder: Path, to: Path) -> None:
    """Copy the folder of a mesh; links that leave it, pipes and devices are refused, not followed."""
    whole = os.path.realpath(folder)
    for place, folders, files in os.walk(folder):
        for path in (Path(place, name) for name in (*folders, *files)):
            inside = os.path.realpath(path).startswith(whole + os.sep)
            if not inside or not (path.is_file() or (path.is_dir() and not path.is_symlink())):
                raise InputError(f"{path} is no file of this folder but leads elsewhere; put a copy there")
    shutil.copytree(folder, to)


def bring_certificates(folder: Path, mesh: Mesh) -> None:
    """Have files that name certificates on other machines name those of this one, in a copy of a mesh."""
    if "tls_at" in mesh.options:
        for name in (name for node in mesh.nodes for name in node.configs):
            text = (folder / name).read_text()
            (folder / name).write_text(text.replace(f"{mesh.options['tls_at']}/", f"{mesh.options['tls']}/"))


def absolute_path(text: str, where: Location, config: Path, folder: Path, shown: str | None = None) -> str:
    """Resolve a path of a configuration, from the configuration's own folder or the mesh's; it must exist."""
    for base in (config.parent, folder):
        if (base / text).exists():
            return str((base / text).resolve())
    raise where.fault(f"{shown or repr(text)} is not there; it is looked for beside the file and in {folder}")


def find_link(mesh: Mesh, dialer: str, acceptor: str, account: str) -> MeshLink:
    """Return a link of one account as the manifest has it, or make one that carries what both ends want."""
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


def number_repeats(links: list[MeshLink]) -> tuple[MeshLink, ...]:
    """Give a doubled link another name: names are unique in a mesh."""
    seen: dict[str, int] = {}
    found = []
    for link in links:
        seen[link.name] = seen.get(link.name, 0) + 1
        found.append(replace(link, name=f"{link.name}~{seen[link.name]}") if seen[link.name] > 1 else link)
    return tuple(found)
