"""Which files of this machine a table consists of. No row is read here; addresses: `spark/table_files.py`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from topicloom.errors import InputError
from topicloom.tables.source import READABLE, DataFile, Resolved, TableSource, format_of
from topicloom.tables.table_formats import partition_of, refuse_other_formats

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


def resolve(source: TableSource, list_path: Callable[[str], Listing] = list_here) -> Resolved:
    """Return the files that `source` means; raises InputError when there are none or they cannot be used."""
    if not source.path:
        raise InputError(f"the path of the {source.what} is empty: name a file or a folder")
    listing = list_path(source.place)
    if not listing.is_folder:
        return _with_format(source, [(listing.path, source.path, ())])
    names = {name for name, _ in listing.entries}
    if "summary.json" in names and own_part(source) in names:
        return resolve(inside(source), list_path)

    def names_in(folder: str) -> set[str]:
        return {name for name, _ in list_path(f"{source.path.rstrip('/')}/{folder}").entries}

    refuse_other_formats(source.path, names, names_in)
    return _with_format(source, _data_files(source, listing, list_path))


def own_part(source: TableSource) -> str:
    """Return the name of such a table in a folder that we wrote."""
    return f"{source.what}.parquet"


def inside(source: TableSource) -> TableSource:
    """Return the table of its kind inside a folder that we wrote: its columns and format are known."""
    path = f"{source.path.rstrip('/')}/{own_part(source)}"
    return TableSource(path, source.fields, what=source.what, options=source.options)


def is_own(source: TableSource) -> bool:
    """Return whether the table lies in a folder of this machine that we wrote."""
    folder = Path(source.path).expanduser()
    return bool(source.path) and (folder / "summary.json").is_file() and (folder / own_part(source)).exists()


File = tuple[str, str, tuple[tuple[str, str | None], ...]]  # path, what the user calls it, its partition


def _data_files(source: TableSource, listing: Listing, list_path: Callable[[str], Listing]) -> list[File]:
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
            gather(list_path(f"{base}/{name}"), f"{shown}/{name}", (*partition, column))

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
