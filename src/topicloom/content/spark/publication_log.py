"""A publication log on Spark: the passes of `content/traffic/log_passes.py` as jobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Floats
from topicloom.base.progress import SILENT, Progress
from topicloom.content.traffic.log_passes import LogSummary, MessageCounts, MessageKeys, look, summed_up
from topicloom.content.traffic.publication_log import PUBLISHER, TIME, MessageSample, enough, sample_every
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.python_tasks import map_batches
from topicloom.tables.spark.raw_table import RawTable, quoted_name

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class SparkLog:
    """A log that Spark reads."""

    raw: RawTable

    def summarise(
        self, attributes: Sequence[str], edges: Sequence[Floats], *, progress: Progress = SILENT
    ) -> LogSummary:
        """Make the first pass."""
        from pyspark.sql import functions as sf

        spark = self.raw.rows.sparkSession
        shared = spark.sparkContext.broadcast([np.ascontiguousarray(edge) for edge in edges])

        def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return look(shared.value, batches)

        schema = "kind int, name string, part long, n long, low double, high double"
        found = map_batches(picked_columns(self.raw, attributes), task, schema)
        gathered = found.groupBy("kind", "name", "part").agg(
            sf.sum("n").alias("n"), sf.min("low").alias("low"), sf.max("high").alias("high")
        )
        with spark_errors(self.raw.source.path):
            table = run_watched(spark, gathered.toArrow, progress=progress, phase="read log", stages=1)
        shared.unpersist()
        return summed_up(table, edges)

    def count(
        self, attributes: Sequence[str], keys: MessageKeys, *, progress: Progress = SILENT
    ) -> MessageCounts:
        """Make the second pass."""
        from pyspark.sql import functions as sf

        spark = self.raw.rows.sparkSession
        shared = spark.sparkContext.broadcast(keys)

        def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return shared.value.count(batches)

        found = map_batches(picked_columns(self.raw, attributes).drop("c1"), task, "key long, n long")
        counts = found.groupBy("key").agg(sf.sum("n").alias("n"))
        # One number per publisher and channel that occur: the planners hold as much in memory anyway.
        with spark_errors(self.raw.source.path):
            table = run_watched(spark, counts.toArrow, progress=progress, phase="count messages", stages=2)
        shared.unpersist()
        return keys.read(table)

    def sample(self, attributes: Sequence[str], rows: int, *, progress: Progress = SILENT) -> MessageSample:
        """Return some messages."""
        from pyspark.sql import functions as sf

        picked = picked_columns(self.raw, attributes)
        values = picked.columns[2:]
        every = sample_every(rows)

        def gather(some: DataFrame, count: Column) -> MessageSample:
            table = some.groupBy(*values).agg(count.cast("long").alias("n")).where("n > 0")
            with spark_errors(self.raw.source.path):
                found = run_watched(some.sparkSession, table.toArrow, progress=progress, phase="sample log")
            columns = [column.to_numpy() for column in found.columns]
            return MessageSample(np.column_stack(columns[:-1]), columns[-1])

        def draw(names: Sequence[str]) -> Column:
            return sf.pmod(sf.xxhash64(*names), sf.lit(every))

        count = sf.count(sf.lit(1))
        sample = gather(picked if every == 1 else picked.where(draw(picked.columns) == 0), count)
        if every == 1 or enough(sample):
            return sample
        return gather(picked, sf.floor((count + draw(values)) / sf.lit(every)))


def picked_columns(raw: RawTable, attributes: Sequence[str]) -> DataFrame:
    """Return publisher, time and the attributes in this order, under names that cannot clash."""
    from pyspark.sql import functions as sf

    names = (PUBLISHER, TIME, *attributes)
    return raw.rows.select(*[sf.col(quoted_name(name)).alias(f"c{k}") for k, name in enumerate(names)])
