"""Tables that the steps of some work leave in a folder, written by Spark, read back by name; ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from topicloom.base.progress import Progress
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.places import Place, place_at
from topicloom.tables.spark.written import Written

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BROADCAST_BYTES = 256 << 20  # up to so many every worker gets a whole table; beyond, Spark shuffles
BROADCAST_ROW = 48  # what a row costs besides its names

_ROW_BITS = 33  # of monotonically_increasing_id: the partition stands above these bits, the row below


@dataclass(frozen=True, slots=True)
class StepTables:
    """Where the steps of some work leave their tables, one Parquet folder each."""

    spark: SparkSession
    folder: str
    progress: Progress

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    @property
    def place(self) -> Place:
        return place_at(self.spark, self.folder)

    def load(self, name: str) -> DataFrame:
        return self.place.load(name)

    def put(self, name: str, table: pa.Table) -> None:
        """Write a small table from here."""
        self.place.put(name, table)

    def drop(self, name: str) -> None:
        """Remove a table that was only a step on the way."""
        self.place.drop(name)

    def run(self, phase: str | None, action: Callable[[], Any], stages: int = 1) -> Any:
        return run_watched(self.spark, action, progress=self.progress, phase=phase, stages=stages)

    def write(
        self,
        phase: str | None,
        frame: DataFrame,
        name: str,
        stages: int = 1,
        *,
        groups: int = 0,
        label: str | None = None,
        names: str | None = None,
        most: str | None = None,
    ) -> Written:
        """Write a table, and refuse one of which not all rows are seen here afterwards.

        `phase` None leaves the bar that is shown alone. `groups` and `label` are those of `run_watched`. With
        `names` the bytes of that column are counted too, with `most` the largest value of that one.
        """
        from pyspark.sql import functions as sf

        octets = sf.lit(0) if names is None else sf.octet_length(names)
        largest = sf.lit(0) if most is None else sf.col(most)

        def run(action: Callable[[], Any]) -> Any:
            return run_watched(
                self.spark,
                action,
                progress=self.progress,
                phase=phase,
                stages=stages,
                groups=groups,
                label=label,
            )

        counts = sf.count(sf.lit(1)), sf.sum(octets.cast("long")), sf.max(largest)
        return self.place.write(name, frame, counts, run, self.progress)

    def ranked(
        self, phase: str | None, frame: DataFrame, order: Sequence[str], name: str = "sorted"
    ) -> DataFrame:
        """Return `frame` with a column `rank`: the place of each row in this order without ties.

        It comes from a range sort and the row counts of its partitions, so it depends on no partitioning.
        The sorted table has this `name` until the caller drops it.
        """
        from pyspark.sql import functions as sf

        placed = frame.orderBy(*order).withColumn("place", sf.monotonically_increasing_id())
        sizes = self.write(phase, placed, name, 2).sizes
        starts = np.cumsum([0, *sizes.values()]).tolist()
        placed = self.load(name).withColumn("part", sf.shiftright("place", _ROW_BITS))
        row = sf.col("place").bitwiseAND(sf.lit((1 << _ROW_BITS) - 1))
        # Few partitions: their starts fit into the expression itself.
        start = sf.create_map(*[sf.lit(x) for pair in zip(sizes, starts, strict=False) for x in pair])
        return placed.withColumn("rank", start[sf.col("part")] + row).drop("place", "part")


def fits_broadcast(rows: int, octets: int = 0) -> bool:
    """Return whether a table of so many rows, and names of so many bytes, may go to every worker.

    >>> fits_broadcast(4_000_000, 40_000_000), fits_broadcast(100_000, 1 << 30), fits_broadcast(10_000_000)
    (True, False, False)
    """
    return rows * BROADCAST_ROW + octets <= BROADCAST_BYTES


def slices_of(rows: int, per_slice: int) -> int:
    """Return into how many slices to cut so many rows.

    By the rows alone: the number of cores that Spark knows is 2 until the executors have registered.

    >>> slices_of(0, 100), slices_of(100, 100), slices_of(101, 100)
    (1, 1, 2)
    """
    return max(1, -(-rows // per_slice))
