"""Records of tables that Spark finds by itself: of a catalog, a query, a format of its own, or a DataFrame.

Such a table may have other rows each time it is evaluated: `uuid()`, a limit without an order, a database
that changes. So it is evaluated once, and its rows stay with the executors until they are released.

Nothing depends on the settings of the session: columns are taken by their places, because a name may hold
dots and backticks and its case may not count, and names that a collation calls equal stay apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.tables.origins import Origin
from topicloom.tables.source import TableSource
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.frames import read_frame
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.links import settled
from topicloom.tables.spark.raw_table import RawTable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def read_origin(
    spark: SparkSession, source: TableSource, origin: Origin, *, progress: Progress = SILENT
) -> RawTable:
    """Return the records of a table that is no file, as they are now.

    An executor that is lost takes its rows along, and whoever asks for them fails: made again, they might be
    others.
    """
    from pyspark.sql import functions as sf

    frame = open_origin(spark, origin)
    with spark_errors(source.path):
        if frame.isStreaming:
            raise InputError(
                f"{source.path} is a stream, which has no end: give one that was read as a whole"
            )
        kinds = frame.schema.fields
    names = [column.name for column in kinds]
    _refuse_twins(source, names)
    numbered = frame.toDF(*(f"x{place}" for place in range(len(names))))
    plain = numbered.select(*(_plain(f"x{place}", one.dataType) for place, one in enumerate(kinds)))

    def settle(judged: DataFrame) -> DataFrame:
        with spark_errors(source.path):
            phase = f"read {source.what}"
            return run_watched(spark, lambda: settled(judged), progress=progress, phase=phase)

    return read_frame(plain, source, sf.lit(source.path), called=names, settle=settle)


def open_origin(spark: SparkSession, origin: Origin) -> DataFrame:
    """Return the DataFrame that is meant; no row is read."""
    if origin.frame is not None:
        frame: DataFrame = origin.frame
        return frame
    with spark_errors(origin.shown):
        if origin.sql is not None:
            # In brackets nothing but a query can stand: a command would be carried out at once.
            query = origin.sql.strip().removesuffix(";")
            frame = spark.sql(f"SELECT * FROM (\n{query}\n)")
        elif origin.table is not None:
            frame = spark.read.options(**origin.options).table(origin.table)
        else:
            assert origin.format is not None
            frame = spark.read.format(origin.format).options(**origin.options).load(origin.path)
        frame.schema  # noqa: B018  Connect does not look at a table before it is asked for something
    return frame


def rows_signature(raw: RawTable, *, progress: Progress = SILENT) -> list[list[str | int]]:
    """Return what tells these rows from others, in whatever order they come: counts and hashes.

    One pass; a row that was refused counts too.
    """
    from pyspark.sql import functions as sf

    texts = [sf.coalesce(sf.col(name).cast("string"), sf.lit("\0")) for name in raw.names]
    first = sf.xxhash64(*texts)
    second = sf.xxhash64(sf.lit("second"), *texts).cast("decimal(38,0)")
    good = sf.col("_reason").isNull()
    found = raw.judged.agg(
        sf.count_if(good), sf.count_if(~good), sf.bit_xor(sf.when(good, first)), sf.sum(sf.when(good, second))
    )
    with spark_errors(raw.source.path):
        row = run_watched(found.sparkSession, found.first, progress=progress, phase="hash rows")
    assert row is not None  # an aggregate without groups always has its one row
    return [[raw.source.path, *(int(value or 0) for value in row[:3]), str(row[3])]]


def _plain(name: str, kind: Any) -> Column:
    """Return a column of identifiers as bytes tell them apart."""
    from pyspark.sql import functions as sf
    from pyspark.sql.types import CharType, StringType, VarcharType

    column = sf.col(name)
    if isinstance(kind, (CharType, VarcharType)):
        return column.cast("string").alias(name)
    if isinstance(kind, StringType) and kind != StringType():
        return sf.collate(column, "UTF8_BINARY").alias(name)
    return column


def _refuse_twins(source: TableSource, names: Sequence[str]) -> None:
    """Refuse a table in which a column that may be meant is there twice."""
    wanted = {field.name for field in source.fields} | {source.first, source.second}
    twin = next((name for name in names if name in wanted and names.count(name) > 1), None)
    if twin is not None:
        told = ", ".join(names)
        raise InputError(f"{source.path} has the column {twin!r} more than once: its columns are {told}")
