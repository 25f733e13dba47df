"""Which files of this machine a table consists of. No row is read here; addresses: `spark/table_files.py`."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from topicloom.errors import InputError
from topicloom.tables.source import READABLE, DataFile, Resolved, TableSource, format_of
from topicloom.tables.table_formats import partition_of, refuse_other_formats
from topicloom.tables.table_manifest import FILES, named_table, read_manifest, table_here

SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".ods", ".numbers")


@dataclass(frozen=True, slots=True)
class Listing:
    """What lies at a path: a file, or a folder and its entries (name, is a folder)."""

    path: str
    is_folder: bool
    entries: tuple[tuple[str, bool], ...] = ()


def list_here(path: str) -> Listing:
    """Return what lies at a path of this machine."""
    named = os.path.expanduser(path)
    try:
        # Hadoop takes `..` out of a path by its text, the system by following links: the latter is meant.
        if not Path(named).is_dir():
            folder, name = os.path.split(named)
            place = os.path.join(os.path.realpath(folder), name)
            if not stat.S_ISREG(os.stat(place).st_mode):
                # It would be read more than once, and each time hold less.
                raise InputError(f"{path} is a pipe or a device, not a file: give - and send the rows there")
            with open(place, "rb"):
                return Listing(place, False)
        place = os.path.realpath(named)
        entries = sorted((entry.name, entry.is_dir()) for entry in os.scandir(place))
    except FileNotFoundError:
        raise InputError(f"no such file or folder: {path}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot read {path}: {reason.lower()}") from None
    return Listing(place, True, tuple(entries))


def read_here(path: str) -> bytes:
    """Return the content of a small file of this machine."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None


@dataclass(frozen=True, slots=True)
class Look:
    """How to look at what lies somewhere: here, or behind an address."""

    listing: Callable[[str], Listing] = list_here
    read: Callable[[str], bytes] = read_here


HERE = Look()


def resolve(source: TableSource, look: Look = HERE) -> Resolved:
    """Return the files that `source` means; raises InputError when there are none or they cannot be used."""
    if source.origin is not None:
        raise InputError(f"{source.path} is no file: Spark reads it")
    if not source.path:
        raise InputError(f"the path of the {source.what} is empty: name a file or a folder")
    listing = look.listing(source.place)
    if not listing.is_folder:
        return _with_format(source, [(listing.path, source.path, ())])
    names = {name for name, _ in listing.entries}
    if "summary.json" in names:
        own = own_part(source)
        place = own if own in names else named_table(look.read(f"{listing.path}/summary.json"), own)
        if place is not None:
            return resolve(inside(source, place), look)
    if FILES in names:
        return replace(_with_format(source, _named_files(source, listing, look)), named=True)

    def names_in(folder: str) -> set[str]:
        return {name for name, _ in look.listing(f"{source.path.rstrip('/')}/{folder}").entries}

    refuse_other_formats(source.path, names, names_in)
    return _with_format(source, _data_files(source, listing, look))


def own_part(source: TableSource) -> str:
    """Return the name of such a table in a folder that we wrote."""
    return f"{source.what}.parquet"


def inside(source: TableSource, place: str) -> TableSource:
    """Return the table of its kind inside a folder that we wrote: its columns and format are known."""
    path = f"{source.path.rstrip('/')}/{place}"
    return TableSource(path, source.fields, what=source.what, options=source.options)


def is_own(source: TableSource) -> bool:
    """Return whether the table lies in a folder of this machine that we wrote."""
    folder = Path(source.path).expanduser()
    return (
        bool(source.path)
        and source.origin is None
        and (folder / "summary.json").is_file()
        and table_here(folder, own_part(source)).exists()
    )


File = tuple[str, str, tuple[tuple[str, str | None], ...]]  # path, what the user calls it, its partition


def _named_files(source: TableSource, listing: Listing, look: Look) -> list[File]:
    """Return the files that a manifest names; the folder may hold others, which are not part of the table."""
    names = {name for name, _ in listing.entries}
    wanted = read_manifest(look.read(f"{listing.path.rstrip('/')}/{FILES}"), source.path).files
    for name in wanted:
        if name not in names:
            raise InputError(f"{source.path} is not whole: {name}, which {FILES} names, is not there")
    base, shown = listing.path.rstrip("/"), source.path.rstrip("/")
    return [(f"{base}/{name}", f"{shown}/{name}", ()) for name in wanted]


def _data_files(source: TableSource, listing: Listing, look: Look) -> list[File]:
    """Return the data files inside a folder and its partition folders, in the order of their names.

    Names that begin with `_` or `.` are not data.
    """
    found: list[File] = []

    def gather(listing: Listing, shown: str, partition: tuple[tuple[str, str | None], ...]) -> None:
        base = listing.path.rstrip("/")
        for name, is_folder in listing.entries:
            if name[0] in "_.":
                continue
            if not is_folder:
                found.append((f"{base}/{name}", f"{shown}/{name}", partition))
                continue
            column = partition_of(name)
            if column is None:
                raise InputError(
                    f"folder {shown} holds another folder, {name}: name the folder that holds the data files"
                )
            gather(look.listing(f"{base}/{name}"), f"{shown}/{name}", (*partition, column))

    gather(listing, source.path.rstrip("/"), ())
    if not found:
        raise InputError(f"folder {source.path} holds no data file: its {source.what} would be empty")
    columns = {tuple(column for column, _ in partition): shown for _, shown, partition in found}
    if len(columns) > 1:
        one, other = list(columns.values())[:2]
        raise InputError(f"{one} and {other} lie in folders of different partition columns: make them alike")
    return found


def _with_format(source: TableSource, paths: Iterable[File]) -> Resolved:
    files: list[DataFile] = []
    formats: dict[str, str] = {}
    for path, shown, partition in paths:
        kind, compression = format_of(shown)
        kind = source.format or kind
        if kind is None:
            told = f"; or give {source.options.format}" if source.options.format else ""
            if shown.lower().endswith(SPREADSHEETS):
                raise InputError(f"{shown} is a spreadsheet, which is not read: save the sheet as CSV")
            raise InputError(
                f"cannot tell the format of {shown} from its name: it should end in {READABLE}{told}"
            )
        formats.setdefault(kind, shown)
        files.append(DataFile(path, shown, None if kind == "parquet" else compression, partition))
    if len(formats) > 1:
        examples = " and ".join(list(formats.values())[:2])
        raise InputError(
            f"the files of {source.path} are of different formats ({examples}): give one at a time"
        )
    return Resolved(next(iter(formats)), tuple(files))
