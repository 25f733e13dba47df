"""Synthetic interest as a table on disk: Parquet by Spark, CSV and TSV as one plain local file.

The rows are those of `workloads.generate`, drawn slice by slice in the tasks: the same seed gives the same
rows in memory and here, for any number of partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from topicloom.errors import UsageError
from topicloom.files.atomic import replacing
from topicloom.model.progress import SILENT, Progress
from topicloom.spark.failures import spark_errors
from topicloom.spark.watch import watched
from topicloom.workloads.generate import Drawer, Workload
from topicloom.workloads.text import SEPARATORS, write_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILE_ROWS = 2_500_000
"""About how many rows one Parquet part file gets."""

SCHEMA = "node string, topic string"


def needs_spark(out: str) -> bool:
    """False for a local CSV or TSV file; refuses an extension that nothing here can write."""
    suffix = Path(out).suffix.lower()
    if suffix not in (".parquet", *SEPARATORS):
        raise UsageError(f"OUT {out!r} has extension {suffix!r}; use .parquet, .csv or .tsv")
    return suffix == ".parquet" or "://" in out


def generate_table(
    spark: SparkSession | None,
    workload: Workload,
    out: str,
    *,
    partitions: int | None = None,
    progress: Progress = SILENT,
) -> int:
    """Write the workload to `out`, by its extension, whole or not at all; the number of rows.

    `spark` may be None where `needs_spark(out)` is False. An address such as `hdfs://...` is written by
    Spark alone (a folder of part files for text too).
    """
    if not needs_spark(out):
        write_text(workload, Path(out), progress=progress)
        return Drawer.of(workload).n_subscriptions()
    if spark is None:
        raise UsageError(f"OUT {out!r} is written by Spark and no session was given; pass one")
    table = generate_frame(spark, workload, partitions=partitions)
    if "://" in out:
        _write(spark, table, out, out, progress)
    else:
        with replacing(Path(out)) as temporary:
            _write(spark, table, out, str(temporary.absolute()), progress)
    return Drawer.of(workload).n_subscriptions()


def generate_frame(spark: SparkSession, workload: Workload, *, partitions: int | None = None) -> DataFrame:
    """The workload as a lazy table (node, topic), sorted by node and topic over the partitions."""
    drawer = Drawer.of(workload)
    drawer.draw_slice(0, 1)  # compile here, once, rather than in every fresh worker at the same time
    width = workload.slice_nodes
    n_slices = -(-workload.nodes // width)

    def draw(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                start = number * width
                yield from drawer.table(start, min(start + width, workload.nodes)).to_batches()

    if partitions is None:
        rows = workload.nodes * (workload.sizes.low + workload.sizes.high) // 2
        partitions = max(spark.sparkContext.defaultParallelism, -(-rows // FILE_ROWS))
    return spark.range(0, n_slices, 1, max(1, min(partitions, n_slices))).mapInArrow(draw, SCHEMA)


def _write(spark: SparkSession, table: DataFrame, out: str, target: str, progress: Progress) -> None:
    suffix = Path(out).suffix.lower()

    def write() -> None:
        writer = table.write.mode("overwrite")
        if suffix == ".parquet":
            writer.parquet(target)
        else:
            writer.csv(target, header=True, sep=SEPARATORS[suffix])

    with spark_errors(out):
        watched(spark, write, progress=progress, phase="generate")
