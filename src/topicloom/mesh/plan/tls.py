"""Certificates of brokers: a folder with ca.crt and, for each node, NODE.crt and NODE.key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from topicloom.errors import InputError

AUTHORITY = "ca.crt"


@dataclass(frozen=True, slots=True)
class Certificates:
    """The files of one node, as absolute paths: they are named in its configuration, not copied."""

    authority: str
    certificate: str
    key: str


def check_certificates(folder: Path, stems: Iterable[str]) -> None:
    """Refuse a folder that lacks a file; `stems` are the nodes' names as in their configurations."""
    for name in (AUTHORITY, *(f"{stem}{end}" for stem in stems for end in (".crt", ".key"))):
        if not (folder / name).is_file():
            raise InputError(
                f"`tls={folder}` has no file {name}; it must hold {AUTHORITY} and for each node NODE.crt and "
                "NODE.key, NODE being the name of its configuration"
            )
    for part in str(folder.absolute()):
        if part in '"\\' or not part.isprintable():
            raise InputError(f"`tls={folder}`: the path has a character that configurations cannot hold")


def certificates_of(folder: Path, stem: str) -> Certificates:
    """The files of the node with this name."""
    base = folder.absolute()
    return Certificates(str(base / AUTHORITY), str(base / f"{stem}.crt"), str(base / f"{stem}.key"))
