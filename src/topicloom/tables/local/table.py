"""A table in the memory of this process: its rows, and its rejects in order."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from topicloom.base.progress import SILENT, Progress
from topicloom.tables.reader import REJECT_COLUMNS
from topicloom.tables.refused import NONE_REFUSED, RefusedRows, gather_refused
from topicloom.tables.source import TableSource


@dataclass(frozen=True, slots=True, eq=False)
class LocalTable:
    """A table as read; see `TableRead`."""

    source: TableSource
    rows: pa.Table
    rejects: pa.Table
    notice: str | None = None

    @property
    def names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.rows.column_names)

    def to_arrow(self, *, progress: Progress = SILENT, phase: str | None = None) -> pa.Table:
        """Return all good rows."""
        return self.rows

    def n_rejects(self, *, progress: Progress = SILENT) -> int:
        """Return how many rows were refused."""
        return int(self.rejects.num_rows)

    def refused(self, *, progress: Progress = SILENT) -> RefusedRows:
        """Return how many rows were refused for which reason, and which names occur in no other."""
        return gather_refused(self._in_order(), self.rows) if self.rejects.num_rows else NONE_REFUSED

    def first_reject(self) -> tuple[str, str, str] | None:
        """Return the reject that comes first by file and row text."""
        if not self.rejects.num_rows:
            return None
        file, row, reason = (self.sorted_rejects()[name][0].as_py() for name in REJECT_COLUMNS)
        return file, row, reason

    def sorted_rejects(self, *, progress: Progress = SILENT) -> pa.Table:
        """Return all refused rows, in order."""
        return self._in_order().select(list(REJECT_COLUMNS))

    def _in_order(self) -> pa.Table:
        return self.rejects.sort_by([(name, "ascending") for name in REJECT_COLUMNS])

    def spill_rejects(self, path: Path, *, progress: Progress = SILENT) -> bool:
        """Do nothing: they are in memory already."""
        return False

    def release(self) -> None:
        """Do nothing: nothing is kept elsewhere."""
