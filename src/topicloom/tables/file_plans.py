"""The first rows of every text file: how its rows are to be read, and what the user must know of its header.

Each file of a folder has its own header. It is looked at once, so that Spark's workers, who get pieces of
files in any order, know every file's layout beforehand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from topicloom.errors import InputError
from topicloom.tables.columns import choose_columns, place_fields
from topicloom.tables.decompress import BadCompression, decompressed
from topicloom.tables.encodings import UTF8, likely_encoding, to_utf8
from topicloom.tables.lines import (
    BOM,
    BadRow,
    cut_records,
    json_keys,
    printable,
    split_fields,
    unended,
    without_line_end,
)
from topicloom.tables.records import Field, FilePlan, Keys, Layout, require_columns
from topicloom.tables.separators import check_separator
from topicloom.tables.source import DataFile, TableSource

FIRST_LOOK = 1 << 20
_ROWS_SEEN = 100

# Longer and longer beginnings of a file's content, each with whether it is all of it.
Beginnings = Callable[[DataFile], Iterator[tuple[bytes, bool]]]


@dataclass(frozen=True, slots=True)
class Notice:
    """What the user must know about one file's header: the row as it stands there, and the sentence."""

    header: str
    sentence: str


def plan_file(
    file: DataFile, source: TableSource, kind: str, beginnings: Beginnings
) -> tuple[FilePlan, Notice | None] | None:
    """Return how to read one text file and the notice about its header; None for a file without any row."""
    separator = (source.separator or ("\t" if kind == "tsv" else ",")).encode()
    quote = kind != "json" and (kind == "csv" if source.quote is None else source.quote)
    multiline = source.multiline and quote
    rows = first_rows(beginnings(file), separator.decode().encode(source.encoding) if multiline else None)
    if not rows:
        return None
    about, encoding = (file.shown, file.compression, source.fields), source.encoding
    if kind == "json":
        keys, constants = _outside(_json_keys(_in_utf8(rows, encoding), source, file).places, file)
        return FilePlan(*about, Keys(keys), encoding=encoding, constants=constants), None
    columns = _header(rows[0], file, source, separator, quote) if source.header else None
    rows = _in_utf8(rows, encoding)
    if source.separator is None:
        check_separator(rows, separator, quote, source, file.shown)
    count = _width(rows, separator, quote) if columns is None else len(columns)
    # Columns of the folders come last; without a header they have no position.
    known = None if columns is None else [*columns, *_told(file, columns)]
    places = place_fields(known, count if known is None else len(known), source, file.shown)
    names = () if known is None else tuple(None if place is None else known[place] for place in places)
    inside, constants = _outside(names, file)
    if constants:
        places = tuple(None if name is None else place for name, place in zip(inside, places, strict=True))
    layout = Layout(separator, quote, count, places)
    plan = FilePlan(*about, layout, source.header, multiline, encoding, constants)
    notice = None
    if names and not source.by_name:
        used = [name for name in names[:2] if name is not None]
        if set(used) != set(source.names):
            notice = _notice(printable(rows[0]), used, source, file.shown)
    return plan, notice


def _told(file: DataFile, columns: Collection[str]) -> list[str]:
    """Return the columns that only the folders around a file tell."""
    return [name for name, _ in file.partition if name not in columns]


def _outside(
    names: tuple[str | None, ...], file: DataFile
) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
    """Return the columns of the fields that are in the rows, and what the folders around say of the others.

    As in Spark a folder has the last word on a column that both have.
    """
    told = dict(file.partition)
    if not told or not names:
        return names, ()
    inside = tuple(None if name in told else name for name in names)
    return inside, tuple(None if name is None else told.get(name) for name in names)


def _notice(header: str, columns: list[str], source: TableSource, shown: str) -> Notice:
    used = ", ".join(f"{column!r} as {name}" for column, name in zip(columns, source.names, strict=True))
    sentence = (
        f"{shown}: the first row was taken as a header: {header!r} (columns used: {used}); "
        f"if it is data, give {source.options.no_header}; choose other columns with {source.options.first} "
        f"and {source.options.second}"
    )
    return Notice(header, sentence)


