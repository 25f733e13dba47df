"""What one line of a table of records means: any number of named columns, each of a stated kind.

The rules of `lines.py` hold here too (line ends, quoting, opaque identifiers, JSON). A column is one of:
- text: an opaque identifier, not empty;
- number: a finite number; amount: one of at least 0; bound: a number that may also be inf or -inf;
- time: seconds as a number, or an ISO 8601 date or moment (UTC where it names no zone).
Most lines are judged by Arrow's compiled functions, the others one by one; both keep to the same rules.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputError
from topicloom.spark.lines import (
    NUMBER,
    BadRow,
    decoded,
    json_field,
    json_object,
    printable,
    split_fields,
    without_line_end,
)

KINDS = ("text", "number", "amount", "bound", "time")
ISO = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?$"
)
INFINITE = r"^[+-]?[iI]nf(inity)?$"
MEANINGS = {
    "number": "a finite number",
    "amount": "a finite number of at least 0",
    "bound": "a number",
    "time": "a number of seconds or an ISO 8601 date and time",
}

_NUMBER, _ISO, _INFINITE = re.compile(NUMBER), re.compile(ISO), re.compile(INFINITE)


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is wanted, by its name; `note` is what to say of it where it is missing."""

    name: str
    kind: str = "text"
    note: str = ""

    @property
    def type(self) -> pa.DataType:
        return pa.string() if self.kind == "text" else pa.float64()


@dataclass(frozen=True, slots=True)
class RecordLayout:
    """Where the wanted columns of one file lie; `places` is None for JSON lines, which name their values."""

    columns: tuple[Column, ...]
    places: tuple[int, ...] | None
    separator: bytes = b","
    quote: bool = True
    n_fields: int = 0


def require_columns(shown: str, columns: Sequence[Column], there: Sequence[str]) -> None:
    """Refuse a table that lacks a wanted column."""
    for column in columns:
        if column.name not in there:
            raise InputError(
                f"{shown} has no column {column.name!r}{column.note}: its columns are {', '.join(there)}"
            )


def record_schema(columns: Sequence[Column]) -> pa.Schema:
    """The wanted columns; then file, row and reason, which only a row has that cannot be used."""
    wanted = [(column.name, column.type) for column in columns]
    return pa.schema(wanted + [(name, pa.string()) for name in ("_file", "_row", "_reason")])


def parse_records(lines: pa.BinaryArray, layout: RecordLayout, shown: str) -> list[pa.RecordBatch]:
    """The records of some lines of one file (line ends of `\\r` still on)."""
    if len(lines) == 0:
        return []
    found = []
    if layout.places is not None:
        ends = pc.ends_with(lines, pattern=b"\r")
        if pc.any(ends).as_py():
            lines = pc.if_else(ends, pc.binary_slice(lines, 0, -1), lines)
        easy, batch = _easy(lines, layout)
        if batch is not None:
            found.append(batch)
            lines = lines.filter(pc.invert(easy))
    if len(lines):
        found.append(_one_by_one(lines, layout, shown))
    return found


def _easy(lines: pa.BinaryArray, layout: RecordLayout) -> tuple[pa.BooleanArray, pa.RecordBatch | None]:
    """Which lines Arrow could read, and their records."""
    assert layout.places is not None
    easy = pc.equal(pc.count_substring(lines, pattern=layout.separator), layout.n_fields - 1)
    if layout.quote:
        easy = pc.and_(easy, pc.invert(pc.match_substring(lines, pattern=b'"')))
    try:
        text = lines.filter(easy).cast(pa.string())
    except pa.ArrowInvalid:
        return easy, None  # invalid UTF-8 somewhere in these lines: each is judged alone
    if len(text) == 0:
        return easy, None
    # Every line has the same number of fields, so the values of a column are that far apart.
    fields = pc.split_pattern(text, pattern=layout.separator.decode()).flatten()
    starts = np.arange(len(text)) * layout.n_fields
    values, good = [], np.ones(len(text), np.bool_)
    for column, place in zip(layout.columns, layout.places, strict=True):
        value, fine = judge(fields.take(pa.array(starts + place)), column.kind)
        values.append(value)
        good &= fine
    if not good.all():
        values = [value.filter(pa.array(good)) for value in values]
        mask = np.zeros(len(lines), np.bool_)
        mask[np.flatnonzero(easy.to_numpy(zero_copy_only=False))] = good
        easy = pa.array(mask)
    empty = pa.nulls(len(values[0]), pa.string())
    schema = record_schema(layout.columns)
    return easy, pa.RecordBatch.from_arrays([*values, empty, empty, empty], schema=schema)


