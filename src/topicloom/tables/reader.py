"""Who reads tables: Spark (`tables/spark`) or this process (`tables/local`), by the same rules.

Jobs speak to these two protocols. What differs, beyond where a row is parsed, is where rows stay: Spark keeps
them as a table of any size, this process holds them in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.base.arrays import Bools
from topicloom.base.atomic_write import replacing
from topicloom.base.counts import counted
from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError, RefusedInputError
from topicloom.tables.refused import RefusedRows
from topicloom.tables.source import TableSource

REJECT_COLUMNS = ("file", "row", "reason")
_REJECTS = pa.schema([(name, pa.string()) for name in REJECT_COLUMNS])


def kept_names(source: TableSource) -> list[str]:
    """Return the fields that are kept of a refused row: who would be missed."""
    return list(source.names) if source.what == "interest" else []


class TableRead(Protocol):
    """A table that was read: good rows, and refused ones with file, row and reason.

    A refused row of an interest also has its node and its topic, where they can be read.
    """

    @property
    def source(self) -> TableSource:
        """Return what the user said of it."""

    @property
    def notice(self) -> str | None:
        """Return what the user must know about its columns."""

    @property
    def names(self) -> list[str]:
        """Return the names of its columns: those of the fields, optional ones where the files have them."""

    def to_arrow(self, *, progress: Progress = SILENT, phase: str | None = None) -> pa.Table:
        """Return all good rows in memory, in any order."""

    def n_rejects(self, *, progress: Progress = SILENT) -> int:
        """Return how many rows were refused."""

    def refused(self, *, progress: Progress = SILENT) -> RefusedRows:
        """Return how many rows were refused for which reason, and which names occur in no other."""

    def first_reject(self) -> tuple[str, str, str] | None:
        """Return the reject that comes first by file and row text, so that it is the same one every time."""

    def sorted_rejects(self, *, progress: Progress = SILENT) -> pa.Table:
        """Return all refused rows, in order."""

    def spill_rejects(self, path: Path, *, progress: Progress = SILENT) -> bool:
        """Write the refused rows to a folder where they are too large for memory; False: they are not."""

    def release(self) -> None:
        """Let go of what was kept for it."""


class TableReader(Protocol):
    """Whoever reads tables."""

    def read(self, source: TableSource, *, progress: Progress = SILENT) -> TableRead:
        """Return the table; raises InputError for whatever makes all of it unusable."""


def read_all(
    reader: TableReader, source: TableSource, *, empty: bool = False, progress: Progress = SILENT
) -> pa.Table:
    """Return all rows of a table in memory.

    Its columns must have the names of their fields. Any row that cannot be used is an error, and unless
    `empty` having none.
    """
    raw = reader.read(source, progress=progress)
    try:
        needed = {field.name for field in source.fields if not field.optional}
        some = {field.name for field in source.fields} - needed
        # Of several optional columns any will do: one of them is what the table is for.
        if raw.notice or not needed <= set(raw.names) or (some and not some & set(raw.names)):
            wanted = ", ".join(field.name for field in source.fields)
            raise InputError(
                f"{source.path} has no columns {wanted}: they must be named, in a header if it is CSV or TSV"
            )
        require_no_rejects(raw, raw.n_rejects(progress=progress))
        table = raw.to_arrow(progress=progress, phase=f"read {source.what}")
    finally:  # Spark would give the kept rows to whoever reads the mended file later in this session
        raw.release()
    if not table.num_rows and not empty:
        raise InputError(f"{source.path} holds no row: it is empty")
    return table


def rows_were(count: int) -> str:
    """Return the beginning of a sentence about so many rows."""
    return counted(count, "row was", "rows were")


def require_no_rejects(raw: TableRead, count: int) -> None:
    """Refuse a table with any refused row; the error names the first."""
    first = raw.first_reject() if count else None
    if first is not None:
        file, row, reason = first
        place = "" if file == raw.source.path else f"in {file} "
        told = f"{rows_were(count)} refused in {raw.source.path}, first {place}{row!r}: {reason}"
        raise RefusedInputError(told)


def write_rejects(raw: TableRead, path: str | Path, *, progress: Progress = SILENT) -> None:
    """Write all refused rows as Parquet (file, row, reason), whole or not at all.

    It is one file; where there are very many, it is a folder of files that Spark writes.
    """
    with replacing(Path(path)) as temporary:
        if raw.spill_rejects(temporary, progress=progress):
            return
        table = raw.sorted_rejects(progress=progress).select(list(REJECT_COLUMNS))
        # The same bytes, whoever read it: Spark's own columns may not be null, and come in pieces.
        pq.write_table(table.cast(_REJECTS).combine_chunks(), temporary)


def refuse_rows(path: str, table: pa.Table, bad: Bools, reason: str | Callable[[int], str]) -> None:
    """Refuse a table with bad rows; the error shows the first by its values, always the same one."""
    rows = np.flatnonzero(bad)
    if len(rows):
        shown = {
            int(row): [
                "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
                for value in (column[int(row)].as_py() for column in table.columns)
            ]
            for row in rows[:1000]
        }
        row = min(shown, key=lambda row: shown[row])
        told = reason if isinstance(reason, str) else reason(row)
        raise InputError(f"{path}: in the row {','.join(shown[row])!r} {told}")
