"""An exported mesh on disk: manifest.json and the configurations it names.

Only this file writes or reads manifest.json. Exports that are no mesh have one too, which lists their files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec

from topicloom.base.summaries import FORMAT, UNSET, Summary, UnsetType, to_json
from topicloom.errors import InputError
from topicloom.mesh.model import manifest_faults
from topicloom.mesh.model.config_files import refuse_doubled, refusing_depth
from topicloom.mesh.model.manifest_faults import fault_of
from topicloom.mesh.model.mesh import Mesh
from topicloom.tables.folder import check_own_folder, write_json
from topicloom.version import __version__

MANIFEST = manifest_faults.MANIFEST
SECRETS = manifest_faults.SECRETS
SECRET = 0o600  # mode of files that hold passwords: nobody but their owner reads them


class Manifest(Summary, frozen=True, kw_only=True):
    """The content of manifest.json; only meshes of brokers have a `mesh`."""

    format: int = FORMAT
    kind: str
    version: str = __version__
    mesh: dict[str, Any] | UnsetType = UNSET
    files: list[str]
    digests: dict[str, str]  # of each file as it was written: an edit by hand shows
    digest: str = ""  # of the manifest itself, as it is without this one

    FLAT = frozenset({"mesh"})


class ManifestHead(Summary, frozen=True):
    """What a manifest says of itself, whatever is wrong with it."""

    format: object = None
    kind: object = None
    links: msgspec.Raw | UnsetType = UNSET
    files: object = None
    digests: object = None
    digest: object = None


def _without_kind(mesh: Mesh) -> dict[str, Any]:
    """Return a mesh as its manifest has it: all but the kind, which stands before."""
    return {one.name: getattr(mesh, one.name) for one in fields(mesh) if one.name != "kind"}


def write_mesh(folder: Path, mesh: Mesh, configs: Mapping[str, str], *, secret: Collection[str] = ()) -> None:
    """Write the configurations, file name to text, and the manifest into an existing folder.

    The files named in `secret` are readable by their owner only.
    """
    for name, text in configs.items():
        mode = SECRET if name in secret else 0o644
        descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
    write_manifest(folder, mesh.kind, [*configs, MANIFEST], _without_kind(mesh))


def write_manifest(
    folder: Path, kind: str, files: Iterable[str], mesh: dict[str, Any] | UnsetType = UNSET
) -> None:
    """Write the manifest of any export; `files` are all files of the folder."""
    names = sorted(files)
    digests = {name: _digest(folder / name) for name in names if name != MANIFEST}
    manifest = Manifest(kind=kind, mesh=mesh, files=names, digests=digests)
    own = _digest_of(to_json(manifest))
    write_json(msgspec.structs.replace(manifest, digest=own), folder / MANIFEST)


def _digest(path: Path) -> str:
    return _digest_of(path.read_bytes())


def _digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def edited_files(folder: Path) -> list[str]:
    """Return the files of an export that are not as they were written.

    A file that is gone cannot be lost any more, except secrets: without theirs everybody would get new ones.
    """
    head = _read(folder)
    found = head.digests.items() if isinstance(head.digests, dict) else ()
    edited = [name for name, digest in found if not _is_as_written(folder / str(name), digest)]
    return edited if head.digest is None or head.digest == _own_digest(folder) else [MANIFEST, *edited]


def _own_digest(folder: Path) -> str:
    """Return the digest of a manifest as it is now, whatever its spaces."""
    path = folder / MANIFEST
    with refusing_depth(str(path)):
        return _digest_of(msgspec.json.encode({**msgspec.json.decode(path.read_bytes()), "digest": ""}))


def _is_as_written(path: Path, digest: object) -> bool:
    return _digest(path) == digest if path.is_file() else path.name != SECRETS


def kind_of(folder: Path) -> str:
    """Return the kind of an exported folder."""
    return str(_read(folder).kind)


def read_mesh(folder: Path) -> Mesh:
    """Read the mesh of an exported folder; refuse one with a missing or broken manifest or configuration."""
    path = folder / MANIFEST
    head = _read(folder)
    if head.format != FORMAT:
        raise InputError(f"{path}: format is {head.format!r}, this version reads {FORMAT}")
    if head.links is UNSET:
        raise InputError(f"{path} is no mesh of brokers but an export of kind {head.kind!r}")
    try:
        with refusing_depth(str(path)):
            mesh = msgspec.json.decode(path.read_bytes(), type=Mesh)
    except msgspec.ValidationError as error:
        raise InputError(f"{path} is damaged: {error}; export it again") from None
    refuse_doubled(path.read_bytes(), str(path))
    fault = fault_of(mesh)
    if fault:
        raise InputError(f"{path} is damaged: {fault}; export it again")
    for node in mesh.nodes:
        for name in node.configs:
            if not (folder / name).is_file():
                raise InputError(f"{path}: configuration {name} of node {node.name!r} is not in the folder")
    return mesh


def check_whole(folder: Path) -> None:
    """Refuse a folder without one of the files that its manifest lists; secrets may be kept elsewhere."""
    files = _read(folder).files
    for name in files if isinstance(files, list) else ():
        if name != SECRETS and not os.path.lexists(folder / str(name)):
            raise InputError(
                f"{folder / MANIFEST}: file {name!r} is not in the folder; take it from a copy, or export "
                "again"
            )


def check_export_out(out: Path, kind: str, *, overwrite: bool = False) -> None:
    """Refuse to overwrite anything but an earlier export of the same kind or an empty folder.

    Also refuse, unless told to `overwrite`, an export with files that were edited since.
    """
    check_own_folder(out, f"`out={out}`", "an earlier export", is_export)
    if (out / MANIFEST).is_file() and kind_of(out) != kind:
        raise InputError(
            f"`out={out}` holds an export of kind {kind_of(out)}; choose another folder, or remove it"
        )
    edited = edited_files(out) if (out / MANIFEST).is_file() and not overwrite else []
    if SECRETS in edited and not (out / SECRETS).exists():
        raise InputError(
            f"`out={out}`: {SECRETS} is gone, so all logins and links would get new passwords; put it back, "
            "or give `overwrite`"
        )
    if edited:
        more = f" and {len(edited) - 1:,} more" if len(edited) > 1 else ""
        raise InputError(
            f"`out={out}`: {edited[0]}{more} changed since it was exported, and that would be lost; keep a "
            "copy and give `overwrite`, or choose another folder"
        )


def _read(folder: Path) -> ManifestHead:
    path = folder / MANIFEST
    try:
        with refusing_depth(str(path)):
            # As text first: what is passed over here must be sound too.
            return msgspec.json.decode(path.read_bytes().decode(), type=ManifestHead)
    except OSError as error:
        raise InputError(f"{folder} is not an export: cannot read {MANIFEST} ({error.strerror})") from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InputError(f"{path} is not valid JSON; export it again") from None


def is_export(folder: Path) -> bool:
    """Return whether everything in this folder was written by an earlier export."""
    try:
        head = _read(folder)
    except InputError:
        return False
    if head.format != FORMAT or not isinstance(head.files, list):
        return False
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    return there <= {MANIFEST, *map(str, head.files)}