def judge(words: pa.StringArray, kind: str) -> tuple[pa.Array, Any]:
    """The values of some words, and which of them can be used; what cannot is null or anything.

    A word that this finds unusable is looked at again alone (`read_value`), which has the last word.
    """
    if kind == "text":
        return words, pc.not_equal(words, "").to_numpy(zero_copy_only=False)
    try:
        numbers = words.cast(pa.float64())
    except pa.ArrowInvalid:
        if kind == "time" and (moments := _moments(words)) is not None:
            return moments, np.ones(len(words), np.bool_)
        numbers = pc.if_else(pc.match_substring_regex(words, pattern=NUMBER), words, pa.scalar("nan"))
        numbers = numbers.cast(pa.float64())
    found = numbers.to_numpy()
    good = np.isfinite(found)
    if kind == "amount":
        good &= found >= 0
    return numbers, good


def _moments(words: pa.StringArray) -> pa.Array | None:
    """ISO 8601 dates and times as seconds, if all of them are such and have a zone all or none."""
    if not pc.all(pc.match_substring_regex(words, pattern=ISO)).as_py():
        return None
    for zone in (None, "UTC"):
        try:
            micros = words.cast(pa.timestamp("us", zone)).cast(pa.int64())
        except pa.ArrowInvalid:
            continue
        return pa.array(micros.to_numpy() / 1e6)
    return None


def _one_by_one(lines: pa.BinaryArray, layout: RecordLayout, shown: str) -> pa.RecordBatch:
    schema = record_schema(layout.columns)
    columns: list[list[Any]] = [[] for _ in schema]
    nothing = [None] * len(layout.columns)
    for line in lines.to_pylist():
        line = without_line_end(line) if layout.places is None else line
        try:
            record = [*read_record(line, layout), None, None, None]
        except BadRow as reason:
            record = [*nothing, shown, printable(line), str(reason)]
        for column, value in zip(columns, record, strict=True):
            column.append(value)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def read_record(line: bytes, layout: RecordLayout) -> list[str | float]:
    """One line, without its line end, as the values of the wanted columns.

    >>> read_record(b'"a,b",1e3,x', RecordLayout((Column("p"), Column("t", "time")), (0, 1), n_fields=3))
    ['a,b', 1000.0]
    """
    if not line:
        raise BadRow("the row is empty")
    if layout.places is None:
        record = json_object(line)
        return [read_value(json_field(record, column.name), column) for column in layout.columns]
    decoded(line)
    fields = split_fields(line, layout.separator, layout.quote)
    if len(fields) != layout.n_fields:
        few = "few" if len(fields) < layout.n_fields else "many"
        raise BadRow(f"too {few} fields: {len(fields)} where the first row has {layout.n_fields}")
    return [
        read_value(decoded(fields[place]), column)
        for column, place in zip(layout.columns, layout.places, strict=True)
    ]


def read_value(word: str, column: Column) -> str | float:
    """What a word means in a column; `BadRow` where it means nothing."""
    if not word:
        raise BadRow(f"the {column.name} is empty")
    if column.kind == "text":
        return word
    number = float(word) if _NUMBER.fullmatch(word) else _otherwise(word, column.kind)
    infinite = math.isinf(number) and not (column.kind == "bound" and _INFINITE.fullmatch(word))
    if math.isnan(number) or infinite or (column.kind == "amount" and number < 0):
        raise BadRow(f"the {column.name} {word!r} is not {MEANINGS[column.kind]}")
    return number


def _otherwise(word: str, kind: str) -> float:
    """What is no plain number: an infinite bound, a moment, or nothing (NaN)."""
    if kind == "bound" and _INFINITE.fullmatch(word):
        return float(word)
    if kind == "time" and _ISO.fullmatch(word):
        try:
            moment = datetime.fromisoformat(word)
        except ValueError:
            return math.nan
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return math.nan
