"""Which files a table consists of. No row is read here.

Paths without a scheme are the machine's own; `s3a:`, `hdfs:`, `file:` and the like are listed through
Hadoop, so everything works on them too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicloom.errors import InputError
from topicloom.tables.source import READABLE, DataFile, Resolved, TableSource, format_of, is_address
from topicloom.tables.spark.failures import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def resolve(spark: SparkSession, source: TableSource) -> Resolved:
    """Return the files that `source` means; raises InputError when there are none or they cannot be used."""
    if not source.path:
        raise InputError(f"the path of the {source.what} is empty: name a file or a folder")
    listing = _list_hadoop(spark, source.path) if is_address(source.path) else _list_local(source.path)
    if not listing.is_folder:
        return _with_format(source, [(listing.path, source.path)])
    names = {name for name, _ in listing.entries}
    part = f"{source.what}.parquet"
    if "summary.json" in names and part in names:
        # A build's own table: its columns and format are known.
        inner = f"{source.path.rstrip('/')}/{part}"
        return resolve(spark, TableSource(inner, source.fields, what=source.what, options=source.options))
    return _with_format(source, _data_files(source, listing))


def signature(spark: SparkSession, source: TableSource) -> list[list[str | int]]:
    """Return name, size and time of change of every file of a table: does a later run see the same?"""
    found: list[list[str | int]] = []
    for file in resolve(spark, source).files:
        if is_address(file.path):
            with spark_errors(source.path):
                system, place = hadoop_file(spark, file.path)
                status = system.getFileStatus(place)
                found.append([file.path, int(status.getLen()), int(status.getModificationTime())])
        else:
            there = os.stat(file.path)
            found.append([file.path, there.st_size, there.st_mtime_ns])
    return found


def hadoop_file(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """Return Java's objects for the file system of an address and for the file."""
    context: Any = spark.sparkContext
    place = context._jvm.org.apache.hadoop.fs.Path(path)
    return place.getFileSystem(context._jsc.hadoopConfiguration()), place


@dataclass(frozen=True, slots=True)
class _Listing:
    path: str
    is_folder: bool
    entries: tuple[tuple[str, bool], ...] = ()  # (name, is a folder)


def _list_local(path: str) -> _Listing:
    named = os.path.expanduser(path)
    try:
        # Hadoop takes `..` out of a path by its text, the system by following links: the latter is meant.
        if not Path(named).is_dir():
            folder, name = os.path.split(named)
            place = os.path.join(os.path.realpath(folder), name)
            with open(place, "rb"):
                return _Listing(place, False)
        place = os.path.realpath(named)
        entries = sorted((entry.name, entry.is_dir()) for entry in os.scandir(place))
    except FileNotFoundError:
        raise InputError(f"no such file or folder: {path}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot read {path}: {reason.lower()}") from None
    return _Listing(place, True, tuple(entries))


def _list_hadoop(spark: SparkSession, path: str) -> _Listing:
    with spark_errors(path):
        system, place = hadoop_file(spark, path)
        if not system.exists(place):
            raise InputError(f"no such file or folder: {path}")
        status = system.getFileStatus(place)
        whole = str(status.getPath().toString())
        if not status.isDirectory():
            return _Listing(whole, False)
        items = system.listStatus(place)
        inside = sorted((str(item.getPath().getName()), bool(item.isDirectory())) for item in items)
        return _Listing(whole, True, tuple(inside))


def _data_files(source: TableSource, listing: _Listing) -> list[tuple[str, str]]:
    """Return the data files right inside a folder; names that begin with `_` or `.` are not data."""
    visible = [(name, folder) for name, folder in listing.entries if name[0] not in "_."]
    inner = next((name for name, folder in visible if folder), None)
    if inner is not None:
        raise InputError(
            f"folder {source.path} holds another folder, {inner}: name the folder that holds the data files"
        )
    if not visible:
        raise InputError(f"folder {source.path} holds no data file: its {source.what} would be empty")
    base, shown = listing.path.rstrip("/"), source.path.rstrip("/")
    return [(f"{base}/{name}", f"{shown}/{name}") for name, _ in visible]


def _with_format(source: TableSource, paths: Iterable[tuple[str, str]]) -> Resolved:
    files: list[DataFile] = []
    formats: dict[str, str] = {}
    for path, shown in paths:
        kind, compression = format_of(shown)
        kind = source.format or kind
        if kind is None:
            raise InputError(f"cannot tell the format of {shown} from its name: it should end in {READABLE}")
        formats.setdefault(kind, shown)
        files.append(DataFile(path, shown, None if kind == "parquet" else compression))
    if len(formats) > 1:
        examples = " and ".join(list(formats.values())[:2])
        raise InputError(
            f"the files of {source.path} are of different formats ({examples}): give one at a time"
        )
    return Resolved(next(iter(formats)), tuple(files))
