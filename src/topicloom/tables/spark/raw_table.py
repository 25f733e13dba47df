"""A table as it was read, before anything is numbered: rows, rejects, and how Spark is told a path."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from topicloom.base.progress import SILENT, Progress
from topicloom.tables.reader import REJECT_COLUMNS, kept_names
from topicloom.tables.refused import (
    KINDS,
    LOST_NAMES,
    NONE_REFUSED,
    LostNames,
    RefusedKind,
    RefusedRows,
    ordered,
)
from topicloom.tables.source import DataFile, TableSource
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.session import session_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# A reader option: paths are names, not patterns, so `a[1].csv` and `{x}.csv` mean themselves.
NO_PATTERNS = ("__globPaths__", "false")
PATTERN_SIGNS = set("[]{}*?\\")
BROADCAST_NAMES = 100_000  # of refused rows, that every worker gets


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

    @property
    def names(self) -> list[str]:
        """Return the names of the columns of `rows`."""
        return list(self.rows.columns)

    def to_arrow(self, *, progress: Progress = SILENT, phase: str | None = None) -> pa.Table:
        """Return all good rows in memory."""
        with spark_errors(self.source.path):
            return run_watched(self.rows.sparkSession, self.rows.toArrow, progress=progress, phase=phase)

    def n_rejects(self, *, progress: Progress = SILENT) -> int:
        """Return how many rows were refused."""
        with spark_errors(self.source.path):
            return run_watched(self.rejects.sparkSession, self.rejects.count, progress=progress)

    def refused(self, *, progress: Progress = SILENT) -> RefusedRows:
        """Return how many rows were refused for which reason, and which names occur in no other."""
        from pyspark.sql import functions as sf

        if not self.n_rejects(progress=progress):
            return NONE_REFUSED  # a count is all that a table without rejects costs
        kind = sf.col("reason")
        for pattern, groups in KINDS:
            kind = sf.regexp_replace(kind, pattern, "$1" if groups == 1 else "$1 $2")
        example = sf.min(sf.struct("file", "row", "reason")).alias("example")
        counted = self.rejects.groupBy(kind.alias("kind")).agg(sf.count(sf.lit(1)).alias("rows"), example)
        spark = self.rejects.sparkSession
        with spark_errors(self.source.path):
            found = run_watched(spark, counted.collect, progress=progress)
            kinds = [
                RefusedKind(one["kind"], one["rows"], one["example"]["file"], one["example"]["row"])
                for one in found
            ]
            lost = {name: self._lost(name, progress) for name in kept_names(self.source)}
        return RefusedRows(ordered(kinds), {name: names for name, names in lost.items() if names.count})

    def _lost(self, name: str, progress: Progress) -> LostNames:
        """Return the names of a field that occur in refused rows only."""
        from pyspark.sql import functions as sf

        spark, column = self.rejects.sparkSession, quoted_name(name)
        refused = self.rejects.where(f"{column} is not null").select(column).distinct()
        good = self.rows.select(column)
        if run_watched(spark, refused.count, progress=progress) <= BROADCAST_NAMES:
            # One pass over the good rows, and no shuffle of them.
            good = good.join(sf.broadcast(refused), name, "left_semi").distinct()
        gone = refused.join(good, name, "left_anti").orderBy(column)
        names = run_watched(spark, gone.toArrow, progress=progress)[name]
        return LostNames(len(names), names[:LOST_NAMES].to_pylist())

    def first_reject(self) -> tuple[str, str, str] | None:
        """Return the reject that comes first by file and row text, so that it is the same one every time."""
        with spark_errors(self.source.path):
            found = run_watched(self.rejects.sparkSession, self.rejects.orderBy(*REJECT_COLUMNS).first)
        return None if found is None else (found["file"], found["row"], found["reason"])

    def sorted_rejects(self, *, progress: Progress = SILENT) -> pa.Table:
        """Return all refused rows, in order."""
        with spark_errors(self.source.path):
            in_order = self.rejects.orderBy(*REJECT_COLUMNS).select(*REJECT_COLUMNS)
            return run_watched(self.rejects.sparkSession, in_order.toArrow, progress=progress)

    def all_rejects(self, *, progress: Progress = SILENT) -> pa.Table:
        """Return all refused rows with what is kept of them, in any order."""
        with spark_errors(self.source.path):
            return run_watched(self.rejects.sparkSession, self.rejects.toArrow, progress=progress)

    def release(self) -> None:
        """Let go of what was kept on disk."""
        if self.kept is not None:
            self.kept.unpersist()


def spark_path(spark: SparkSession, file: DataFile) -> str:
    """Return the address under which Spark finds a file.

    Hadoop passes over names that begin with `_` or `.` and stumbles over a colon. And of several paths, one
    with the signs of a pattern makes Spark read the others twice, patterns or not. Such a local file is
    reached through a link with a plain name.
    """
    if not file.path.startswith("/"):
        return file.path
    name = Path(file.path).name
    if ":" not in name and name[0] not in "_." and not PATTERN_SIGNS & set(file.path):
        return f"file://{file.path}"
    folder = tempfile.mkdtemp(prefix="link-", dir=session_folder(spark))
    plain = "".join("-" if sign == ":" or sign in PATTERN_SIGNS else sign for sign in name)
    link = Path(folder) / f"file-{plain}"
    link.symlink_to(file.path)
    return f"file://{link}"


def quoted_name(name: str) -> str:
    """Return a column's name as Spark's expressions take it."""
    return "`" + name.replace("`", "``") + "`"
