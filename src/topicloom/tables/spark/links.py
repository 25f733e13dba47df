"""What differs between a session in this process and one that is reached through Spark Connect.

A Connect session has no SparkContext, no Java to talk to, and no broadcasts. Whoever needs one of these asks
here; nobody else looks at what kind of session there is. Watching and cancelling jobs: `watched_jobs.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from topicloom.errors import UsageError
from topicloom.tables.spark.settings import is_local

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

LEAST = (4, 1)  # the first Spark that has repartitionById and iterators of Arrow batches for every task


def is_connect(spark: SparkSession) -> bool:
    """Return whether a session is reached through Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def is_stopped(spark: SparkSession) -> bool:
    """Return whether a session has ended."""
    if is_connect(spark):
        return bool(getattr(spark, "is_stopped", False))
    return spark.sparkContext._jsc is None


def shares_tables(one: SparkSession, other: SparkSession) -> bool:
    """Return whether tables of two sessions can meet in one query: classic ones stand on the same Spark."""
    if is_connect(one) or is_connect(other):
        return is_connect(one) and is_connect(other) and _session_id(one) == _session_id(other)
    return one.sparkContext is other.sparkContext


def _session_id(spark: Any) -> str:
    return str(spark.session_id)


def check_version(spark: SparkSession) -> None:
    """Refuse a Spark that lacks what we use, before anything is tried."""
    found = re.match(r"(\d+)\.(\d+)", spark.version)
    if found is not None and (int(found[1]), int(found[2])) < LEAST:
        least = ".".join(map(str, LEAST))
        raise UsageError(f"Spark {spark.version} is too old: topicloom needs {least} or newer")


def master_of(spark: SparkSession) -> str:
    """Return where a session runs."""
    return str(spark.conf.get("spark.master", "") if is_connect(spark) else spark.sparkContext.master)


def shares_disk(spark: SparkSession) -> bool:
    """Return whether workers surely see the files of this machine: they run on it."""
    return shares_files(spark) and is_local(master_of(spark))


def shares_files(spark: SparkSession) -> bool:
    """Return whether a path without a scheme is one of this machine: the driver runs on it."""
    return not is_connect(spark) or spark.client.host in ("localhost", "127.0.0.1", "::1", "[::1]")


def require_files(spark: SparkSession, path: str) -> None:
    """Refuse what needs Hadoop from here, which Connect does not offer."""
    if is_connect(spark):
        raise UsageError(
            f"{path}: Spark Connect cannot write single files there; for results name a folder that this "
            "machine and Spark share, or none"
        )


def n_stage_tasks(spark: SparkSession, stage: int) -> int | None:
    """Return how many tasks a stage has; None: nobody knows here."""
    if is_connect(spark):
        return None
    info = spark.sparkContext.statusTracker().getStageInfo(stage)
    return None if info is None else info.numTasks


class Carrier(Protocol[T_co]):
    """What has a value in every task."""

    @property
    def value(self) -> T_co:
        """Return the value."""


@dataclass(frozen=True, slots=True)
class _Carried(Generic[T]):
    value: T


def carried(spark: SparkSession, value: T) -> Carrier[T]:
    """Return what has this value in every task: a broadcast; through Connect it travels with the tasks."""
    return _Carried(value) if is_connect(spark) else spark.sparkContext.broadcast(value)


def drop(carrier: Carrier[Any]) -> None:
    """Remove a value from the executors."""
    if not isinstance(carrier, _Carried):
        carrier.destroy()  # type: ignore[attr-defined]


def settled(frame: DataFrame) -> DataFrame:
    """Make a table now and keep it on the executors' disks, with nothing left of how it was made.

    `forget` lets go of it. What an executor kept is lost with it, and cannot be made again.
    """
    from pyspark import StorageLevel

    with _active_here(frame.sparkSession):
        return frame.localCheckpoint(eager=True, storageLevel=StorageLevel.DISK_ONLY)


@contextmanager
def _active_here(spark: SparkSession) -> Iterator[None]:
    """Let a Connect session be the active one of this thread: pyspark gives a settled table to that one."""
    if not is_connect(spark):
        yield
        return
    from pyspark.sql.connect.session import SparkSession

    here: Any = SparkSession._active_session
    before = getattr(here, "session", None)
    here.session = spark
    try:
        yield
    finally:
        here.session = before


def forget(frame: DataFrame) -> None:
    """Let go of a settled table; through Connect the last reference to it does so."""
    from py4j.protocol import Py4JError

    if not is_connect(frame.sparkSession):
        java: Any = frame._jdf
        with suppress(Py4JError, ConnectionError):  # Spark itself is gone
            java.logicalPlan().rdd().unpersist(False)
