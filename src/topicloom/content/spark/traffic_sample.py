"""Some messages of a log, to be matched one by one against the subscriptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topicloom.base.arrays import Floats, Longs
from topicloom.base.progress import SILENT, Progress
from topicloom.content.spark.traffic import picked_columns
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.raw import RawTable
from topicloom.tables.spark.watch import watched

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SAMPLE_ROWS = 20_000
"""About so many messages are matched against the subscriptions where not all of them can be."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Some messages: `n[k]` of them have the values in row k."""

    values: Floats
    n: Longs


def sample_messages(
    raw: RawTable, attributes: Sequence[str], rows: int, *, progress: Progress = SILENT
) -> Sample:
    """About SAMPLE_ROWS messages, or all if there are no more.

    Chosen by a hash of the message itself, so any partitioning and order of rows gives the same ones. Then
    equal messages are all in or all out, and of a log that repeats a few of them the sample might be empty,
    or the whole log: there every message stands for its share, rounded up or down by a hash.
    """
    from pyspark.sql import functions as sf

    picked = picked_columns(raw, attributes)
    values = picked.columns[2:]
    every = -(-rows // SAMPLE_ROWS)

    def gather(some: DataFrame, count: Column) -> Sample:
        table = some.groupBy(*values).agg(count.cast("long").alias("n")).where("n > 0")
        with spark_errors(raw.source.path):
            found = watched(some.sparkSession, table.toArrow, progress=progress, phase="sample log")
        columns = [column.to_numpy() for column in found.columns]
        return Sample(np.column_stack(columns[:-1]), columns[-1])

    def draw(names: Sequence[str]) -> Column:
        return sf.pmod(sf.xxhash64(*names), sf.lit(every))

    count = sf.count(sf.lit(1))
    sample = gather(picked if every == 1 else picked.where(draw(picked.columns) == 0), count)
    if every == 1 or SAMPLE_ROWS // 2 <= sample.n.sum() <= 2 * SAMPLE_ROWS:
        return sample
    return gather(picked, sf.floor((count + draw(values)) / sf.lit(every)))
