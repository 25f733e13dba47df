"""What the user says about a table: where it lies, which fields it has, how it is written. Reads no file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from topicloom.base.addresses import is_address
from topicloom.errors import UsageError
from topicloom.tables.decompress import SUFFIXES
from topicloom.tables.encodings import UTF8, check_encoding
from topicloom.tables.origins import FRAME, Origin, named_origin
from topicloom.tables.records import Field

FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "json", ".ndjson": "json", ".json": "json"}
PARQUET_ENDINGS = (".parquet", ".parquet.gz", ".parquet.gzip", ".parquet.snappy", ".parquet.zst")
READABLE = ".csv, .tsv, .jsonl, .ndjson, .json or .parquet (text also with .gz, .bz2, .zst or .snappy)"

SMALL_BYTES = 32 << 20  # some two million rows
SQUEEZED = 10  # times that compression makes a table smaller, at most


def address(path: str | os.PathLike[str]) -> str:
    """Return a local path as an address: the default file system of a cluster may be another one.

    >>> address("/tmp/x"), address("hdfs://host/x")
    ('file:///tmp/x', 'hdfs://host/x')
    """
    path = os.fspath(path)
    return path if is_address(path) else f"file://{Path(path).absolute()}"


@dataclass(frozen=True, slots=True)
class OptionNames:
    """The fields that say how this table is read, for messages."""

    first: str = "`node_column`"
    second: str = "`topic_column`"
    no_header: str = "`header=False`"
    separator: str = "`separator`"
    encoding: str = "`encoding`"
    format: str = ""  # where it can be told

    def give(self, field: str, value: str) -> str:
        """Return a field with a value, as one may write it; empty where the table has no such option."""
        name = str(getattr(self, field))
        return f"{name[:-1]}={value}`" if name.startswith("`") else ""


INTEREST = (
    Field("node"),
    Field("topic"),
    Field("role", "role", optional=True),
    Field("rate", "amount", optional=True),
)
EDGES = (Field("u"), Field("v"))
# The tables of constraints; whoever reads them refuses a row without its cost.
LIMITS = {
    "caps": (
        Field("node"),
        Field("cap", optional=True),
        Field("load", "amount", optional=True),
    ),
    "forbid": EDGES,
    "require": EDGES,
    "costs": (*EDGES, Field("cost", "cost", optional=True)),
    "rtt": (*EDGES, Field("ms", "cost", optional=True)),
    "rates": (Field("topic"), Field("rate", "amount", optional=True)),
}


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table as the user describes it; see `interest_source`, `edges_source` and the others.

    `first` and `second` choose the columns of the first two fields by name or by position from 1; None takes
    the fields' own names, or else the first two columns. With `by_name` every column must have the name of
    its field. `format` and `quote` overrule what the file's ending says. `encoding` is that of text. What has
    an `origin` is no file: `path` is what messages call it then, and nobody asks how it is written.
    """

    path: str
    fields: tuple[Field, ...] = INTEREST
    first: str | None = None
    second: str | None = None
    header: bool = True
    separator: str | None = None
    quote: bool | None = None
    multiline: bool = False
    format: str | None = None
    what: str = "interest"
    options: OptionNames = OptionNames()
    by_name: bool = False
    encoding: str = UTF8
    content: str | None = None  # where the bytes lie, if the path only says what the user calls them
    origin: Origin | None = None

    @property
    def place(self) -> str:
        """Where the table lies."""
        return self.content or self.path

    def __post_init__(self) -> None:
        separator = self.separator
        object.__setattr__(self, "encoding", check_encoding(self.encoding, self.options.encoding))
        if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
            raise UsageError(
                f"{self.options.separator} {separator!r} cannot be used: give one character that is neither "
                "a quote nor a line end"
            )
        try:
            (separator or "").encode(self.encoding)
        except UnicodeEncodeError:
            raise UsageError(
                f"{self.options.separator} {separator!r} does not exist in {self.encoding}"
            ) from None
        if self.format is not None and self.format not in ("csv", "tsv", "json", "parquet"):
            raise UsageError(f"`format={self.format}` is not known: it is one of csv, tsv, json, parquet")

    @property
    def names(self) -> tuple[str, str]:
        """What the first two fields are called."""
        return self.fields[0].name, self.fields[1].name


BY_HEADER = OptionNames("its header", "its header", "a header row", "its separator", "its encoding")


def interest_source(
    path: str | os.PathLike[str] = "", *, origin: Origin | None = None, **choices: Any
) -> TableSource:
    """Describe a table of (node, topic) pairs: files, or what Spark finds by itself."""
    shown = os.fspath(path) if origin is None else origin.shown
    return TableSource(shown, options=OptionNames(format="`format`"), origin=origin, **choices)


def edges_source(
    path: str | os.PathLike[str] = "", *, origin: Origin | None = None, **choices: Any
) -> TableSource:
    """Describe a table of edges (u, v)."""
    shown = os.fspath(path) if origin is None else origin.shown
    shown = f"{FRAME} of edges" if shown == FRAME and origin is not None else shown
    options = OptionNames(
        "`u_column`", "`v_column`", "`edges_no_header`", "`edges_separator`", "`edges_encoding`"
    )
    return TableSource(shown, EDGES, what="edges", options=options, origin=origin, **choices)


def limits_source(path: str | os.PathLike[str], what: str, encoding: str = UTF8) -> TableSource:
    """Describe a table of constraints: caps (node, cap), forbid or require (u, v), costs (u, v, cost), ..."""
    options = replace(BY_HEADER, encoding="`encoding`")  # that of the interest
    text = os.fspath(path)
    return TableSource(
        text, LIMITS[what], what=what, options=options, encoding=encoding, origin=named_origin(text)
    )


def records_source(
    path: str, what: str, fields: Sequence[Field] = (), *, origin: Origin | None = None
) -> TableSource:
    """Describe a table whose columns are known by their names; `what` it is, for messages."""
    shown = path if origin is None else origin.shown
    origin = origin or named_origin(path)
    return TableSource(shown, tuple(fields), what=what, options=BY_HEADER, by_name=True, origin=origin)


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a table: where Spark finds it, and what the user calls it.

    `partition` are columns and values that the names of the folders around it tell; `size` are its bytes, as
    far as a listing has told.
    """

    path: str
    shown: str
    compression: str | None
    partition: tuple[tuple[str, str | None], ...] = ()
    size: int | None = None

    @property
    def name(self) -> str:
        """Return its path inside the table."""
        return "/".join(self.path.split("/")[-1 - len(self.partition) :])


@dataclass(frozen=True, slots=True)
class Resolved:
    """The files of a table, all of one format."""

    format: str
    files: tuple[DataFile, ...]
    named: bool = False  # the folder says which files it means, and may hold others


def are_small(*paths: str, parquet: int = SQUEEZED) -> bool:
    """Return whether these tables lie on this machine and hold little, by the sizes of their files.

    Compressed text counts as ten times its size, and so does Parquet if its rows are not counted as well.
    """
    size, larger = 0, dict.fromkeys(SUFFIXES, SQUEEZED) | {".parquet": parquet}
    for path in paths:
        if is_address(path) or named_origin(path) is not None:
            return False
        place = Path(path).expanduser()
        if not path:
            continue  # there is no such table; whoever reads it says so
        for file in [place] if place.is_file() else place.rglob("*"):
            with suppress(OSError):  # a link to nothing, or a file that is just being removed
                size += file.stat().st_size * larger.get(file.suffix, 1)
            if size > SMALL_BYTES:
                return False
    return True


def format_of(name: str) -> tuple[str | None, str | None]:
    """Return format and compression by the ending of a name.

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
