"""How many rows a table behind an address has, before it is read: that decides how it is read."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.tables.local.limits import rows_of_text
from topicloom.tables.source import SQUEEZED, TableSource
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.file_plans import beginnings_of, size_of
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.raw_table import read_paths, spark_path
from topicloom.tables.spark.table_files import resolve

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def about_far_rows(spark: SparkSession, source: TableSource, *, progress: Progress = SILENT) -> int:
    """Return how many rows there are: the ends of Parquet files say so, of text the size tells roughly.

    0 for one that cannot be read: whoever reads it says what is wrong with it.
    """
    with suppress(InputError):
        resolved = resolve(spark, source)
        if resolved.format != "parquet":
            sizes = [size_of(spark, file) * (SQUEEZED if file.compression else 1) for file in resolved.files]
            return rows_of_text(sum(sizes), resolved, beginnings_of(spark, {}))
        paths = [spark_path(spark, file) for file in resolved.files]
        with spark_errors(source.path):
            reader, places = read_paths(spark, resolved, paths)
            return run_watched(spark, reader.parquet(*places).count, progress=progress, phase="count rows")
    return 0