def _json_keys(rows: list[bytes], source: TableSource, file: DataFile) -> Keys:
    """Return the keys to look for; positions and defaults go by their order in the first rows."""
    keys: dict[str, None] = {}
    for row in rows:
        with suppress(BadRow):
            keys |= dict.fromkeys(json_keys(row))
    keys |= dict.fromkeys(_told(file, keys))
    names = [field.name for field in source.fields]
    if source.by_name:
        if keys:
            require_columns(file.shown, source.fields, list(keys))
        return Keys(tuple(names))
    if len(keys) < 2:
        # Bad rows are rejects, not a reason to stop here; the rows after them go by the default names.
        keys |= dict.fromkeys(source.names)
    columns = list(keys)
    used = [columns[place] for place in choose_columns(columns, len(columns), source, file.shown)]
    return Keys((*used, *(None if name in used else name for name in names[2:])))


def _header(line: bytes, file: DataFile, source: TableSource, separator: bytes, quote: bool) -> list[str]:
    try:
        fields = split_fields(to_utf8(line, source.encoding), separator, quote)
        return [field.decode() for field in fields]
    except (BadRow, UnicodeDecodeError) as error:
        reason = f"it is {error}" if str(error).startswith("not valid") else str(error)
        if isinstance(error, UnicodeDecodeError):
            reason = "it is not valid UTF-8"
            hint = source.options.give("encoding", likely_encoding(printable(line)))
            reason += f"; try {hint}" if hint else "; save it as UTF-8"
        raise InputError(f"the first row of {file.shown} cannot be used: {reason}") from None


def _in_utf8(rows: list[bytes], encoding: str) -> list[bytes]:
    """Return the rows in UTF-8; those that cannot be decoded are left out, for they will be refused."""
    if encoding == UTF8:
        return rows
    found = []
    for row in rows:
        with suppress(BadRow):
            found.append(to_utf8(row, encoding))
    return found


def _width(rows: list[bytes], separator: bytes, quote: bool) -> int:
    """Return how many fields the first row has that can be split, for a file without a header."""
    for row in rows:
        with suppress(BadRow):
            if row:
                return len(split_fields(row, separator, quote))
    return 2  # none can: whatever is said here, they will all be among the rejects


def has_optional(plans: Iterable[FilePlan]) -> bool:
    """Return whether an optional field may occur in some file; a JSON line may hold one anywhere."""
    return any(
        field.optional and (place is not None or plan.constant(number) is not None)
        for plan in plans
        for number, (field, place) in enumerate(zip(plan.fields, plan.layout.places, strict=True))
    )


def wanted_fields(source: TableSource, plans: Collection[FilePlan]) -> list[Field]:
    """Return the fields that the rows have; refuse a table of which no file has any row."""
    if not plans:
        row = {"interest": "subscription", "edges": "edge"}.get(source.what, "row")
        raise InputError(f"{source.path} holds no {row}: it is empty")
    return [field for field in source.fields if not field.optional or has_optional(plans)]


def joined_notices(notices: Sequence[Notice]) -> str | None:
    """Return one line per header row: first rows that are data differ, and none may be missed."""
    files = Counter(notice.header for notice in notices)
    first = {notice.header: notice.sentence for notice in reversed(notices)}
    more = {1: "", 2: "; the same goes for 1 more file"}
    lines = [
        first[header] + more.get(count, f"; the same goes for {count - 1} more files")
        for header, count in files.items()
    ]
    return "\n".join(lines) or None


# --- the first rows ------------------------------------------------------------------------------------


def first_rows(beginnings: Iterator[tuple[bytes, bool]], quoted_by: bytes | None) -> list[bytes]:
    """Return the first records without their line ends (at least one, unless the file is empty)."""
    for content, complete in beginnings:
        data = content.removeprefix(BOM)
        data = unended(data) if complete else data
        lines = data.removesuffix(b"\n").split(b"\n", _ROWS_SEEN) if data else []
        records = list(islice(cut_records(data, quoted_by), _ROWS_SEEN)) if quoted_by else lines[:_ROWS_SEEN]
        if not complete and len(records) < _ROWS_SEEN:
            records = records[:-1]  # the last may go on; nothing may be unpacked yet
        if complete or records:
            return [without_line_end(record) for record in records]
    return []


def beginnings_here(file: DataFile) -> Iterator[tuple[bytes, bool]]:
    """Yield the beginnings of a file of this machine."""
    try:
        with Path(file.path).open("rb") as raw:
            yield from _growing(decompressed(raw, file.compression))
    except (BadCompression, OSError) as error:
        raise InputError(f"cannot read {file.shown}: {error}") from None


def _growing(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    content, goal = bytearray(), FIRST_LOOK
    for chunk in chunks:
        content += chunk
        if len(content) >= goal:
            yield bytes(content), False
            goal *= 4
    yield bytes(content), True
