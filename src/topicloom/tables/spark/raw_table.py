"""A table as it was read, before anything is numbered: rows, rejects, and how Spark is told a path."""

from __future__ import annotations

import operator
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
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
from topicloom.tables.source import DataFile, Resolved, TableSource, address
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.kept_tables import let_go
from topicloom.tables.spark.links import forget
from topicloom.tables.spark.session import session_folder

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession

# A reader option: paths are names, not patterns, so `a[1].csv` and `{x}.csv` mean themselves.
NO_PATTERNS = ("__globPaths__", "false")
MANY_FILES = 32  # up to so many Spark looks at one by one without starting a job
COLLECTED_REJECTS = 256 << 20  # bytes of refused rows up to which the driver writes one file of them
PATTERN_SIGNS = set("[]{}*?\\")
BROADCAST_NAMES = 100_000  # of refused rows, that every worker gets


@dataclass(frozen=True, slots=True, eq=False)
class RawTable:
    """A table as read: `rows` has the fields by their names, optional ones where the files have them.

    `rejects` has file, row and reason; `judged` has all rows, refused ones with a `_reason`. All are lazy.
    Text is parsed once and kept on disk until `release`; Parquet is read each time, unless `keep` is called.
    What is `settled` was made before and is never made again.
    """

    source: TableSource
    rows: DataFrame
    rejects: DataFrame
    judged: DataFrame
    notice: str | None = None
    kept: DataFrame | None = None
    settled: bool = False

    @property
    def names(self) -> list[str]:
        """Return the names of the columns of `rows`."""
        return list(self.rows.columns)

    def to_arrow(self, *, progress: Progress = SILENT, phase: str | None = None) -> pa.Table:
        """Return all good rows in memory."""
        with spark_errors(self.source.path):
            found = run_watched(self.rows.sparkSession, self.rows.toArrow, progress=progress, phase=phase)
        return plain_texts(found)

    def tally(
        self,
        columns: Mapping[str, Column] | None = None,
        *,
        progress: Progress = SILENT,
        phase: str | None = None,
    ) -> dict[str, int]:
        """Return in one pass how many `rows` are good and how many `refused`, and further aggregates.

        These must pass over rows that have a `_reason`.
        """
        from pyspark.sql import functions as sf

        reason = sf.col("_reason")
        counts = {"rows": sf.count_if(reason.isNull()), "refused": sf.count(reason), **(columns or {})}
        table = self.judged.agg(*[column.alias(name) for name, column in counts.items()])
        with spark_errors(self.source.path):
            found = run_watched(table.sparkSession, table.first, progress=progress, phase=phase)
        assert found is not None  # an aggregate without groups always has its one row
        return {name: int(value or 0) for name, value in found.asDict().items()}

    def n_rejects(self, *, progress: Progress = SILENT) -> int:
        """Return how many rows were refused."""
        return self.tally(progress=progress)["refused"]

    def refused(self, *, known: int | None = None, progress: Progress = SILENT) -> RefusedRows:
        """Return how many rows were refused for which reason, and which names occur in no other.

        `known` is how many they are, if somebody has counted them.
        """
        from pyspark.sql import functions as sf

        if not (self.n_rejects(progress=progress) if known is None else known):
            return NONE_REFUSED  # a count is all that a table without rejects costs
        self.keep()
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
        gone = refused.join(good, name, "left_anti")
        first = gone.orderBy(column).limit(LOST_NAMES)
        names = run_watched(spark, first.toArrow, progress=progress)[name].to_pylist()
        # There may be as many as rows: they are counted there.
        count = len(names) if len(names) < LOST_NAMES else run_watched(spark, gone.count, progress=progress)
        return LostNames(count, names)

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
            found = run_watched(self.rejects.sparkSession, self.rejects.toArrow, progress=progress)
        return plain_texts(found)

    def spill_rejects(self, path: Path, *, progress: Progress = SILENT) -> bool:
        """Let Spark write the refused rows where they are too large to collect."""
        from pyspark.sql import functions as sf

        from topicloom.tables.spark.step_tables import StepTables

        spark = self.rejects.sparkSession
        octets = reduce(operator.add, map(sf.octet_length, REJECT_COLUMNS))
        with spark_errors(self.source.path):
            found = run_watched(spark, self.rejects.agg(sf.sum(octets)).first, progress=progress)
            if found is None or (found[0] or 0) <= COLLECTED_REJECTS:
                return False
            ordered = self.rejects.orderBy(*REJECT_COLUMNS).select(*REJECT_COLUMNS)
            StepTables(spark, str(path.parent), progress).write(None, ordered, path.name)
        return True

    def keep(self) -> None:
        """Keep rows and rejects on the executors' disks from their next use on: more than one is to come."""
        from pyspark import StorageLevel

        if self.kept is None:
            for frame in (self.rows, self.rejects):
                frame.persist(StorageLevel.DISK_ONLY)

    def release(self) -> None:
        """Let go of what was kept on disk."""
        if self.settled and self.kept is not None:
            forget(self.kept)
        else:
            let_go(*((self.rows, self.rejects) if self.kept is None else (self.kept,)))


def kept_apart(
    source: TableSource, judged: DataFrame, names: Sequence[str], notice: str | None, *, settled: bool = False
) -> RawTable:
    """Return a table of which all rows are kept: those with a `_reason` are refused.

    They have `_file` and `_row` besides, and the names that can be read in them.
    """
    from pyspark.sql import functions as sf

    good, bad = judged.where("_reason is null"), judged.where("_reason is not null")
    rows = good.select(*map(quoted_name, names))
    rejects = bad.select(*[sf.col(f"_{name}").alias(name) for name in REJECT_COLUMNS], *kept_names(source))
    return RawTable(source, rows, rejects, judged, notice, judged, settled)


def plain_texts(table: pa.Table) -> pa.Table:
    """Return the same texts in Arrow's plain type; a session may be set to give the one for large texts."""
    fields = [
        field.with_type(pa.string()) if pa.types.is_large_string(field.type) else field
        for field in table.schema
    ]
    return table if list(table.schema) == fields else table.cast(pa.schema(fields))


def text_bytes(frame: DataFrame) -> Column:
    """Return an aggregate: how many bytes the texts of a frame have together."""
    from pyspark.sql import functions as sf

    texts = [quoted_name(name) for name, kind in frame.dtypes if kind == "string"]
    sizes = [sf.coalesce(sf.octet_length(text), sf.lit(0)).cast("long") for text in texts]
    return sf.sum(reduce(operator.add, sizes, sf.lit(0)))


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


def read_paths(
    spark: SparkSession, resolved: Resolved, paths: list[str]
) -> tuple[DataFrameReader, list[str]]:
    """Return a reader and what to give to it so that it reads these paths of a table.

    Spark looks at each path by itself, a minute for 10,000 of them; a folder it lists at once. So a folder of
    many files is named instead, if all of them are meant and none is reached through a link.
    """
    reader, first = spark.read.option(*NO_PATTERNS), resolved.files[0]
    if len(paths) <= MANY_FILES or len(paths) < len(resolved.files) or resolved.named:
        return reader, paths
    root = first.path[: -len(first.name)].rstrip("/")
    if any(
        path not in (file.path, f"file://{file.path}")
        for file, path in zip(resolved.files, paths, strict=True)
    ):
        return reader, paths
    # Partition folders are read by us: their values are texts.
    return reader.option("recursiveFileLookup", str(bool(first.partition)).lower()), [address(root)]


def quoted_name(name: str) -> str:
    """Return a column's name as Spark's expressions take it."""
    return "`" + name.replace("`", "``") + "`"
