"""Judge the configurations of real brokers: rebuild the mesh from a folder and name what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.mesh.audit.broker_files import BrokerDirectory, find_configs, name_brokers, read_brokers
from topicloom.mesh.audit.coverage import Wanted
from topicloom.mesh.audit.findings import Audit, several
from topicloom.mesh.kinds.kind import AuditSupport
from topicloom.mesh.kinds.registry import KINDS, auditable, find_auditing, host_columns
from topicloom.mesh.model.manifest import MANIFEST, read_mesh
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.plan.hosts import read_all_hosts
from topicloom.mesh.plan.roles import TopicRoles, roles_of
from topicloom.overlay.model.interest import Interest

C = TypeVar("C")


def audit_folder(
    kind: str,
    folder: Path,
    *,
    interest: Interest | None = None,
    hosts: Path | None = None,
    one_way_ok: bool = False,
    notice: Callable[[str], None] = lambda text: None,
    progress: Progress = SILENT,
) -> Audit:
    """Find what is wrong in a folder of configurations.

    Coverage is judged against the interest, or against the manifest of an exported folder. `hosts` is a table
    node, host, port that says where each broker is; one that has several addresses may have several rows.
    With `one_way_ok` links that carry a topic in one direction are meant so. `notice` hears of rows of hosts
    that are not used.
    """
    auditing = find_auditing(kind)
    progress.phase("read configurations")
    mesh = read_mesh(folder) if (folder / MANIFEST).is_file() else None
    if mesh is not None and mesh.kind != kind:
        find_auditing(mesh.kind)
        raise InputError(f"{folder} holds a mesh of kind {mesh.kind}; verify it with `{mesh.kind}`")
    confs = _read(auditing, folder, mesh)
    where = _hosts(hosts, mesh, list(confs), notice)
    nobody: frozenset[str] = frozenset()
    brokers = (auditing.broker(name, where.get(name, nobody), conf) for name, conf in confs.items())
    directory = BrokerDirectory(brokers, one_way_ok=one_way_ok)
    # Files without any link are not those that were meant; in an exported folder there may be none.
    if mesh is None and not any(map(auditing.has_links, confs.values())):
        raise InputError(f"no configuration in {folder} has a {auditing.no_link}")
    progress.phase("follow messages")
    return auditing.judge(directory, _wanted(interest, mesh, confs, kind, folder), mesh)


def _read(auditing: AuditSupport[C], folder: Path, mesh: Mesh | None) -> dict[str, C]:
    """Read the configuration of each broker: as the manifest says, else all files that no other includes."""
    if mesh is not None:
        return {node.name: auditing.read(folder / node.configs[0], folder) for node in mesh.nodes}
    found = read_brokers(find_configs(folder), lambda path: auditing.read(path, folder), auditing.parts_of)
    called = [word for known in auditable().values() for word in known.called]
    return {name: found[path] for name, path in name_brokers(folder, found, called).items()}


def _hosts(
    hosts: Path | None, mesh: Mesh | None, names: list[str], notice: Callable[[str], None]
) -> dict[str, frozenset[str]]:
    """Return the hosts of brokers with these names, as far as the user or the manifest says."""
    if hosts is not None:
        what = f"among the brokers, which are called by their files: {several(names)}"
        return read_all_hosts(hosts, names, notice, what=what, more=host_columns())
    return {node.name: frozenset({node.host}) for node in mesh.nodes} if mesh is not None else {}


def _wanted(
    interest: Interest | None, mesh: Mesh | None, brokers: Mapping[str, object], kind: str, folder: Path
) -> dict[str, Wanted] | None:
    """Return the brokers that want each topic, by what the brokers call it."""
    if interest is None:
        if mesh is None:
            return None
        return {
            topic.sent_as: _wanted_by(topic.subscribers, topic.publishers, topic.receivers)
            for topic in mesh.topics
        }
    nodes: list[str] = interest.node_ids.to_pylist()
    missing = [node for node in nodes if node not in brokers]
    if missing:
        raise InputError(
            f"{folder} has no broker {missing[0]!r}, which the interest has as a node; brokers are called by "
            f"their files: {several(brokers)}"
        )
    topics: list[str] = interest.topic_ids.to_pylist()
    roles = roles_of(interest)
    found = {}
    for number, topic in enumerate(topics):
        own = roles.get(topic, TopicRoles())
        members = [nodes[node] for node in interest.nodes_of(number)]
        found[KINDS[kind].names.encode(topic)] = _wanted_by(members, own.publishers, own.receivers)
    return found


def _wanted_by(
    members: Iterable[str], publishers: Iterable[str] | None, receivers: Iterable[str] | None
) -> Wanted:
    roles = (None if own is None else frozenset(own) for own in (publishers, receivers))
    return Wanted(frozenset(members), *roles)
