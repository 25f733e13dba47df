"""Runs Spark actions so that the user sees how far they are and can stop them.

Nothing here knows what an action does: it is a function without arguments that starts Spark jobs.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.tables.spark.watched_jobs import WatchedJobs, watched_jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

_LOOK_EVERY = 0.1  # seconds between two looks at the stop flag and the task counts
_END_WITHIN = 1.5  # seconds a cancelled action gets to end by itself


def run_watched(
    spark: SparkSession,
    action: Callable[[], T],
    *,
    progress: Progress = SILENT,
    phase: str | None = None,
    stages: int = 1,
    groups: int = 0,
    label: str | None = None,
) -> T:
    """Run `action` and give back its result, while the tasks it has done go to `progress`.

    With `phase` the action is a phase of its own with a total of 1, without it nothing but the stop request
    is looked at. Spark plans as it goes, so only the caller can know how many long `stages` there will be.
    With `groups` the last stage has one task for each group; the phase that is shown advances by that many.
    `label` (default: the phase) is what Spark's page and event log call the jobs.
    A stop request or Ctrl-C cancels the action's Spark jobs.
    """
    jobs = watched_jobs(spark)
    ended: Future[T] = Future()

    def run() -> None:
        try:
            jobs.begin(label or phase or "topicloom")
            ended.set_result(action())
        except BaseException as error:
            ended.set_exception(error)

    check_stop(progress)
    if phase is not None:
        progress.phase(phase, 1.0)
    thread = jobs.thread(run)
    thread.start()
    try:
        tasks = partial(_tasks_done, jobs, groups) if groups else None
        share = partial(_share_done, jobs, stages) if phase is not None else None
        _wait(ended, progress, tasks or share, float(groups or 1))
    except BaseException:
        _cancel(jobs, ended)
        raise
    finally:
        jobs.end()
    thread.join()  # it closes its connection to Java
    return ended.result()


def _wait(ended: Future[Any], progress: Progress, amount: Callable[[], float] | None, total: float) -> None:
    """Wait for the end; `amount` returns how much of `total` is done, None: progress is not reported."""
    shown = 0.0
    while not wait([ended], _LOOK_EVERY).done:
        check_stop(progress)
        if amount is not None and (now := amount()) > shown:
            progress.advance(now - shown)
            shown = now
    if amount is not None and shown < total:
        progress.advance(total - shown)


def _tasks_done(jobs: WatchedJobs, groups: int) -> float:
    """Return how many tasks of the last stage are done, if it is the one with a task for each group."""
    last = jobs.last_stage()
    return float(last.done) if last is not None and last.tasks == groups else 0.0


def _share_done(jobs: WatchedJobs, stages: int) -> float:
    """Return how much of `stages` long stages is done, by their tasks; below 1 as long as the action runs."""
    shares = [stage.done / stage.tasks for stage in jobs.stages()]
    return float(min(0.99, sum(shares) / max(stages, len(shares))))


def _cancel(jobs: WatchedJobs, ended: Future[Any]) -> None:
    """Cancel until the action has ended: it may start a next job after the first was cancelled."""
    for _ in range(round(_END_WITHIN / _LOOK_EVERY)):
        jobs.cancel()
        if wait([ended], _LOOK_EVERY).done:
            return
