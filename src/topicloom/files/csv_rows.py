"""Small CSV tables that come with an option (hosts, credentials): read at once, without Spark."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from topicloom.errors import InputError


@dataclass(frozen=True, slots=True)
class CsvRow:
    """One row: where it stands in the file, and its fields by column; a column that is not there has None."""

    where: str
    fields: dict[str, str | None]

    def __getitem__(self, column: str) -> str:
        """A field that the row must have."""
        value = self.fields[column]
        if not value:
            raise InputError(f"{self.where}: {column} is empty")
        return value


def read_rows(
    path: Path,
    option: str,
    needed: Sequence[str],
    optional: Sequence[str] = (),
    notice: Callable[[str], None] = lambda text: None,
) -> list[CsvRow]:
    """The rows of a CSV file with a header; columns nobody asked for are told by `notice` and left out."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{option} {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{option} {path} is not UTF-8 (byte {error.start})") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        _check_header(header, path, option, needed)
        ignored = [name for name in header if name not in (*needed, *optional)]
        if ignored:
            notice(f"{option} {path}: column {', '.join(ignored)} is not used")
        rows = []
        for fields in reader:
            if not fields:
                continue  # an empty line
            where = f"{option} {path} line {reader.line_num}"
            if len(fields) != len(header):
                raise InputError(f"{where} has {len(fields)} fields, the header has {len(header)}")
            named = dict(zip(header, fields, strict=True))
            rows.append(CsvRow(where, {column: named.get(column) for column in (*needed, *optional)}))
        return rows
    except csv.Error as error:
        raise InputError(f"{option} {path} line {reader.line_num}: {error}") from None


def _check_header(header: Sequence[str], path: Path, option: str, needed: Sequence[str]) -> None:
    missing = next((column for column in needed if column not in header), None)
    if missing is not None:
        found = f"not {','.join(header)[:60]!r}" if header else "but the file is empty"
        raise InputError(
            f"{option} {path} has no column {missing}; its first line must be a header such as "
            f"{','.join(needed)}, {found}"
        )
    repeated = next((column for column in header if list(header).count(column) > 1), None)
    if repeated is not None:
        raise InputError(f"{option} {path} has two columns {repeated}")
