"""The first row of every text file, and which columns it makes us use. Reads no more than that row.

Each file of a folder has its own header. The driver looks at it once, so that the workers, who get pieces of
files in any order, know every file's layout beforehand.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from topicloom.errors import InputError
from topicloom.spark.compress import BadCompression, decompressed
from topicloom.spark.failures import spark_errors
from topicloom.spark.lines import (
    BOM,
    BadRow,
    Keys,
    Layout,
    cut_records,
    json_keys,
    printable,
    split_fields,
    without_line_end,
)
from topicloom.spark.source import DataFile, TableSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FIRST_LOOK = 1 << 20
_ROWS_SEEN = 100
_SMALL = 1 << 20


@dataclass(frozen=True, slots=True)
class FilePlan:
    """All a worker has to know about one file."""

    shown: str
    compression: str | None
    layout: Layout | Keys
    header: bool
    multiline: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """What the user must know about one file's header: the row as it stands there, and the sentence."""

    header: str
    sentence: str


def plan_file(
    spark: SparkSession, file: DataFile, source: TableSource, kind: str
) -> tuple[FilePlan, Notice | None] | None:
    """How to read one text file and the notice about its header; None for a file without any row."""
    separator, quote = text_rules(source, kind)
    rows = first_rows(spark, file, separator if source.multiline and quote else None)
    if not rows:
        return None
    if kind == "json":
        return FilePlan(file.shown, file.compression, _json_layout(rows, source, file), header=False), None
    columns = read_header(rows[0], file, separator, quote) if source.header else None
    count = _width(rows, separator, quote) if columns is None else len(columns)
    first, second = choose_columns(columns, count, source, file.shown)
    layout = Layout(
        separator,
        quote,
        count,
        first,
        second,
        source.names,
        _extra(columns, "role", source, (first, second)),
        _extra(columns, number_column(source), source, (first, second)),
        number_column(source),
    )
    notice = None
    if columns is not None and {columns[first], columns[second]} != set(source.names):
        used = (columns[first], columns[second])
        notice = _notice(printable(rows[0]), used, source, file.shown)
    multiline = source.multiline and quote
    return FilePlan(file.shown, file.compression, layout, source.header, multiline), notice


def ends_in_carriage_return(file: DataFile) -> bool:
    """Is the last byte of a local file a `\\r`? Then it belongs to a field, and whoever cuts must know.

    The driver does this file by file, so it looks through small gz files only; larger ones, and files
    behind an address, are taken to end as files do.
    """
    if not file.path.startswith("/") or file.compression not in (None, "gz"):
        return False
    with suppress(OSError, BadCompression), Path(file.path).open("rb") as raw:
        size = raw.seek(0, io.SEEK_END)
        if file.compression is None:
            raw.seek(max(size - 1, 0))
            return raw.read() == b"\r"
        raw.seek(0)
        if size <= _SMALL:
            return any(chunk.endswith(b"\r") for chunk in deque(decompressed(raw, "gz"), maxlen=1))
    return False


def choose_columns(columns: list[str] | None, count: int, source: TableSource, shown: str) -> tuple[int, int]:
    """Positions (from 0) of the two columns; `columns` is None when the file has no header."""
    if count < 2:
        raise InputError(
            f"{shown} has one column and two are needed: check {source.options.separator} "
            f"and {source.options.no_header}"
        )
    wanted = (source.first, source.second)
    options = (source.options.first, source.options.second)
    chosen = [
        None if want is None else _position(want, columns, count, shown, option, source)
        for want, option in zip(wanted, options, strict=True)
    ]
    first, second = _fill_in(chosen, columns, source)
    if first == second:
        raise InputError(f"{shown}: {options[0]} and {options[1]} name the same column, number {first + 1}")
    return first, second


def _fill_in(chosen: list[int | None], columns: list[str] | None, source: TableSource) -> tuple[int, int]:
    """Columns nobody chose: both default names if both are there, otherwise out of the first two."""
    first, second = chosen
    named = [columns.index(name) if columns and name in columns else None for name in source.names]
    if first is not None and second is not None:
        return first, second
    if first is None and second is None:
        if named[0] is not None and named[1] is not None:
            return named[0], named[1]
        # One default name among the first two settles which of the two is which.
        return (1, 0) if named[0] == 1 or named[1] == 0 else (0, 1)
    if first is None:
        assert second is not None
        return (named[0] if named[0] is not None else int(second == 0)), second
    return first, (named[1] if named[1] is not None else int(first != 1))


def _position(
    want: str, columns: list[str] | None, count: int, shown: str, option: str, source: TableSource
) -> int:
    if columns is not None and want in columns:
        return columns.index(want)
    if want.isascii() and want.isdigit():
        if 1 <= int(want) <= count:
            return int(want) - 1
        raise InputError(f"{shown} has {count} columns: {option} {want} is not a position from 1 to {count}")
    if columns is None:
        raise InputError(
            f"{shown} is read without a header, so {option} {want!r} must be a position from 1 to {count}: "
            f"leave out {source.options.no_header} if it has one"
        )
    raise InputError(f"{shown} has no column {want!r} ({option}): its columns are {', '.join(columns)}")


