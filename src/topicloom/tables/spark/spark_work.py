"""What Spark did, from its own books: the tasks of a phase, and the plans of its queries.

Spark keeps them whether its page is on or not. Nothing here starts a job.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicloom.base.atomic_write import replacing
from topicloom.base.summaries import Summary

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HALF, _ALL = 0.5, 1.0


class PhaseWork(Summary, frozen=True):
    """The tasks of one phase; the seconds are those of tasks of the stage that took most of the time."""

    tasks: int
    retries: int
    spilled_bytes: int
    median_seconds: float
    slowest_seconds: float


class StageBook:
    """Tells what Spark did since it was last asked."""

    def __init__(self, spark: SparkSession) -> None:
        self._context: Any = spark.sparkContext
        self._next = 0
        self._next = max((stage.stageId() for stage in self._stages()), default=-1) + 1

    def read(self) -> PhaseWork:
        """Return what was done since the last call."""
        stages = list(self._stages())
        done = [stage for stage in stages if stage.numCompleteTasks()]
        times = {stage.executorRunTime(): stage for stage in done}
        median, slowest = self._durations(times[max(times)]) if times else (0.0, 0.0)
        self._next = max((stage.stageId() + 1 for stage in stages), default=self._next)
        return PhaseWork(
            tasks=sum(stage.numCompleteTasks() for stage in done),
            # A task that is done again because its stage is comes with a further attempt of the stage.
            retries=sum(stage.numFailedTasks() for stage in stages)
            + sum(stage.numCompleteTasks() for stage in done if stage.attemptId()),
            spilled_bytes=sum(stage.diskBytesSpilled() for stage in stages),
            median_seconds=median,
            slowest_seconds=slowest,
        )

    def _stages(self) -> Iterator[Any]:
        """Yield the stages that are not in the books yet, newest first."""
        java, gateway = self._context._jsc.sc(), self._context._gateway
        java.listenerBus().waitUntilEmpty()
        found = java.statusStore().stageList(
            None, False, False, gateway.new_array(gateway.jvm.double, 0), None
        )
        for place in range(found.size()):
            stage = found.apply(place)
            if stage.stageId() < self._next:
                return
            yield stage

    def _durations(self, stage: Any) -> tuple[float, float]:
        """Return the seconds of the median and of the slowest task."""
        gateway = self._context._gateway
        shares = gateway.new_array(gateway.jvm.double, 2)
        shares[0], shares[1] = _HALF, _ALL
        store = self._context._jsc.sc().statusStore()
        found = store.taskSummary(stage.stageId(), stage.attemptId(), shares)
        if not found.isDefined():
            return 0.0, 0.0
        durations = found.get().duration()
        return durations.apply(0) / 1000, durations.apply(1) / 1000


def last_plan(spark: SparkSession) -> int:
    """Return the number of the query that Spark planned last; -1: none."""
    return next((int(query.executionId()) for query in _latest(spark)), -1)


def write_plans(spark: SparkSession | None, path: Path, after: int = -1) -> None:
    """Write the plans of all queries after number `after`, as Spark shows them."""
    texts: list[str] = []
    for query in () if spark is None else _latest(spark):
        if query.executionId() <= after:
            break
        heading = f"=== query {query.executionId()}: {query.description()}"
        texts.insert(0, f"{heading}\n{query.physicalPlanDescription()}")
    with replacing(path) as temporary:
        temporary.write_text("\n".join(texts) or "no query ran on Spark\n", "utf-8")


def _latest(spark: SparkSession) -> Iterator[Any]:
    """Return the queries that Spark remembers, the last one first; of many it forgets the oldest."""
    context: Any = spark.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty()
    found: Any = spark._jsparkSession.sharedState().statusStore().executionsList()
    return (found.apply(place) for place in reversed(range(found.size())))
