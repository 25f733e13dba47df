"""Runs Spark actions so that the user sees how far they are and can stop them.

Nothing here knows what an action does: it is a function without arguments that starts Spark jobs.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from topicloom.errors import Interrupted
from topicloom.model.progress import SILENT, Progress

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

T = TypeVar("T")

_LOOK_EVERY = 0.1  # seconds between two looks at the stop flag and the task counts
_END_WITHIN = 1.5  # seconds a cancelled action gets to end by itself


def watched(
    spark: SparkSession,
    action: Callable[[], T],
    *,
    progress: Progress = SILENT,
    phase: str | None = None,
) -> T:
    """Run `action` and give back its result; tasks done of all tasks known so far go to `progress`.

    With `phase` the action is a phase of its own with a total of 1; without it nothing but the stop request
    is looked at. A stop request or Ctrl-C cancels the action's Spark jobs.
    """
    from pyspark import InheritableThread

    context = spark.sparkContext
    group = f"topicloom-{uuid.uuid4()}"
    outcome = _Outcome[T]()

    def run() -> None:
        try:
            # Job groups belong to a thread; interrupting lets a task end in the middle of a long row.
            context.setJobGroup(group, phase or "topicloom", interruptOnCancel=True)
            outcome.value = action()
        except BaseException as error:
            outcome.error = error
        finally:
            outcome.done.set()

    if progress.should_stop():
        raise Interrupted("stopped on request; nothing was written")
    if phase is not None:
        progress.phase(phase, 1.0)
    thread = InheritableThread(target=run, daemon=True)
    thread.start()
    try:
        _wait(context, group, outcome.done, progress, report=phase is not None)
    except BaseException:
        _cancel(context, group, outcome.done)
        raise
    thread.join()
    if outcome.error is not None:
        raise outcome.error
    return outcome.value  # type: ignore[return-value]


class _Outcome(Generic[T]):
    """What the action's thread leaves behind."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.value: T | None = None
        self.error: BaseException | None = None


def _wait(
    context: SparkContext, group: str, done: threading.Event, progress: Progress, *, report: bool
) -> None:
    shown = 0.0
    while not done.wait(_LOOK_EVERY):
        if progress.should_stop():
            raise Interrupted("stopped on request; nothing was written")
        if report:
            share = _share_done(context, group)
            if share > shown:
                progress.advance(share - shown)
                shown = share
    if report and shown < 1.0:
        progress.advance(1.0 - shown)


def _share_done(context: SparkContext, group: str) -> float:
    """Tasks finished of all tasks of the stages that Spark has planned so far, between 0 and 1."""
    tracker = context.statusTracker()
    finished = planned = 0
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info is not None else ():
            stage_info: Any = tracker.getStageInfo(stage)
            if stage_info is not None:
                finished += stage_info.numCompletedTasks
                planned += stage_info.numTasks
    return finished / planned if planned else 0.0


def _cancel(context: SparkContext, group: str, done: threading.Event) -> None:
    """Cancel until the action has ended: it may start a next job after the first was cancelled."""
    waited = 0.0
    while waited < _END_WITHIN:
        context.cancelJobGroup(group)
        if done.wait(_LOOK_EVERY):
            return
        waited += _LOOK_EVERY