def number_column(source: TableSource) -> str:
    """The name of the column of numbers that this table may have."""
    return "cost" if "cost" in source.extras else "rate"


def _extra(columns: list[str] | None, name: str, source: TableSource, taken: Iterable[int]) -> int | None:
    if columns is None or name not in source.extras or name not in columns:
        return None
    position = columns.index(name)
    return None if position in taken else position


def _notice(header: str, columns: tuple[str, str], source: TableSource, shown: str) -> Notice:
    used = ", ".join(f"{column!r} as {name}" for column, name in zip(columns, source.names, strict=True))
    sentence = (
        f"{shown}: the first row was taken as a header: {header} (columns used: {used}); "
        f"if it is data, give {source.options.no_header}; choose other columns with {source.options.first} "
        f"and {source.options.second}"
    )
    return Notice(header, sentence)


def text_rules(source: TableSource, kind: str) -> tuple[bytes, bool]:
    separator = source.separator or ("\t" if kind == "tsv" else ",")
    quote = source.quote if source.quote is not None else kind == "csv"
    return separator.encode(), quote and kind != "json"


def _json_layout(rows: list[bytes], source: TableSource, file: DataFile) -> Keys:
    """The keys to look for: positions and defaults go by the order in which the first rows name them."""
    keys: dict[str, None] = {}
    for row in rows:
        with suppress(BadRow):
            keys |= dict.fromkeys(json_keys(row))
    if len(keys) < 2:
        # Bad rows are rejects, not a reason to stop here; the rows after them go by the default names.
        keys |= dict.fromkeys(source.names)
    columns = list(keys)
    first, second = choose_columns(columns, len(columns), source, file.shown)
    return Keys(columns[first], columns[second], bool(source.extras), number_column(source))


def read_header(line: bytes, file: DataFile, separator: bytes, quote: bool) -> list[str]:
    try:
        return [field.decode() for field in split_fields(line, separator, quote)]
    except (BadRow, UnicodeDecodeError) as error:
        reason = error if isinstance(error, BadRow) else "it is not valid UTF-8"
        raise InputError(f"the first row of {file.shown} cannot be used: {reason}") from None


def _width(rows: list[bytes], separator: bytes, quote: bool) -> int:
    """How many fields the rows of a file without header have: as many as the first that can be split."""
    for row in rows:
        with suppress(BadRow):
            if row:
                return len(split_fields(row, separator, quote))
    return 2  # none can: whatever is said here, they will all be among the rejects


# --- the first row, wherever the file lies ---------------------------------------------------------------


def first_rows(spark: SparkSession, file: DataFile, quoted_by: bytes | None) -> list[bytes]:
    """The first records without their line ends (at least one, unless the file is empty)."""
    for content, complete in _beginnings(spark, file):
        data = content.removeprefix(BOM)
        records = list(islice(cut_records(data, quoted_by) if quoted_by else _lines(data), _ROWS_SEEN))
        if not complete and len(records) < _ROWS_SEEN:
            records.pop()  # it may go on
        if complete or records:
            return [without_line_end(record) for record in records]
    return []


def _lines(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield data[start:end]
        start = end + 1


def _beginnings(spark: SparkSession, file: DataFile) -> Iterator[tuple[bytes, bool]]:
    """Longer and longer beginnings of the content, each with whether it is all of it."""
    try:
        if "://" not in file.path and not file.path.startswith("file:"):
            with Path(file.path).open("rb") as raw:
                yield from _growing(decompressed(raw, file.compression))
            return
        yield from _remote_beginnings(spark, file)
    except (BadCompression, OSError) as error:
        raise InputError(f"cannot read {file.shown}: {error}") from None


def _growing(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    content, goal = bytearray(), _FIRST_LOOK
    for chunk in chunks:
        content += chunk
        if len(content) >= goal:
            yield bytes(content), False
            goal *= 4
    yield bytes(content), True


def _remote_beginnings(spark: SparkSession, file: DataFile) -> Iterator[tuple[bytes, bool]]:
    size, last = _FIRST_LOOK, -1
    while True:
        raw = _remote_bytes(spark, file.path, size)
        complete = len(raw) < size or len(raw) == last
        content = b"".join(_as_far_as_possible(io.BytesIO(raw), file.compression, complete))
        yield content, complete
        if complete:
            return
        size, last = size * 8, len(raw)


def _as_far_as_possible(raw: BinaryIO, compression: str | None, complete: bool) -> Iterator[bytes]:
    try:
        yield from decompressed(raw, compression)
    except BadCompression:
        if complete:
            raise


def _remote_bytes(spark: SparkSession, path: str, size: int) -> bytes:
    context: Any = spark.sparkContext
    with spark_errors(path):
        place = context._jvm.org.apache.hadoop.fs.Path(path)
        stream = place.getFileSystem(context._jsc.hadoopConfiguration()).open(place)
        try:
            return bytes(stream.readNBytes(size))
        finally:
            stream.close()
