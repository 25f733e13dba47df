"""Rows of the small CSV files that a simulation is given: with line numbers, as plain strings.

Interests come as any table through `spark`; latencies and traces are small and their rows have an order.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

from topicloom.errors import InputError


def rows(path: str | Path, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> Iterator[Row]:
    """The rows below the header, which names the columns in any order; empty lines are passed over."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            _check_header(path, header, needed, optional)
            for fields in reader:
                if not fields:
                    continue
                row = Row(path, reader.line_num, dict(zip(header, fields, strict=False)))
                if len(fields) != len(header):
                    raise row.wrong(
                        f"it has {len(fields)} fields and the header has {len(header)}; give each row "
                        f"{len(header)}, empty ones where there is nothing to say"
                    )
                yield row
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text; save it as a UTF-8 CSV file") from error
    except csv.Error as error:
        raise InputError(f"{path} line {reader.line_num}: it is not sound CSV ({error})") from error


def _check_header(
    path: str | Path, header: list[str], needed: tuple[str, ...], optional: tuple[str, ...]
) -> None:
    missing = next((name for name in needed if name not in header), None)
    if missing is not None:
        raise InputError(
            f"{path} has no column {missing!r}: its first line must be the header {','.join(needed)}"
            + (f" and may also name {','.join(optional)}" if optional else "")
        )
    for place, name in enumerate(header):
        if name not in needed + optional or name in header[:place]:
            why = "twice" if name in header[:place] else "which has no meaning here"
            raise InputError(
                f"{path} has a column {name!r} {why}; the columns are {','.join(needed + optional)}"
            )


class Row:
    """One row of the file at `path`."""

    __slots__ = ("_path", "line", "values")

    def __init__(self, path: str | Path, line: int, values: dict[str, str]) -> None:
        self._path, self.line, self.values = path, line, values

    def __getitem__(self, column: str) -> str:
        """The field; empty for an optional column that the file does not have."""
        return self.values.get(column, "")

    def seconds(self, column: str) -> float:
        """The field as a number of seconds, at least 0."""
        word = self[column]
        try:
            value = float(word)
        except ValueError:
            raise self.wrong(f"{column} is {word!r} where a number of seconds is needed") from None
        if not isfinite(value) or value < 0:
            raise self.wrong(f"{column} is {word!r}, but it must be at least 0 and finite")
        return value

    def wrong(self, what: str) -> InputError:
        return InputError(f"{self._path} line {self.line}: {what}")
