"""Ring per topic on Spark: whole topics to a task, which closes their rings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from topicloom.overlay.builders.baselines import close_rings
from topicloom.overlay.spark.divide_tasks import EDGE_SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TASK_ROWS = 4_000_000
"""About how many subscriptions one task gets; it must hold those of the largest topic."""


def ring_table(pairs: DataFrame, n_pairs: int, order: str, seed: int) -> DataFrame:
    """The distinct edges (u < v, numbers) of all rings through a table of (node, topic) numbers."""

    def close(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        some = [batch for batch in batches if batch.num_rows]
        if some:
            rows = pa.Table.from_batches(some)
            u, v = close_rings(rows["topic"].to_numpy(), rows["node"].to_numpy(), order, seed)
            yield from pa.table({"u": np.minimum(u, v), "v": np.maximum(u, v)}).to_batches()

    parallelism = pairs.sparkSession.sparkContext.defaultParallelism
    tasks = max(parallelism, -(-n_pairs // TASK_ROWS))
    return pairs.repartition(tasks, "topic").mapInArrow(close, EDGE_SCHEMA).distinct()
