"""What the user says about a table of pairs, and which files that means. No row is read here.

Paths without a scheme are the machine's own; `s3a:`, `hdfs:`, `file:` and the like are listed through
Hadoop, so everything works on them too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicloom.errors import InputError, UsageError
from topicloom.spark.compress import SUFFIXES
from topicloom.spark.failures import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "json", ".ndjson": "json", ".json": "json"}
PARQUET_ENDINGS = (".parquet", ".parquet.gz", ".parquet.gzip", ".parquet.snappy", ".parquet.zst")
READABLE = ".csv, .tsv, .jsonl, .ndjson, .json or .parquet (text also with .gz, .bz2, .zst or .snappy)"

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.\-]+:/")


def is_address(path: str) -> bool:
    """Is this an address such as `s3a://...`, and not a path of the machine's own?"""
    return _SCHEME.match(path) is not None


def address(path: str | os.PathLike[str]) -> str:
    """A path of our own making as Spark is told it: a cluster's default file system may be another one.

    >>> address("/tmp/x"), address("hdfs://host/x")
    ('file:///tmp/x', 'hdfs://host/x')
    """
    path = os.fspath(path)
    return path if is_address(path) else f"file://{Path(path).absolute()}"


@dataclass(frozen=True, slots=True)
class OptionNames:
    """How the command line calls the options of this table, for messages."""

    first: str = "--node-column"
    second: str = "--topic-column"
    no_header: str = "--no-header"
    separator: str = "--separator"


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table of pairs as the user describes it; see `interest_source` and `edges_source`.

    `first` and `second` choose a column by name or by position from 1; None takes the default names, or else
    the first two columns. `format` and `quote` overrule what the file's ending says.
    """

    path: str
    first: str | None = None
    second: str | None = None
    names: tuple[str, str] = ("node", "topic")
    header: bool = True
    separator: str | None = None
    quote: bool | None = None
    multiline: bool = False
    format: str | None = None
    what: str = "interest"
    options: OptionNames = OptionNames()

    def __post_init__(self) -> None:
        separator = self.separator
        if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
            raise UsageError(
                f"{self.options.separator} {separator!r} cannot be used: give one character that is neither "
                "a quote nor a line end"
            )
        if self.format is not None and self.format not in ("csv", "tsv", "json", "parquet"):
            raise UsageError(f"unknown format {self.format!r}: it is one of csv, tsv, json, parquet")

    @property
    def extras(self) -> tuple[str, ...]:
        """The columns that mean something besides the two."""
        return {"interest": ("role", "rate"), "costs": ("cost",)}.get(self.what, ())


def interest_source(path: str | os.PathLike[str], **choices: Any) -> TableSource:
    """A table of (node, topic) pairs."""
    return TableSource(os.fspath(path), **choices)


def edges_source(path: str | os.PathLike[str], **choices: Any) -> TableSource:
    """A table of edges (u, v)."""
    options = OptionNames("--u-column", "--v-column", "--edges-no-header", "--edges-separator")
    return TableSource(os.fspath(path), names=("u", "v"), what="edges", options=options, **choices)


def limits_source(path: str | os.PathLike[str], what: str) -> TableSource:
    """A table of constraints: `caps` (node, cap), `forbid` and `require` (u, v), `costs` (u, v, cost)."""
    names = ("node", "cap") if what == "caps" else ("u", "v")
    options = OptionNames("its header", "its header", "a header row", "its separator")
    return TableSource(os.fspath(path), names=names, what=what, options=options)


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a table: where Spark finds it, and what the user calls it."""

    path: str
    shown: str
    compression: str | None


@dataclass(frozen=True, slots=True)
class Resolved:
    """The files of a table, all of one format."""

    format: str
    files: tuple[DataFile, ...]


def check_there(source: TableSource) -> None:
    """Refuse a path of this machine that does not exist: no need to start Spark for that."""
    if source.path and not is_address(source.path) and not Path(source.path).expanduser().exists():
        raise InputError(f"no such file or folder: {source.path}")


def resolve(spark: SparkSession, source: TableSource) -> Resolved:
    """The files that `source` means; raises InputError when there are none or they cannot be used."""
    if not source.path:
        raise InputError(f"the path of the {source.what} is empty: name a file or a folder")
    listing = _list_hadoop(spark, source.path) if is_address(source.path) else _list_local(source.path)
    if not listing.is_folder:
        return _with_format(source, [(listing.path, source.path)])
    names = {name for name, _ in listing.entries}
    part = f"{source.what}.parquet"
    if "summary.json" in names and part in names:
        inner = f"{source.path.rstrip('/')}/{part}"
        return resolve(spark, _moved(source, inner))
    return _with_format(source, _data_files(source, listing))


def signature(spark: SparkSession, source: TableSource) -> list[list[str | int]]:
    """Name, size and time of change of every file of a table: does a later run see the same?"""
    found: list[list[str | int]] = []
    for file in resolve(spark, source).files:
        if is_address(file.path):
            context: Any = spark.sparkContext
            with spark_errors(source.path):
                place = context._jvm.org.apache.hadoop.fs.Path(file.path)
                status = place.getFileSystem(context._jsc.hadoopConfiguration()).getFileStatus(place)
                found.append([file.path, int(status.getLen()), int(status.getModificationTime())])
        else:
            there = os.stat(file.path)
            found.append([file.path, there.st_size, there.st_mtime_ns])
    return found


def _moved(source: TableSource, path: str) -> TableSource:
    """A build's own table: written by us, so its columns and format are known."""
    return TableSource(path, names=source.names, what=source.what, options=source.options)


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
    jvm: Any = spark.sparkContext._jvm
    with spark_errors(path):
        place = jvm.org.apache.hadoop.fs.Path(path)
        system = place.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
        if not system.exists(place):
            raise InputError(f"no such file or folder: {path}")
        status = system.getFileStatus(place)
        whole = str(status.getPath().toString())
        if not status.isDirectory():
            return _Listing(whole, False)
        inside = [
            (str(item.getPath().getName()), bool(item.isDirectory())) for item in system.listStatus(place)
        ]
        return _Listing(whole, True, tuple(sorted(inside)))


def _data_files(source: TableSource, listing: _Listing) -> list[tuple[str, str]]:
    """The data files right inside a folder; names that begin with `_` or `.` are not data."""
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


def format_of(name: str) -> tuple[str | None, str | None]:
    """Format and compression by the ending of a name.

    >>> format_of("a.csv.gz"), format_of("part-0.snappy.parquet"), format_of("notes.txt")
    (('csv', 'gz'), ('parquet', None), (None, None))
    """
    lower = name.lower()
    # Parquet is compressed inside; some programs say so behind the ending.
    if lower.endswith(PARQUET_ENDINGS):
        return "parquet", None
    compression = next((kind for suffix, kind in SUFFIXES.items() if lower.endswith(suffix)), None)
    stem = lower.rsplit(".", 1)[0] if compression else lower
    return next((kind for suffix, kind in FORMATS.items() if stem.endswith(suffix)), None), compression
