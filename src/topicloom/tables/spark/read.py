"""The one call that takes a table in, whatever its fields and its format: rows and rejects apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Bools
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.errors import InputError
from topicloom.tables.source import TableSource
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.frames import read_parquet
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.raw_table import RawTable, require_no_rejects
from topicloom.tables.spark.table_files import resolve
from topicloom.tables.spark.text import read_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def read_table(spark: SparkSession, source: TableSource, *, progress: Progress = SILENT) -> RawTable:
    """Return the table that `source` describes; raises InputError for whatever makes all of it unusable."""
    check_stop(progress)
    resolved = resolve(spark, source)
    return (read_parquet if resolved.format == "parquet" else read_text)(spark, source, resolved)


def read_all(
    spark: SparkSession, source: TableSource, *, empty: bool = False, progress: Progress = SILENT
) -> pa.Table:
    """Return all rows of a table in memory.

    Its columns must have the names of their fields. Any row that cannot be used is an error, and unless
    `empty` having none.
    """
    raw = read_table(spark, source, progress=progress)
    try:
        wanted = [field.name for field in source.fields]
        if raw.notice or not set(wanted) <= set(raw.rows.columns):
            raise InputError(
                f"{source.path} has no columns {', '.join(wanted)}: they must be named, in a header if it is "
                "CSV or TSV"
            )
        require_no_rejects(raw, raw.n_rejects(progress=progress))
        with spark_errors(source.path):
            table = run_watched(spark, raw.rows.toArrow, progress=progress, phase=f"read {source.what}")
    finally:  # Spark would give the kept rows to whoever reads the mended file later in this session
        raw.release()
    if not table.num_rows and not empty:
        raise InputError(f"{source.path} holds no row: it is empty")
    return table


def refuse_rows(path: str, table: pa.Table, bad: Bools, reason: str | Callable[[int], str]) -> None:
    """Refuse a table with bad rows; the error shows the first by its values, always the same one."""
    rows = np.flatnonzero(bad)
    if len(rows):
        shown = {
            int(row): [
                f"{value:g}" if isinstance(value, float) else str(value)
                for value in (column[int(row)].as_py() for column in table.columns)
            ]
            for row in rows[:1000]
        }
        row = min(shown, key=lambda row: shown[row])
        told = reason if isinstance(reason, str) else reason(row)
        raise InputError(f"{path}: in the row {','.join(shown[row])!r} {told}")
