"""Tables on the way that lie nowhere but with the executors: a place without any file system.

Its paths begin with `kept:`; they mean something in this process only, until the place is let go of. There
is no disk to share, so it serves clusters and Spark Connect alike, but an executor that is lost takes its
part along: the work must be begun anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.links import forget, settled
from topicloom.tables.spark.session import arrow_frame
from topicloom.tables.spark.written import Counts, Run, Written

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEME = "kept:"
_numbers = count(1)
_stores: dict[str, dict[str, DataFrame]] = {}


def is_kept(path: str) -> bool:
    """Return whether a path means a table that executors keep."""
    return path.startswith(SCHEME)


@dataclass(frozen=True, slots=True)
class KeptStore:
    """Tables by their paths, from the first to `release`."""

    root: str = field(default_factory=lambda: f"{SCHEME}{next(_numbers)}")

    def __post_init__(self) -> None:
        _stores[self.root] = {}

    def take(self, path: str) -> DataFrame:
        """Return a table that outlives this place; whoever takes it lets go of it."""
        return _stores[self.root].pop(path)

    def drop(self, folder: str) -> None:
        """Let go of all tables in a folder."""
        for path in [path for path in _stores[self.root] if path.startswith(f"{folder}/")]:
            forget(_stores[self.root].pop(path))

    def release(self) -> None:
        """Let go of all that is left."""
        self.drop(self.root)
        del _stores[self.root]


@dataclass(frozen=True, slots=True)
class KeptPlace:
    """A folder of such tables; a `Place` of `places.py`."""

    spark: SparkSession
    folder: str

    def write(
        self, name: str, frame: DataFrame, counts: Counts, run: Run, progress: Progress = SILENT
    ) -> Written:
        """Make a table; see `Place`."""
        from pyspark.sql import functions as sf

        table = self._tables[self._path(name)] = run(lambda: settled(frame))
        columns = [column.alias(f"c{place}") for place, column in enumerate(counts)]
        counted = table.groupBy(sf.spark_partition_id().alias("part")).agg(*columns)
        rows = sorted(run_watched(self.spark, counted.collect, progress=progress))
        octets, most = (sum(row[2] or 0 for row in rows), max((row[3] or 0 for row in rows), default=0))
        return Written(sum(row[1] for row in rows), octets, most, {row[0]: row[1] for row in rows})

    def put(self, name: str, table: pa.Table) -> None:
        frame = arrow_frame(self.spark, table)
        self._tables[self._path(name)] = run_watched(self.spark, lambda: settled(frame))

    def load(self, name: str) -> DataFrame:
        found = self._tables.get(self._path(name))
        if found is None:
            raise InputError(f"table {name} is gone from this run: begin anew")
        return found

    def drop(self, name: str) -> None:
        if (table := self._tables.pop(self._path(name), None)) is not None:
            forget(table)

    @property
    def _tables(self) -> dict[str, DataFrame]:
        return _stores[self.folder.partition("/")[0]]

    def _path(self, name: str) -> str:
        return f"{self.folder.rstrip('/')}/{name}"
