"""Runs Spark actions so that the user sees how far they are and can stop them.

Nothing here knows what an action does: it is a function without arguments that starts Spark jobs.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from topicloom.base.progress import SILENT, Progress, check_stop

if TYPE_CHECKING:
    from pyspark import SparkContext
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
    from pyspark import InheritableThread

    context = spark.sparkContext
    group = f"topicloom-{uuid.uuid4()}"
    ended: Future[T] = Future()

    def run() -> None:
        try:
            # Job groups belong to a thread; interrupting lets a task end in the middle of a long row.
            context.setJobGroup(group, label or phase or "topicloom", interruptOnCancel=True)
            ended.set_result(action())
        except BaseException as error:
            ended.set_exception(error)

    check_stop(progress)
    if phase is not None:
        progress.phase(phase, 1.0)
    thread = InheritableThread(target=run, daemon=True)
    thread.start()
    try:
        tasks = partial(_tasks_done, context, group, groups) if groups else None
        share = partial(_share_done, context, group, stages) if phase is not None else None
        _wait(ended, progress, tasks or share, float(groups or 1))
    except BaseException:
        _cancel(context, group, ended)
        raise
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


def _tasks_done(context: SparkContext, group: str, groups: int) -> float:
    """Return how many tasks of the last stage are done, if it is the one with a task for each group."""
    tracker = context.statusTracker()
    jobs = tracker.getJobIdsForGroup(group)
    info = tracker.getJobInfo(max(jobs)) if jobs else None
    counts: Any = tracker.getStageInfo(max(info.stageIds)) if info is not None and info.stageIds else None
    return float(counts.numCompletedTasks) if counts is not None and counts.numTasks == groups else 0.0


def _share_done(context: SparkContext, group: str, stages: int) -> float:
    """Return how much of `stages` long stages is done, by their tasks; below 1 as long as the action runs."""
    tracker = context.statusTracker()
    shares = []
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info is not None else ():
            counts: Any = tracker.getStageInfo(stage)
            # A stage that has not begun may be one that Spark skips because its result is there already.
            if counts is not None and counts.numActiveTasks + counts.numCompletedTasks > 0:
                shares.append(counts.numCompletedTasks / counts.numTasks)
    return float(min(0.99, sum(shares) / max(stages, len(shares))))


def _cancel(context: SparkContext, group: str, ended: Future[Any]) -> None:
    """Cancel until the action has ended: it may start a next job after the first was cancelled."""
    for _ in range(round(_END_WITHIN / _LOOK_EVERY)):
        context.cancelJobGroup(group)
        if wait([ended], _LOOK_EVERY).done:
            return
