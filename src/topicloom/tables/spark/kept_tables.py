"""Tables on the way that the executors keep on their own disks: no folder that all machines see is needed."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from topicloom.base.progress import Progress
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.links import is_connect, settled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class KeptTables:
    """Keeps what steps of some work leave; an executor that is lost has its part made again."""

    progress: Progress
    kept: list[DataFrame] = field(default_factory=list)

    def keep(self, phase: str, frame: DataFrame) -> DataFrame:
        """Make a table now and keep it."""
        from pyspark import StorageLevel

        spark = frame.sparkSession
        if is_connect(spark):
            # There every use sends the whole plan anew; what is settled cannot be made a second time.
            return run_watched(spark, lambda: settled(frame), progress=self.progress, phase=phase)
        table = _marked(frame).persist(StorageLevel.DISK_ONLY)
        self.kept.append(table)
        run_watched(frame.sparkSession, table.count, progress=self.progress, phase=phase)
        return table


def _marked(frame: DataFrame) -> DataFrame:
    """Return the same rows by a plan that nobody else has.

    Spark keeps one table for equal plans. Of two threads that keep the same, the first to end would take it
    from the other, whose rows, made again, might have other numbers.
    """
    from pyspark.sql import functions as sf

    return frame.where(sf.lit(uuid.uuid4().hex).isNotNull())


@contextmanager
def kept_tables(progress: Progress) -> Iterator[KeptTables]:
    """Give a place for tables; they are let go of afterwards."""
    tables = KeptTables(progress)
    try:
        yield tables
    finally:
        let_go(*tables.kept)


def let_go(*frames: DataFrame) -> None:
    """Remove what executors keep of these tables; where Spark itself is gone, there is nothing left of them.

    Whoever cleans up must not hide why Spark ended.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    for frame in frames:
        with suppress(Py4JError, PySparkException, ConnectionError):
            frame.unpersist()
