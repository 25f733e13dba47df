"""The bytes of a text table: its lines, their fields, JSON. Pure functions; what a field means: `records.py`.

The rules, to the letter:
- A line ends in `\\n` or `\\r\\n`; the `\\r` right before a `\\n` is dropped, any other belongs to its field,
  also one that is the last byte of a file.
- CSV quoting is RFC 4180: a field is either wholly quoted (a quote inside is doubled) or holds no quote.
- A JSON line is one object; a number keeps the text it was written with. A key that occurs twice is
  ambiguous, so the row is refused.
Whatever breaks a rule raises `BadRow` with the reason; the caller keeps the row among the rejects.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

BOM = b"\xef\xbb\xbf"
_QUOTE = b'"'


class BadRow(Exception):  # noqa: N818 - a row, not a fault of the program
    """A row that cannot be used; the text says why."""


def without_line_end(line: bytes) -> bytes:
    """The line without the `\\r` of a `\\r\\n` (the `\\n` itself was taken by whoever cut the lines).

    >>> without_line_end(b"a,b\\rc\\r")
    b'a,b\\rc'
    """
    return line[:-1] if line.endswith(b"\r") else line


def unended(line: bytes) -> bytes:
    """The last line of a file that has no line end: a `\\r` there is its field's own, so it gets another.

    >>> without_line_end(unended(b"a,b\\r"))
    b'a,b\\r'
    """
    return line + b"\r" if line.endswith(b"\r") else line


def printable(line: bytes, encoding: str = "utf-8") -> str:
    """The line as text for the table of rejects; bytes that are not of the encoding appear as `\\xNN`.

    >>> printable(b"a\\xff")
    'a\\\\xff'
    """
    return line.decode(encoding, "backslashreplace")


def split_fields(line: bytes, separator: bytes, quote: bool) -> list[bytes]:
    """Return the fields of one record; raises `BadRow` where the quoting is malformed."""
    if not quote or _QUOTE not in line:
        return line.split(separator)
    fields: list[bytes] = []
    start = 0
    while True:
        field, end = _quoted(line, start) if line.startswith(_QUOTE, start) else _bare(line, start, separator)
        fields.append(field)
        if end == len(line):
            return fields
        if not line.startswith(separator, end):
            raise BadRow("malformed quoting: text follows a closing quote")
        start = end + len(separator)


def _bare(line: bytes, start: int, separator: bytes) -> tuple[bytes, int]:
    end = line.find(separator, start)
    end = len(line) if end < 0 else end
    field = line[start:end]
    if _QUOTE in field:
        raise BadRow("malformed quoting: a quote inside a field that is not quoted")
    return field, end


def _quoted(line: bytes, start: int) -> tuple[bytes, int]:
    end = _closing_quote(line, start)
    if end < 0:
        raise BadRow("malformed quoting: a quote is never closed; a quoted newline needs `multiline`")
    return line[start + 1 : end].replace(b'""', _QUOTE), end + 1


def _closing_quote(data: bytes, start: int) -> int:
    """Return the position of the quote that closes the one at `start`, or -1."""
    end = data.find(_QUOTE, start + 1)
    while end >= 0 and data.startswith(_QUOTE, end + 1):
        end = data.find(_QUOTE, end + 2)
    return end


def json_keys(line: bytes) -> list[str]:
    """Return the keys of a JSON line in the order they stand there."""
    return list(json_object(line))


class _Object(dict[str, Any]):
    """A JSON object that remembers which of its keys were written more than once."""

    __slots__ = ("repeated",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        names = [key for key, _ in pairs] if len(self) != len(pairs) else []
        self.repeated = {name for name in names if names.count(name) > 1}


def _not_a_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


# Numbers are handed through as the text they are written with; NaN and Infinity are not JSON.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_Object, parse_float=str, parse_int=str, parse_constant=_not_a_number
)


def json_object(line: bytes) -> _Object:
    text = decoded(line)
    try:
        record = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise BadRow(f"malformed JSON: {reason}") from None
    if not isinstance(record, _Object):
        raise BadRow("not a JSON object")
    return record


def json_present(record: _Object, key: str) -> bool:
    """Return whether the row has a value under `key`; null and "" are none, unless the key is ambiguous."""
    return record.get(key) not in (None, "") or key in record.repeated


def json_field(record: _Object, key: str) -> str:
    if key not in record:
        raise BadRow(f"the key {key!r} is missing")
    if key in record.repeated:
        raise BadRow(f"the key {key!r} occurs twice")
    value = record[key]
    if not isinstance(value, str):
        kind = {bool: "true or false", type(None): "null", list: "an array"}.get(type(value), "an object")
        raise BadRow(f"the value of {key!r} is {kind}: neither a string nor a number")
    if not value:
        raise BadRow(f"the value of {key!r} is empty")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadRow(f"the value of {key!r} is not valid Unicode: half of a surrogate pair") from None
    return value


def decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRow(f"not valid UTF-8 at byte {error.start + 1} of the row") from None


def cut_records(data: bytes, separator: bytes) -> Iterator[bytes]:
    """The records of a whole file whose quoted fields may hold newlines; only the closing `\\n` is cut off.

    A record with malformed quoting ends at the next newline, so one bad row costs no more than itself; a
    quote that is never closed reaches to the end of the file.

    >>> list(cut_records(b'a,"x\\ny"\\nb,z\\n', b","))
    [b'a,"x\\ny"', b'b,z']
    """
    start = 0
    while start < len(data):
        end = _record_end(data, start, separator)
        yield data[start:end]
        start = end + 1


def _record_end(data: bytes, start: int, separator: bytes) -> int:
    position = start
    while True:
        if data.startswith(_QUOTE, position):
            closing = _closing_quote(data, position)
            if closing < 0:
                return len(data)
            position = closing + 1
        newline = data.find(b"\n", position)
        newline = len(data) if newline < 0 else newline
        next_field = data.find(separator, position, newline)
        if next_field < 0 or (data[position - 1 : position] == _QUOTE and next_field != position):
            return newline
        position = next_field + len(separator)
