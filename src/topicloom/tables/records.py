"""What a record is: named fields, each of a stated kind, and what the words of one line mean by them.

A field is one of:
- text: an opaque identifier: never trimmed, folded or normalised, and not empty;
- role: one of three words;
- number: a finite number; amount: one of at least 0; cost: one above 0; bound: one that may be inf or -inf;
- time: seconds as a number, or an ISO 8601 date or moment (UTC where it names no zone).
A row may do without an optional field where its column is missing or its value null or empty.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pyarrow as pa

from topicloom.errors import InputError
from topicloom.tables.lines import BadRow, decoded, json_field, json_object, json_present, split_fields

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
INFINITE = r"^[+-]?[iI]nf(inity)?$"
ISO = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?$"
)
# The values of the optional `role` column; an interest in memory holds positions in this tuple.
ROLES = ("sub", "pub", "both")
ROLE = ", ".join(ROLES)
MEANINGS = {
    "number": "a finite number",
    "amount": "a finite number of at least 0",
    "cost": "a finite number above 0",
    "bound": "a number",
    "time": "a number of seconds or an ISO 8601 date and time",
}

_NUMBER, _ISO, _INFINITE = re.compile(NUMBER), re.compile(ISO), re.compile(INFINITE)


@dataclass(frozen=True, slots=True)
class Field:
    """A field by its name; `note` is what to say of it where its column is missing."""

    name: str
    kind: str = "text"
    note: str = ""
    optional: bool = False

    @property
    def is_number(self) -> bool:
        return self.kind in MEANINGS

    @property
    def type(self) -> pa.DataType:
        return pa.float64() if self.is_number else pa.string()


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the fields lie in the lines of a delimited file, from 0; None: the file does not have it."""

    separator: bytes
    quote: bool
    n_fields: int
    places: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys under which the fields stand in a JSON line; None: nowhere."""

    places: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class FilePlan:
    """All a worker has to know about one text file."""

    shown: str
    compression: str | None
    fields: tuple[Field, ...]
    layout: Layout | Keys
    header: bool = False
    multiline: bool = False
    encoding: str = "utf-8"
    # What the folders around the file say of the fields that are not in its rows; None: nothing.
    constants: tuple[str | None, ...] = ()

    def constant(self, place: int) -> str | None:
        """Return what the folders say of a field, by its position."""
        return self.constants[place] if self.constants else None


Value = str | float | None


def read_record(line: bytes, plan: FilePlan) -> list[Value]:
    """Return one line, without its line end, as the values of the fields.

    >>> layout = Layout(b",", True, 3, (0, 1))
    >>> read_record(b'"a,b",1e3,x', FilePlan("f", None, (Field("p"), Field("t", "time")), layout))
    ['a,b', 1000.0]
    """
    if not line:
        raise BadRow("the row is empty")
    layout = plan.layout
    if isinstance(layout, Keys):
        record = json_object(line)
        return [
            _constant(plan, number)
            if key is None
            else None
            if field.optional and not json_present(record, key)
            else read_value(json_field(record, key), field)
            for number, (field, key) in enumerate(zip(plan.fields, layout.places, strict=True))
        ]
    decoded(line)
    words = split_fields(line, layout.separator, layout.quote)
    if len(words) != layout.n_fields:
        few = "few" if len(words) < layout.n_fields else "many"
        raise BadRow(f"too {few} fields: {len(words)} where the first row has {layout.n_fields}")
    return [
        _constant(plan, number) if place is None else read_value(decoded(words[place]), field)
        for number, (field, place) in enumerate(zip(plan.fields, layout.places, strict=True))
    ]


def readable_names(line: bytes, plan: FilePlan) -> list[Value]:
    """Return what can be read of a refused line: its first two fields where they are names, None elsewhere.

    Of a line with another number of fields only the first one is sure to be in its place.
    """
    names: list[Value] = [None] * len(plan.fields)
    for k, (field, read) in enumerate(zip(plan.fields[:2], _words(line, plan.layout), strict=False)):
        if field.kind == "text":
            with suppress(BadRow):
                names[k] = read() or None
    return names


def _words(line: bytes, layout: Layout | Keys) -> list[Callable[[], str]]:
    """Return how to read the first two fields of a line; nothing where it cannot be split."""
    with suppress(BadRow):
        if isinstance(layout, Keys):
            record = json_object(line)
            return [partial(json_field, record, str(key)) for key in layout.places[:2]]
        words = split_fields(line, layout.separator, layout.quote)
        known = len(words) if len(words) == layout.n_fields else 1
        return [
            partial(decoded, words[place] if place is not None and place < known else b"")
            for place in layout.places[:2]
        ]
    return []


def _constant(plan: FilePlan, number: int) -> Value:
    """Return the value of a field that is in no row of a file."""
    field, word = plan.fields[number], plan.constant(number)
    if word is not None:
        return read_value(word, field)
    if plan.constants and not field.optional:
        raise BadRow(f"the {field.name} is missing")
    return None


def read_value(word: str, field: Field) -> Value:
    """Return what a word means as a value of a field; `BadRow` where it means nothing."""
    if not word:
        if field.optional:
            return None
        raise BadRow(f"the {field.name} is empty")
    if not field.is_number:
        if field.kind == "role" and word not in ROLES:
            raise BadRow(f"the {field.name} {word!r} is none of {ROLE}")
        return word
    number = _number(word, field.kind)
    if not in_range(number, field.kind):
        raise BadRow(f"the {field.name} {word!r} is not {MEANINGS[field.kind]}")
    return number


def in_range(number: Any, kind: str) -> Any:
    """Return whether a number, or each of an array or a Spark column, is of this kind; NaN never is."""
    low, high = -math.inf, math.inf
    if kind == "bound":
        return (number >= low) & (number <= high)
    if kind == "amount":
        return (number >= 0) & (number < high)
    return (number > (0 if kind == "cost" else low)) & (number < high)


def _number(word: str, kind: str) -> float:
    """Return the number that a word means, NaN where it means none; inf must be spelled out."""
    if _NUMBER.fullmatch(word):
        number = float(word)
        return number if math.isfinite(number) else math.nan
    if kind == "bound" and _INFINITE.fullmatch(word):
        return float(word)
    if kind == "time" and _ISO.fullmatch(word):
        try:
            moment = datetime.fromisoformat(word)
        except ValueError:
            return math.nan
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return math.nan


def time_of(word: str) -> float:
    """Return the seconds that a word means, NaN where it means none."""
    return _number(word, "time")


def require_columns(shown: str, fields: Sequence[Field], there: Sequence[str]) -> None:
    """Refuse a table that lacks the column of a field."""
    for field in fields:
        if field.name not in there:
            raise InputError(
                f"{shown} has no column {field.name!r}{field.note}: its columns are {', '.join(there)}"
            )
