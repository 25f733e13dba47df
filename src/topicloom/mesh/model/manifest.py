"""An exported mesh on disk: manifest.json and the configurations it names.

Only this file writes or reads manifest.json. Exports that are no mesh have one too, which lists their files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import msgspec

from topicloom.base.summaries import FORMAT, UNSET, Summary, UnsetType, to_json
from topicloom.errors import InputError
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode, MeshTopic
from topicloom.tables.folder import check_own_folder, write_json
from topicloom.version import __version__

MANIFEST = "manifest.json"
SECRET = 0o600
"""Mode of files that hold passwords: nobody but their owner reads them."""


class MeshSummary(Summary, frozen=True):
    """A mesh as its manifest has it: all but the kind, which stands before."""

    nodes: tuple[MeshNode, ...]
    links: tuple[MeshLink, ...]
    topics: tuple[MeshTopic, ...]
    start_order: tuple[str, ...]
    accounts: tuple[str, ...]
    options: Mapping[str, str]

    @classmethod
    def of(cls, mesh: Mesh) -> MeshSummary:
        return cls(mesh.nodes, mesh.links, mesh.topics, mesh.start_order, mesh.accounts, mesh.options)


class Manifest(Summary, frozen=True, kw_only=True):
    """The content of manifest.json; only meshes of brokers have a `mesh`."""

    format: int = FORMAT
    kind: str
    version: str = __version__
    mesh: MeshSummary | UnsetType = UNSET
    files: list[str]

    FLAT = frozenset({"mesh"})


class ManifestHead(Summary, frozen=True):
    """What a manifest says of itself, whatever is wrong with it."""

    format: object = None
    kind: object = None
    links: msgspec.Raw | UnsetType = UNSET
    files: object = None


def mesh_digest(mesh: Mesh) -> str:
    """A short digest by which a configuration names the manifest it belongs to."""
    return hashlib.sha256(to_json(MeshSummary.of(mesh))).hexdigest()[:12]


def write_mesh(
    folder: Path,
    mesh: Mesh,
    configs: Mapping[str, str],
    *,
    secret: Collection[str] = (),
) -> None:
    """Write the configurations, file name to text, and the manifest into an existing folder.

    The files named in `secret` are readable by their owner only.
    """
    for name, text in configs.items():
        mode = SECRET if name in secret else 0o644
        descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
    write_manifest(folder, mesh.kind, [*configs, MANIFEST], MeshSummary.of(mesh))


def write_manifest(
    folder: Path, kind: str, files: Iterable[str], mesh: MeshSummary | UnsetType = UNSET
) -> None:
    """The manifest of any export; `files` are all files of the folder."""
    write_json(Manifest(kind=kind, mesh=mesh, files=sorted(files)), folder / MANIFEST)


def kind_of(folder: Path) -> str:
    """The kind of an exported folder."""
    return str(_read(folder).kind)


def read_mesh(folder: Path) -> Mesh:
    """The mesh of an exported folder; refused where the manifest or a configuration is missing or broken."""
    path = folder / MANIFEST
    head = _read(folder)
    if head.format != FORMAT:
        raise InputError(f"{path}: format is {head.format!r}, this version reads {FORMAT}")
    if head.links is UNSET:
        raise InputError(f"{path} is no mesh of brokers but an export of kind {head.kind!r}")
    try:
        mesh = msgspec.json.decode(path.read_bytes(), type=Mesh)
    except msgspec.ValidationError as error:
        raise InputError(f"{path} is damaged: {error}; export it again") from None
    fault = _fault(mesh)
    if fault:
        raise InputError(f"{path} is damaged: {fault}; export it again")
    for node in mesh.nodes:
        for name in node.configs:
            if not (folder / name).is_file():
                raise InputError(f"{path}: configuration {name} of node {node.name!r} is not in the folder")
    return mesh


def check_export_out(out: Path, kind: str) -> None:
    """Refuse to overwrite anything but an earlier export of the same kind or an empty folder."""
    check_own_folder(out, f"`out={out}`", "an earlier export", _is_export)
    if (out / MANIFEST).is_file() and kind_of(out) != kind:
        raise InputError(
            f"`out={out}` holds an export of kind {kind_of(out)}; choose another folder, or remove it"
        )


def _read(folder: Path) -> ManifestHead:
    path = folder / MANIFEST
    try:
        # As text first: what is passed over here must be sound too.
        return msgspec.json.decode(path.read_bytes().decode(), type=ManifestHead)
    except OSError as error:
        raise InputError(f"{folder} is not an export: cannot read {MANIFEST} ({error.strerror})") from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InputError(f"{path} is not valid JSON; export it again") from None


def _is_export(folder: Path) -> bool:
    """Was everything in this folder written by an earlier export?"""
    try:
        head = _read(folder)
    except InputError:
        return False
    if head.format != FORMAT or not isinstance(head.files, list):
        return False
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    return there <= {MANIFEST, *map(str, head.files)}


def _fault(mesh: Mesh) -> str | None:
    """The first thing in a manifest that does not fit the rest of it, by field."""
    nodes = {node.name for node in mesh.nodes}
    accounts, topics = {None, *mesh.accounts}, {topic.topic for topic in mesh.topics}
    configs = [name for node in mesh.nodes for name in node.configs]
    for field, values in (
        ("nodes", [node.name for node in mesh.nodes]),
        ("links", [link.name for link in mesh.links]),
        ("topics", [topic.topic for topic in mesh.topics]),
        ("topics (name)", [topic.name for topic in mesh.topics]),
        ("nodes (configs)", configs),
    ):
        seen: set[str] = set()
        for value in values:
            if value in seen:
                return f"{field} has {value!r} twice"
            seen.add(value)
    if len(mesh.start_order) != len(nodes) or set(mesh.start_order) != nodes:
        return "start_order is not an order of all nodes"
    for name in configs:
        if name in (".", "..", MANIFEST) or not name or "/" in name or "\\" in name or "\0" in name:
            return f"nodes: configs has {name!r}, which is no name of a configuration file"
    for node in mesh.nodes:
        if not all(1 <= port <= 65535 for port in node.ports.values()):
            return f"nodes: a port of {node.name!r} is not from 1 to 65535"
    for link in mesh.links:
        unknown = next((end for end in (link.dialer, link.acceptor, *link.backups) if end not in nodes), None)
        if unknown is not None:
            return f"links: {link.name!r} names {unknown!r}, which is not among the nodes"
        if link.dialer in (link.acceptor, *link.backups):
            return f"links: {link.name!r} dials its own end"
        missing = next((topic for topic in link.topics if topic not in topics), None)
        if missing is not None:
            return f"links: {link.name!r} carries {missing!r}, which is not among the topics"
        if link.account not in accounts:
            return f"links: {link.name!r} has account {link.account!r}, which is not among the accounts"
    for topic in mesh.topics:
        stranger = next((node for node in topic.subscribers if node not in nodes), None)
        if stranger is not None:
            return f"topics: subscriber {stranger!r} of {topic.topic!r} is not among the nodes"
        if topic.account not in accounts:
            return f"topics: {topic.topic!r} has account {topic.account!r}, which is not among the accounts"
    return None
