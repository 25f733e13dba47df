"""The one call that takes a table in through Spark, whatever its fields and its format: rows and rejects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.tables.local.limits import collects
from topicloom.tables.local.table import LocalTable
from topicloom.tables.source import TableSource
from topicloom.tables.spark.frames import read_parquet
from topicloom.tables.spark.origins import read_origin
from topicloom.tables.spark.raw_table import RawTable, text_bytes
from topicloom.tables.spark.session import may_collect
from topicloom.tables.spark.table_files import resolve
from topicloom.tables.spark.text import collect_text, read_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


COLLECTED_BYTES = 512 << 20  # of names
FIELD_BYTES = 8  # that each field of a row costs besides its text
REJECT_BYTES = 512  # about what a refused row has besides: file and reason, and the row as it stands there


@dataclass(frozen=True, slots=True)
class SparkReader:
    """Reads tables through a session; with `collect` small ones of this machine come into memory at once."""

    spark: SparkSession
    collect: bool = False

    def read(self, source: TableSource, *, progress: Progress = SILENT) -> RawTable | LocalTable:
        """Return the table that `source` describes."""
        if self.collect and collects(source):
            return collect_table(self.spark, source, progress=progress)
        return read_table(self.spark, source, progress=progress)


def collect_table(spark: SparkSession, source: TableSource, *, progress: Progress = SILENT) -> LocalTable:
    """Return a small table in memory, by one job for text and two for Parquet, none with a Python worker."""
    check_stop(progress)
    resolved = resolve(spark, source)
    if resolved.format != "parquet":
        return collect_text(spark, source, resolved, progress)
    raw = read_parquet(spark, source, resolved)
    rows = raw.to_arrow(progress=progress, phase=f"read {source.what}")
    return LocalTable(source, rows, raw.all_rejects(progress=progress), raw.notice)


def collect_rows(raw: RawTable, *, progress: Progress = SILENT) -> LocalTable | None:
    """Return in memory a table that Spark has read; None if it is too large to be collected."""
    found = raw.tally({"octets": text_bytes(raw.judged)}, progress=progress)
    numbers = FIELD_BYTES * len(raw.names) * found["rows"] + REJECT_BYTES * found["refused"]
    if found["octets"] + numbers > may_collect(raw.judged.sparkSession, COLLECTED_BYTES):
        return None
    rows = raw.to_arrow(progress=progress, phase=f"read {raw.source.what}")
    return LocalTable(raw.source, rows, raw.all_rejects(progress=progress), raw.notice)


def read_table(spark: SparkSession, source: TableSource, *, progress: Progress = SILENT) -> RawTable:
    """Return the table that `source` describes; raises InputError for whatever makes all of it unusable."""
    check_stop(progress)
    if source.origin is not None:
        return read_origin(spark, source, source.origin, progress=progress)
    resolved = resolve(spark, source)
    return (read_parquet if resolved.format == "parquet" else read_text)(spark, source, resolved)
