"""Judge the configurations of real brokers: rebuild the mesh from a folder and name what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from topicloom.errors import InputError
from topicloom.mesh.audit.findings import Audit, several
from topicloom.mesh.audit.folder import Broker, Directory, find_configs, name_brokers, read_brokers
from topicloom.mesh.kinds.mosquitto.audit import audit_mosquitto
from topicloom.mesh.kinds.mosquitto.read import MosquittoConf, read_mosquitto
from topicloom.mesh.kinds.nats.audit import audit_nats
from topicloom.mesh.kinds.nats.read import GLOBAL, NatsConf, read_nats
from topicloom.mesh.model.folder import MANIFEST, read_mesh
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.model.where import ANY_HOST
from topicloom.mesh.plan.hosts import read_hosts
from topicloom.mesh.plan.names import encode_name
from topicloom.model.interest import Interest
from topicloom.model.progress import SILENT, Progress

C = TypeVar("C")
Hosts = Callable[[Iterable[str]], Mapping[str, str]]
"""The hosts of brokers with these names, as far as the user or the manifest says."""


def audit_folder(
    kind: str,
    folder: Path,
    *,
    interest: Interest | None = None,
    hosts: Path | None = None,
    progress: Progress = SILENT,
) -> Audit:
    """The findings in a folder of configurations.

    Coverage is judged against the interest, or against the manifest of an exported folder. `hosts` is a table
    node, host, port that says where each broker is.
    """
    progress.phase("read configurations")
    mesh = read_mesh(folder) if (folder / MANIFEST).is_file() else None
    if mesh is not None and mesh.kind != kind:
        raise InputError(f"{folder} holds a mesh of kind {mesh.kind}; verify it with --{mesh.kind}")

    def where(names: Iterable[str]) -> dict[str, str]:
        return _hosts(hosts, mesh, list(names))

    if kind == "mosquitto":
        mosquittos = _mosquittos(folder, mesh, where)
        linked = any(broker.conf.bridges for broker in mosquittos.brokers.values())
        _refuse_unlinked(folder, mesh, linked, "bridge; a bridge begins with a line `connection NAME`")
        progress.phase("follow messages")
        return audit_mosquitto(mosquittos, _wanted(interest, mesh, mosquittos.brokers, kind, folder))
    servers = _servers(folder, mesh, where)
    linked = any(broker.conf.remotes for broker in servers.brokers.values())
    _refuse_unlinked(folder, mesh, linked, "leaf node remote; routes within a cluster are not judged")
    progress.phase("follow messages")
    wanted = _wanted(interest, mesh, servers.brokers, kind, folder)
    return audit_nats(servers, wanted, _accounts(wanted, mesh, servers) if wanted is not None else None)


def _refuse_unlinked(folder: Path, mesh: Mesh | None, linked: bool, what: str) -> None:
    """Files without any link are not those that were meant; in an exported folder there may be none."""
    if mesh is None and not linked:
        raise InputError(f"no configuration in {folder} has a {what}")


def _read(
    folder: Path, mesh: Mesh | None, read: Callable[[Path], C], parts_of: Callable[[C], Iterable[Path]]
) -> dict[str, C]:
    """The configuration of each broker: as the manifest says, otherwise all files that are no parts."""
    if mesh is not None:
        return {node.name: read(folder / node.configs[0]) for node in mesh.nodes}
    found = read_brokers(find_configs(folder), read, parts_of)
    return {name: found[path] for name, path in name_brokers(folder, found).items()}


def _hosts(hosts: Path | None, mesh: Mesh | None, names: list[str]) -> dict[str, str]:
    if hosts is not None:
        what = f"among the brokers, which are called by their files: {several(names)}"
        return {name: place.host for name, place in read_hosts(hosts, names, what=what).items()}
    return {node.name: node.host for node in mesh.nodes} if mesh is not None else {}


def _mosquittos(folder: Path, mesh: Mesh | None, where: Hosts) -> Directory[MosquittoConf]:
    confs = _read(folder, mesh, partial(read_mosquitto, root=folder), lambda conf: conf.folders)
    hosts = where(confs)
    return Directory(
        Broker(
            name,
            _known_hosts(hosts.get(name), (listener.host for listener in conf.listeners)),
            frozenset(listener.port for listener in conf.listeners),
            conf,
        )
        for name, conf in confs.items()
    )


def _servers(folder: Path, mesh: Mesh | None, where: Hosts) -> Directory[NatsConf]:
    confs = _read(folder, mesh, read_nats, lambda conf: map(Path, conf.files))
    hosts = where(confs)
    return Directory(
        Broker(
            name,
            _known_hosts(hosts.get(name), (port.host for port in conf.ports if port.purpose == "leaf"))
            | ({conf.name.lower()} if conf.name else frozenset()),
            frozenset(port.port for port in conf.ports if port.purpose == "leaf"),
            conf,
        )
        for name, conf in confs.items()
    )


def _known_hosts(told: str | None, bound: Iterable[str | None]) -> frozenset[str]:
    """Where a broker is: as told, otherwise what it binds to, if that is one address."""
    if told is not None:
        return frozenset({told})
    return frozenset(host for host in bound if host is not None and host not in ANY_HOST)


def _wanted(
    interest: Interest | None, mesh: Mesh | None, brokers: Mapping[str, object], kind: str, folder: Path
) -> dict[str, frozenset[str]] | None:
    """The brokers that want each topic, by what the brokers call it."""
    if interest is None:
        return (
            {topic.name: frozenset(topic.subscribers) for topic in mesh.topics} if mesh is not None else None
        )
    nodes: list[str] = interest.node_ids.to_pylist()
    missing = [node for node in nodes if node not in brokers]
    if missing:
        raise InputError(
            f"{folder} has no broker {missing[0]!r}, which the interest has as a node; brokers are called by "
            f"their files: {several(brokers)}"
        )
    topics: list[str] = interest.topic_ids.to_pylist()
    return {
        encode_name(topic, kind): frozenset(nodes[node] for node in interest.nodes_of(number))
        for number, topic in enumerate(topics)
    }


def _accounts(wanted: Iterable[str], mesh: Mesh | None, servers: Directory[NatsConf]) -> dict[str, str]:
    """The account of each topic: from the manifest, or the only one that there is."""
    if mesh is not None:
        named = {topic.name: topic.account or GLOBAL for topic in mesh.topics}
        if set(wanted) <= named.keys():
            return named
    used = {remote.account for broker in servers.brokers.values() for remote in broker.conf.remotes}
    if len(used) > 1:
        raise InputError(
            f"links are in accounts {several(sorted(used))}, and only a manifest says which topic is in "
            "which; leave INTEREST out, or verify an exported folder"
        )
    return dict.fromkeys(wanted, next(iter(used), GLOBAL))
