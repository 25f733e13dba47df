"""A table as it was read, before anything is numbered: rows, rejects, and how Spark is told a path."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.base.atomic_write import replacing
from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.tables.source import DataFile, TableSource
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.session import session_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

REJECT_COLUMNS = ("file", "row", "reason")

# A reader option: paths are names, not patterns, so `a[1].csv` and `{x}.csv` mean themselves.
NO_PATTERNS = ("__globPaths__", "false")


@dataclass(frozen=True, slots=True, eq=False)
class RawTable:
    """A table as read: `rows` has the fields by their names, optional ones where the files have them.

    `rejects` has file, row and reason. Both are lazy; text is parsed once and kept on disk until `release`.
    """

    source: TableSource
    rows: DataFrame
    rejects: DataFrame
    notice: str | None = None
    kept: DataFrame | None = None

    def n_rejects(self, *, progress: Progress = SILENT) -> int:
        """Return how many rows were refused."""
        with spark_errors(self.source.path):
            return run_watched(self.rejects.sparkSession, self.rejects.count, progress=progress)

    def first_reject(self) -> tuple[str, str, str] | None:
        """Return the reject that comes first by file and row text, so that it is the same one every time."""
        with spark_errors(self.source.path):
            found = run_watched(self.rejects.sparkSession, self.rejects.orderBy(*REJECT_COLUMNS).first)
        return None if found is None else (found["file"], found["row"], found["reason"])

    def release(self) -> None:
        """Let go of what was kept on disk."""
        if self.kept is not None:
            self.kept.unpersist()


def rows_were(count: int) -> str:
    """Return the beginning of a sentence about so many rows."""
    return "1 row was" if count == 1 else f"{count} rows were"


def require_no_rejects(raw: RawTable, count: int) -> None:
    """Refuse a table with any refused row; the error names the first."""
    first = raw.first_reject() if count else None
    if first is not None:
        file, row, reason = first
        place = "" if file == raw.source.path else f"in {file} "
        raise InputError(f"{rows_were(count)} refused in {raw.source.path}, first {place}{row!r}: {reason}")


def write_rejects(raw: RawTable, path: str | Path, *, progress: Progress = SILENT) -> None:
    """Write all refused rows as one Parquet file (file, row, reason), whole or not at all."""
    import pyarrow.parquet as pq

    with replacing(Path(path)) as temporary:
        with spark_errors(raw.source.path):
            ordered = raw.rejects.orderBy(*REJECT_COLUMNS)
            table = run_watched(raw.rejects.sparkSession, ordered.toArrow, progress=progress)
        pq.write_table(table.select(list(REJECT_COLUMNS)), temporary)


def spark_path(spark: SparkSession, file: DataFile) -> str:
    """Return the address under which Spark finds a file.

    Hadoop passes over names that begin with `_` or `.` and stumbles over a colon; such a local file is
    reached through a link with a plain name.
    """
    if not file.path.startswith("/"):
        return file.path
    name = Path(file.path).name
    if ":" not in name and name[0] not in "_.":
        return f"file://{file.path}"
    folder = tempfile.mkdtemp(prefix="link-", dir=session_folder(spark))
    link = Path(folder) / f"file-{name.replace(':', '-')}"
    link.symlink_to(file.path)
    return f"file://{link}"


def quoted_name(name: str) -> str:
    """Return a column's name as Spark's expressions take it."""
    return "`" + name.replace("`", "``") + "`"
