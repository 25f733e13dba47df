"""Watching Spark: without it there is no honest progress and Ctrl-C leaves jobs running."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
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
        ("Job 5 cancelled because SparkContext was shut down", "may have run out of memory"),
        ("something else\n  at a.b.c(D.java)", "Spark failed on t: something else"),
    ],
)
def test_known_faults_are_explained(text: str, part: str) -> None:
    assert part in str(translated(RuntimeError(text), "t"))


OUT_OF_MEMORY = """
import sys
from topicloom.errors import InputError
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.session import get_session

spark = get_session(master="local[2]", conf={"spark.driver.memory": "512m"})
frame = spark.range(0, 2, 1, 2).selectExpr("sequence(0L, 200000000L + id) many")
try:
    with spark_errors("t"):
        frame.write.parquet(sys.argv[1])
except InputError as error:
    print(error)
"""


@pytest.mark.spark
def test_a_java_without_memory_says_so(tmp_path: Path) -> None:
    """Spark says "You hit a bug in Spark" of it, or "cancelled", as if somebody had asked it to stop."""
    command = [sys.executable, "-c", OUT_OF_MEMORY, str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    told = r"r[au]n out of memory.*spark\.driver\.memory=SIZE"
    assert re.search(told, done.stdout), done.stdout + done.stderr


JAVA_ENDS = """
from topicloom.tables.spark.failures import translated
from topicloom.tables.spark.session import get_session

spark = get_session(master="local[2]")
fault = RuntimeError("[INTERNAL_ERROR] Executed command failed. You hit a bug in Spark")
print(translated(fault, "t"))
java = spark.sparkContext._gateway.proc
spark._jsc.sc().stop()
print(translated(fault, "t"))
java.kill(), java.wait()
print(translated(fault, "t"))
"""


@pytest.mark.spark
def test_faults_of_a_spark_that_is_ending_are_not_told_as_bugs() -> None:
    """What runs while Java ends fails for want of parts that are gone, and Spark calls that its own fault."""
    done = subprocess.run([sys.executable, "-c", JAVA_ENDS], capture_output=True, text=True, timeout=300)
    told = done.stdout.splitlines()
    assert len(told) == 3, done.stdout + done.stderr
    assert "bug in Spark" in told[0], "a Spark that goes on is not said to have ended"
    assert all("may have run out of memory" in line for line in told[1:]), told


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
