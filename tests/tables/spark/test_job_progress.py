"""Watching Spark: without it there is no honest progress and Ctrl-C leaves jobs running."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JNetworkError

from topicloom.errors import InputError, Interrupted
from topicloom.tables.spark.failures import spark_errors, translated
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.kept_tables import let_go

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Recorder:
    """A progress that writes down what it hears and asks to stop after some looks."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.phases: list[tuple[str, float | None]] = []
        self.done: list[float] = []
        self.looks = 0
        self.stop_after = stop_after

    def now(self) -> float:
        return 0.0

    def phase(self, name: str, total: float | None = None) -> None:
        self.phases.append((name, total))

    def advance(self, amount: float = 1) -> None:
        self.done.append(amount)

    def should_stop(self) -> bool:
        self.looks += 1
        return self.stop_after is not None and self.looks > self.stop_after


def slowly(batches: Iterator[Any]) -> Iterator[Any]:
    import time

    for batch in batches:
        time.sleep(0.4)
        yield batch


def forever(batches: Iterator[Any]) -> Iterator[Any]:
    import time

    for batch in batches:
        time.sleep(600)
        yield batch


def test_progress_only_grows_and_ends_at_one(spark: SparkSession) -> None:
    progress = Recorder()
    frame = spark.range(0, 40, numPartitions=6).mapInArrow(slowly, "id long")
    assert run_watched(spark, frame.count, progress=progress, phase="count", stages=2) == 40
    assert progress.phases == [("count", 1.0)]
    assert all(amount > 0 for amount in progress.done)
    assert sum(progress.done) == pytest.approx(1.0)
    assert len(progress.done) > 1  # it spoke before the end
    assert sum(progress.done[:-1]) < 1.0


def test_a_stop_request_cancels_the_jobs(spark: SparkSession) -> None:
    frame = spark.range(0, 2, numPartitions=2).mapInArrow(forever, "id long")
    with pytest.raises(Interrupted):
        run_watched(spark, frame.count, progress=Recorder(stop_after=5))
    assert list(spark.sparkContext.statusTracker().getActiveJobsIds()) == []
    assert spark.range(3).count() == 3  # the session is still good


def test_a_stop_request_before_the_start_starts_nothing(spark: SparkSession) -> None:
    with pytest.raises(Interrupted):
        run_watched(spark, lambda: pytest.fail("it ran"), progress=Recorder(stop_after=0))


def test_the_error_of_the_action_comes_out(spark: SparkSession) -> None:
    with pytest.raises(ZeroDivisionError):
        run_watched(spark, lambda: 1 // 0)


def explode(batches: Iterator[Any]) -> Iterator[Any]:
    raise InputError("row 7 of a.csv is odd: mend it")


def crash(batches: Iterator[Any]) -> Iterator[Any]:
    raise RuntimeError("a fault of ours")


def test_errors_from_workers_become_one_sentence(spark: SparkSession) -> None:
    with pytest.raises(InputError, match=r"^row 7 of a\.csv is odd: mend it$"), spark_errors("a.csv"):
        spark.range(1).mapInArrow(explode, "id long").count()
    with pytest.raises(InputError, match="a fault of ours") as caught, spark_errors("a.csv"):
        spark.range(1).mapInArrow(crash, "id long").count()
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="no such file or folder: /nowhere/x"), spark_errors("given"):
        spark.read.parquet("/nowhere/x")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("java.io.IOException: No space left on device", "spark.local.dir"),
        ("java.lang.OutOfMemoryError: Java heap space", "spark.driver.memory"),
        (
            "Encountered error while reading file file:///a%20b.csv. Permission denied",
            "cannot read /a b.csv: per",
        ),
        ("something else\n  at a.b.c(D.java)", "Spark failed on t: something else"),
    ],
)
def test_known_faults_are_explained(text: str, part: str) -> None:
    assert part in str(translated(RuntimeError(text), "t"))


@pytest.mark.parametrize("kind", [ConnectionRefusedError, Py4JNetworkError])
def test_a_java_that_is_gone_is_told_and_cleaning_up_does_not_hide_it(kind: type[Exception]) -> None:
    class Gone:
        def unpersist(self) -> None:
            raise kind("Error while sending or receiving")

    with pytest.raises(InputError, match="Spark ended while working on t: it may have run out of memory"):
        try:
            with spark_errors("t"):
                raise kind("Error while sending or receiving")
        finally:
            let_go(Gone(), Gone())
