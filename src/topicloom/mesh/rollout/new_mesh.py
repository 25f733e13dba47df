"""The new mesh of a roll-out by name: hosts, ports, files and accounts of the old one, and what grew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from topicloom.errors import InputError
from topicloom.mesh.model.config_files import LOOPBACK, same_host
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode
from topicloom.mesh.model.topic_trees import PlannedLink
from topicloom.mesh.plan.hosts import MAX_PORT, Place, is_loopback
from topicloom.mesh.plan.mesh_plan import MeshPlan, MeshShape, mesh_topic
from topicloom.mesh.plan.names import file_stems
from topicloom.mesh.plan.one_way import keep_one_way
from topicloom.mesh.plan.roles import TopicRoles
from topicloom.mesh.topic_trees.dialing import start_order


def stems_of(mesh: Mesh) -> dict[str, str]:
    """Return the short name of each node, from its files."""
    return {node.name: stem_of(node.configs[0]) for node in mesh.nodes}


def stem_of(file: str) -> str:
    """Return the short name of the node that a file belongs to.

    >>> stem_of("a.b.conf"), stem_of("n1~A0.json5")
    ('a.b', 'n1')
    """
    return file.rpartition(".")[0].partition("~")[0]


def accounts_of(mesh: Mesh) -> dict[str, tuple[str, ...]]:
    """Return the accounts of each node, in the order of the mesh."""
    wanted: dict[str, set[str]] = {node.name: set() for node in mesh.nodes}
    for topic in mesh.topics:
        for node in topic.subscribers:
            wanted[node].add(topic.account or "")
    return {node: tuple(one for one in mesh.accounts if one in own) for node, own in wanted.items()}


def old_plan(old: Mesh, mesh: Mesh | None = None) -> MeshPlan:
    """Return what writes the old mesh, or another one for its nodes and for those it lets in."""
    return MeshPlan(mesh or old, stems_of(old), accounts_of(old), accepting=old if mesh else None)


def grown_stems(old: Mesh, nodes: Sequence[str]) -> dict[str, str]:
    """Return short names: old nodes keep theirs, new ones get some that are free."""
    known = {node: stem for node, stem in stems_of(old).items() if node in set(nodes)}
    used = {stem.lower() for stem in known.values()}
    for node in nodes:
        if node not in known:
            plain, number = file_stems([node])[node], 1
            stem = plain
            while stem.lower() in used:
                number += 1
                stem = f"{plain}_{number}"
            known[node] = stem
            used.add(stem.lower())
    return known


@dataclass(frozen=True, eq=False)
class Growth:
    """What the new mesh takes over, and from whom; `logins` are the users of clients by node."""

    old: Mesh
    shape: MeshShape
    members: Mapping[str, Sequence[str]]
    nodes: Sequence[str]
    places: Mapping[str, Place]
    users: Mapping[str, str]
    filters: bool = False
    roles: Mapping[str, TopicRoles] = field(default_factory=dict)

    def plan(self, links: Sequence[MeshLink], account_of: Mapping[str, str]) -> MeshPlan:
        """Return the new mesh and what writes it."""
        stems = grown_stems(self.old, self.nodes)
        named = sorted(set(account_of.values()), key=lambda name: (len(name), name))
        topics = tuple(
            mesh_topic(
                self.shape.names,
                topic,
                tuple(own),
                account_of.get(topic),
                filters=self.filters,
                roles=self.roles.get(topic, TopicRoles()),
            )
            for topic, own in self.members.items()
        )
        mesh = replace(
            self.old,
            nodes=tuple(MeshNode(node, "", {}, ()) for node in self.nodes),
            links=tuple(links),
            topics=topics,
            accounts=tuple(named),
        )
        wanted = accounts_of(mesh)
        mesh = replace(mesh, nodes=tuple(self._nodes(stems, wanted)), start_order=self._order(links))
        return MeshPlan(keep_one_way(mesh), stems, wanted)

    def _order(self, links: Sequence[MeshLink]) -> tuple[str, ...]:
        number = {node: at for at, node in enumerate(self.nodes)}
        planned = [
            PlannedLink(
                number[link.dialer], number[link.acceptor], (), -1, tuple(number[end] for end in link.backups)
            )
            for link in links
        ]
        return tuple(self.nodes[at] for at in start_order(len(self.nodes), planned))

    def _nodes(self, stems: Mapping[str, str], wanted: Mapping[str, tuple[str, ...]]) -> list[MeshNode]:
        known = {node.name: node for node in self.old.nodes}
        taken: dict[str, set[int]] = {}
        for node in self.old.nodes:
            taken.setdefault(same_host(node.host), set()).update(node.ports.values())
        made = []
        for name in self.nodes:
            before = known.get(name)
            host = before.host if before else self._host(name)
            ports = dict(before.ports) if before else {}
            needs = [(one, self.shape.ports[0][1]) for one in wanted[name]]
            for purpose, base in needs if self.shape.by_account else self.shape.ports:
                if purpose not in ports:
                    ports[purpose] = self._port(name, host, base, taken, first=not ports)
            if self.shape.by_account:
                ports = {account: ports[account] for account in wanted[name]}
            parts = wanted[name] if self.shape.by_account else ("",)
            files = tuple(f"{stems[name]}{'~' if part else ''}{part}{self.shape.suffix}" for part in parts)
            made.append(MeshNode(name, host, ports, files, self.users.get(name)))
        return made

    def _host(self, node: str) -> str:
        if node in self.places:
            return self.places[node].host
        if all(is_loopback(other.host) for other in self.old.nodes):
            return LOOPBACK
        raise InputError(f"node {node!r} is new and has no host; name it in `hosts`")

    def _port(self, node: str, host: str, base: int, taken: dict[str, set[int]], *, first: bool) -> int:
        used = taken.setdefault(same_host(host), set())
        chosen = self.places[node].port if first and node in self.places else None
        port = chosen or next((one for one in range(base, MAX_PORT + 1) if one not in used), None)
        if port is None or (chosen and chosen in used):
            raise InputError(f"host {host} has no free port for node {node!r}")
        used.add(port)
        return port


def files_by_node(folder: Path, stems: Mapping[str, str]) -> dict[str, dict[str, bytes]]:
    """Return the files of each node in a folder."""
    node_of = {stem: node for node, stem in stems.items()}
    found: dict[str, dict[str, bytes]] = {node: {} for node in stems}
    for path in folder.iterdir():
        node = node_of.get(stem_of(path.name))
        if node is not None and path.is_file():
            found[node][path.name] = path.read_bytes()
    return found
