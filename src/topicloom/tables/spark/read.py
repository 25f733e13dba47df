"""The one call that takes a table in through Spark, whatever its fields and its format: rows and rejects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.tables.source import TableSource
from topicloom.tables.spark.frames import read_parquet
from topicloom.tables.spark.raw_table import RawTable
from topicloom.tables.spark.table_files import resolve
from topicloom.tables.spark.text import read_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class SparkReader:
    """Reads tables through a session."""

    spark: SparkSession

    def read(self, source: TableSource, *, progress: Progress = SILENT) -> RawTable:
        """Return the table that `source` describes."""
        return read_table(self.spark, source, progress=progress)


def read_table(spark: SparkSession, source: TableSource, *, progress: Progress = SILENT) -> RawTable:
    """Return the table that `source` describes; raises InputError for whatever makes all of it unusable."""
    check_stop(progress)
    resolved = resolve(spark, source)
    return (read_parquet if resolved.format == "parquet" else read_text)(spark, source, resolved)
