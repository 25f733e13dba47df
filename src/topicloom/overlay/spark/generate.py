"""Synthetic interest as a table on disk: Parquet by Spark, CSV and TSV as one plain local file.

The rows are those of `workloads.generate`, drawn slice by slice in the tasks: the same seed gives the same
rows in memory and here, for any number of partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from topicloom.base.addresses import is_address
from topicloom.base.atomic_write import check_writable, replacing
from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError, UsageError
from topicloom.overlay.workloads.generate import SEPARATORS, Drawer, Workload, write_text
from topicloom.tables.source import address
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.python_tasks import map_batches
from topicloom.tables.spark.step_tables import slices_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILE_ROWS = 1_000_000  # about how many rows one Parquet part file gets
SCHEMA = "node string, topic string"


def needs_spark(out: str) -> bool:
    """False for a local CSV or TSV file; refuses an extension that nothing here can write."""
    suffix = Path(out).suffix.lower()
    if suffix not in (".parquet", *SEPARATORS):
        raise UsageError(f"OUT {out!r} has extension {suffix!r}; use .parquet, .csv or .tsv")
    return suffix == ".parquet" or is_address(out)


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
    Spark alone (a folder of part files for text too). What `out` held before is replaced; a folder only if
    it is such a table itself.
    """
    check_replaceable(out, spark)
    if not needs_spark(out):
        write_text(workload, Path(out), progress=progress)
        return Drawer.of(workload).n_subscriptions()
    if spark is None:
        raise UsageError(f"OUT {out!r} is written by Spark and no session was given; pass one")
    table = generate_frame(spark, workload, partitions=partitions)
    if is_address(out):
        _write(spark, table, out, out, progress)
    else:
        with replacing(Path(out)) as temporary:
            _write(spark, table, out, address(temporary), progress)
            if Path(out).is_file():
                Path(out).unlink()  # a folder cannot be renamed onto a file
    return Drawer.of(workload).n_subscriptions()


def generate_frame(spark: SparkSession, workload: Workload, *, partitions: int | None = None) -> DataFrame:
    """Return the workload as a lazy table (node, topic), sorted by node and topic over the partitions."""
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
        rows = int(workload.nodes * workload.sizes.mean)
        partitions = slices_of(rows, FILE_ROWS)
    return map_batches(spark.range(0, n_slices, 1, max(1, min(partitions, n_slices))), draw, SCHEMA)


def check_replaceable(out: str, spark: SparkSession | None = None) -> None:
    """Refuse to replace a folder that holds anything but a table's part files and what Spark puts there.

    Without a session only a place on this machine is looked at.
    """
    inside: list[tuple[str, bool]] = []  # names, each with whether it is a folder
    if not is_address(out):
        check_writable(Path(out), out)
    if not is_address(out) and Path(out).is_dir():
        inside = [(entry.name, entry.is_dir()) for entry in Path(out).iterdir()]
    elif is_address(out) and spark is not None:
        context: Any = spark.sparkContext
        with spark_errors(out):
            folder = context._jvm.org.apache.hadoop.fs.Path(out)
            system = folder.getFileSystem(context._jsc.hadoopConfiguration())
            if system.exists(folder) and system.getFileStatus(folder).isDirectory():
                found = system.listStatus(folder)
                inside = [(str(one.getPath().getName()), bool(one.isDirectory())) for one in found]
    for name, is_folder in sorted(inside):
        ours = name.startswith("part-") or name == "_SUCCESS" or (name[0] == "." and name.endswith(".crc"))
        if is_folder or not ours:
            raise InputError(
                f"OUT {out!r} holds {name}, which is no part file of a table: name another place, or remove "
                "the folder first"
            )


def _write(spark: SparkSession, table: DataFrame, out: str, target: str, progress: Progress) -> None:
    suffix = Path(out).suffix.lower()

    def write() -> None:
        writer = table.write.mode("overwrite")
        if suffix == ".parquet":
            writer.parquet(target)
        else:
            writer.csv(target, header=True, sep=SEPARATORS[suffix])

    with spark_errors(out):
        run_watched(spark, write, progress=progress, phase="generate")
