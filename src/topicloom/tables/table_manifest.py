"""What a table at an address consists of: a small file in its folder, written last, names its files.

Whatever else lies there is not part of the table: a task that was given up may write for as long as it likes.
A folder without this file is taken as it is. Results that were copied from an address to a disk keep it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from topicloom.base.summaries import Summary
from topicloom.errors import InputError

FILES = "_files.json"
TABLES = (
    "tables"  # the key of a summary, and the folder of an address, where tables have folders of their own
)


class TableFiles(Summary, frozen=True):
    """The files of a table, the rows they have together, and its columns as Spark describes them.

    Without a description Spark looks into the files.
    """

    rows: int
    files: list[str]
    schema: dict[str, Any] | None = None


class Named(Summary, frozen=True):
    """As much of a summary.json as says where its tables are, by their names."""

    tables: dict[str, str] = msgspec.field(default_factory=dict)


def read_manifest(content: bytes, folder: str) -> TableFiles:
    """Return what the file in this folder says."""
    try:
        return msgspec.json.decode(content, type=TableFiles)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InputError(f"{folder}/{FILES} is damaged: make the table again") from None


def named_table(summary: bytes, name: str) -> str | None:
    """Return where, in the folder of a summary, the table of this name is; None: the summary names none."""
    try:
        place = msgspec.json.decode(summary, type=Named).tables.get(name)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    inside = place is not None and not place.startswith("/") and ".." not in place.split("/")
    return place if inside else None


def table_here(folder: Path, name: str) -> Path:
    """Return where the table of this name is in a folder of results on this machine."""
    if (folder / name).exists():
        return folder / name
    try:
        place = named_table((folder / "summary.json").read_bytes(), name)
    except OSError:
        place = None
    return folder / (place or name)


def files_here(table: Path) -> Path | list[Path]:
    """Return the files of a table on this machine, where a manifest names them; else the table itself."""
    try:
        content = (table / FILES).read_bytes()
    except OSError:
        return table
    return [table / name for name in read_manifest(content, str(table)).files]
