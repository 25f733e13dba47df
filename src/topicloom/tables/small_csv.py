"""Small CSV files that come with an option (hosts, credentials, latencies, traces): read here, without Spark.

The first line is a header, which names the columns in any order; rows keep their order and line numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from pathlib import Path

from topicloom.errors import InputError

Notice = Callable[[str], None]


class Row:
    """One row of a file; `where` it stands, for messages."""

    __slots__ = ("_values", "where")

    def __init__(self, where: str, values: dict[str, str]) -> None:
        self.where, self._values = where, values

    def __getitem__(self, column: str) -> str:
        """Return the field; empty for an optional column that the file does not have."""
        return self._values.get(column, "")

    def filled(self, column: str) -> str:
        """Return a field that must not be empty."""
        if not self[column]:
            raise self.wrong(f"{column} is empty")
        return self[column]

    def seconds(self, column: str) -> float:
        """Return the field as a number of seconds, at least 0."""
        word = self[column]
        try:
            value = float(word)
        except ValueError:
            raise self.wrong(f"{column} is {word!r} where a number of seconds is needed") from None
        if not isfinite(value) or value < 0:
            raise self.wrong(f"{column} is {word!r}, but it must be at least 0 and finite")
        return value

    def wrong(self, what: str) -> InputError:
        return InputError(f"{self.where}: {what}")


def read_rows(
    path: str | Path,
    needed: Sequence[str],
    optional: Sequence[str] = (),
    *,
    option: str = "",
    notice: Notice | None = None,
) -> Iterator[Row]:
    """Yield the rows below the header; empty lines are passed over.

    Columns that are neither needed nor optional are told by `notice` and left out; without it they are
    refused. `option` stands before the path in messages.
    """
    shown = f"{option} {path}".strip()
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{shown} is not UTF-8 (byte {error.start}); save it as a UTF-8 CSV file") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        _check_header(header, shown, needed, optional, notice)
        for fields in reader:
            if not fields:
                continue
            row = Row(f"{shown} line {reader.line_num}", dict(zip(header, fields, strict=False)))
            if len(fields) != len(header):
                raise row.wrong(
                    f"it has {len(fields)} fields and the header has {len(header)}; give each row "
                    f"{len(header)}, empty ones where there is nothing to say"
                )
            yield row
    except csv.Error as error:
        raise InputError(f"{shown} line {reader.line_num}: it is not sound CSV ({error})") from None


def _check_header(
    header: list[str], shown: str, needed: Sequence[str], optional: Sequence[str], notice: Notice | None
) -> None:
    columns = (*needed, *optional)
    missing = next((name for name in needed if name not in header), None)
    if missing is not None:
        also = f"; it may also name {','.join(optional)}" if optional else ""
        found = f"not {','.join(header)[:60]!r}" if header else "but the file is empty"
        raise InputError(
            f"{shown} has no column {missing!r}: its first line must be a header such as "
            f"{','.join(needed)}, {found}{also}"
        )
    unknown = [name for name in header if name not in columns]
    for name in header:
        if header.count(name) > 1 or (name in unknown and notice is None):
            why = "twice" if header.count(name) > 1 else "which has no meaning here"
            raise InputError(f"{shown} has a column {name!r} {why}; the columns are {','.join(columns)}")
    if unknown and notice is not None:
        notice(f"{shown}: column {', '.join(unknown)} is not used")
