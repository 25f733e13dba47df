"""Tables that the steps of some work leave in a folder, written by Spark, read back by name; ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.base.addresses import is_address
from topicloom.base.progress import Progress
from topicloom.errors import InputError
from topicloom.tables.source import address
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.raw_table import NO_PATTERNS
from topicloom.tables.spark.table_files import hadoop_file

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

BROADCAST_BYTES = 256 << 20  # up to so many every worker gets a whole table; beyond, Spark shuffles
BROADCAST_ROW = 48  # what a row costs besides its names

_ROW_BITS = 33  # of monotonically_increasing_id: the partition stands above these bits, the row below


class Written(NamedTuple):
    """How many rows the tasks have written of a table, and how many bytes its names have."""

    rows: int
    octets: int


@dataclass(frozen=True, slots=True)
class StepTables:
    """Where the steps of some work leave their tables, one Parquet folder each."""

    spark: SparkSession
    folder: str
    progress: Progress

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def load(self, name: str) -> DataFrame:
        return load_table(self.spark, self.path(name))

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
    ) -> Written:
        """Write a table, and refuse one of which not all rows are seen here afterwards.

        `phase` None leaves the bar that is shown alone. `groups` and `label` are those of `run_watched`. With
        `names` the bytes of that column are counted too.
        """
        from pyspark.sql import Observation
        from pyspark.sql import functions as sf

        octets = sf.lit(0) if names is None else sf.octet_length(names)
        counted = Observation()
        observed = frame.observe(
            counted, sf.count(sf.lit(1)).alias("rows"), sf.sum(octets.cast("long")).alias("octets")
        )
        target = address(self.path(name))
        run_watched(
            self.spark,
            lambda: observed.write.mode("overwrite").parquet(target),
            progress=self.progress,
            phase=phase,
            stages=stages,
            groups=groups,
            label=label,
        )
        written = Written(int(counted.get["rows"]), int(counted.get["octets"] or 0))
        self.check_seen(name, written.rows)
        return written

    def check_seen(self, name: str, rows: int) -> None:
        """Refuse to go on with a table of which the tasks wrote a part to disks of their own."""
        if is_address(self.folder):
            seen = int(self.run(None, self.load(name).count)) if rows else 0
        else:
            seen = sum(map(n_rows, self.parts(name)))
        if seen != rows or not (is_address(self.folder) or self.parts(name)):
            raise InputError(
                f"Spark's workers wrote {rows:,} rows of {name} and this machine sees {seen:,} of them: "
                f"{self.folder} must be on a disk that all machines share under this name"
            )

    def drop(self, name: str) -> None:
        """Remove a table that was only a step on the way."""
        system, place = hadoop_file(self.spark, address(self.path(name)))
        system.delete(place, True)

    def ranked(self, phases: tuple[str, str] | None, frame: DataFrame, order: Sequence[str]) -> DataFrame:
        """Return `frame` with a column `rank`: the place of each row in this order without ties.

        It comes from a range sort and the row counts of its partitions, so it depends on no partitioning.
        `phases` name the two jobs; a local folder needs no second one. The sorted table stays as `sorted`
        until the caller drops it.
        """
        from pyspark.sql import functions as sf

        sort, count = phases or (None, None)
        placed = frame.orderBy(*order).withColumn("place", sf.monotonically_increasing_id())
        self.write(sort, placed, "sorted", 2)
        sizes = self._part_sizes("sorted", count)
        starts = np.cumsum([0, *sizes.values()]).tolist()
        placed = self.load("sorted").withColumn("part", sf.shiftright("place", _ROW_BITS))
        row = sf.col("place").bitwiseAND(sf.lit((1 << _ROW_BITS) - 1))
        if not sizes:
            return placed.withColumn("rank", row).drop("place", "part")
        # Few partitions: their starts fit into the expression itself.
        start = sf.create_map(*[sf.lit(x) for pair in zip(sizes, starts, strict=False) for x in pair])
        return placed.withColumn("rank", start[sf.col("part")] + row).drop("place", "part")

    def _part_sizes(self, name: str, phase: str | None) -> dict[int, int]:
        """Return how many rows each partition wrote of a table with a column `place`, in order."""
        from pyspark.sql import functions as sf

        if not is_address(self.folder):  # the footers know: no job needed
            sizes: Counter[int] = Counter()
            for path in self.parts(name):  # part-00002-ID.parquet; Spark may cut a partition into files
                sizes[int(path.name.split("-")[1])] += n_rows(path)
            return dict(sorted(sizes.items()))
        part = sf.shiftright("place", _ROW_BITS).alias("part")
        counted = self.run(phase, self.load(name).groupBy(part).count().orderBy("part").collect)
        return {row["part"]: row["count"] for row in counted}

    def parts(self, name: str) -> list[Path]:
        """Return the files of a table on a disk of this machine, in the order of their partitions."""
        return sorted(Path(self.path(name)).glob("part-*.parquet"))


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


def n_rows(part: Path) -> int:
    """Return the number of rows of a Parquet file, from its footer."""
    return int(pq.read_metadata(part).num_rows)


def load_table(spark: SparkSession, path: str) -> DataFrame:
    """Return a Parquet table that we wrote."""
    reader = spark.read.option(*NO_PATTERNS)
    schema = _schema_here(path)
    return (reader if schema is None else reader.schema(schema)).parquet(address(path))


def _schema_here(path: str) -> StructType | None:
    """Return the schema of a table on a disk of this machine; Spark would start a job to find it."""
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import from_arrow_schema

    table = Path(path)
    part = table if table.is_file() else min(table.glob("part-*.parquet"), default=None)
    if is_address(path) or part is None:
        return None
    # Spark tells of a damaged table, and widens types that it has no name for.
    with suppress(pa.ArrowException, OSError, PySparkTypeError):
        return from_arrow_schema(pq.read_schema(part))
    return None
