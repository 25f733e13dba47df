"""The Spark jobs of one action: their tasks and how to cancel them; in this process or through Connect."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from topicloom.tables.spark.links import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class StageTasks(NamedTuple):
    """The tasks of a stage that has begun."""

    number: int
    tasks: int
    done: int


class WatchedJobs(Protocol):
    """All jobs that a thread starts; it is `begin` that makes them known."""

    def thread(self, run: Callable[[], None]) -> threading.Thread:
        """Return a thread for the action."""

    def begin(self, label: str) -> None:
        """Let the jobs of the thread that calls belong here."""

    def stages(self) -> list[StageTasks]:
        """Return the stages that have begun."""

    def last_stage(self) -> StageTasks | None:
        """Return the stage that stands last in the plan of the last job, if it has begun."""

    def cancel(self) -> None:
        """Cancel what runs now."""

    def end(self) -> None:
        """Leave the session as it was."""


def watched_jobs(spark: SparkSession) -> WatchedJobs:
    """Return a way to watch and cancel jobs of this session."""
    return _ConnectJobs(spark) if is_connect(spark) else _Jobs(spark.sparkContext)


@dataclass(slots=True)
class _Jobs:
    """Jobs are known by their group, which belongs to a thread."""

    context: Any
    group: str = field(default_factory=lambda: f"topicloom-{uuid.uuid4()}")

    def thread(self, run: Callable[[], None]) -> threading.Thread:
        from pyspark import InheritableThread

        return InheritableThread(target=run, daemon=True)

    def begin(self, label: str) -> None:
        # Interrupting lets a task end in the middle of a long row.
        self.context.setJobGroup(self.group, label, interruptOnCancel=True)

    def stages(self) -> list[StageTasks]:
        tracker = self.context.statusTracker()
        found = []
        for job in tracker.getJobIdsForGroup(self.group):
            info = tracker.getJobInfo(job)
            for stage in info.stageIds if info is not None else ():
                counts = tracker.getStageInfo(stage)
                # A stage that has not begun may be one that Spark skips because its result is there already.
                if counts is not None and counts.numActiveTasks + counts.numCompletedTasks > 0:
                    found.append(StageTasks(stage, counts.numTasks, counts.numCompletedTasks))
        return found

    def last_stage(self) -> StageTasks | None:
        tracker = self.context.statusTracker()
        jobs = tracker.getJobIdsForGroup(self.group)
        info = tracker.getJobInfo(max(jobs)) if jobs else None
        number = max(info.stageIds) if info is not None and info.stageIds else -1
        counts = tracker.getStageInfo(number) if number >= 0 else None
        return None if counts is None else StageTasks(number, counts.numTasks, counts.numCompletedTasks)

    def cancel(self) -> None:
        self.context.cancelJobGroup(self.group)

    def end(self) -> None:
        """Do nothing: the group has ended with its thread."""


@dataclass(slots=True)
class _ConnectJobs:
    """Jobs are known by a tag; progress is told to the thread that runs the action, and to no other."""

    spark: Any
    tag: str = field(default_factory=lambda: f"topicloom-{uuid.uuid4()}")
    runner: int | None = None
    seen: dict[int, StageTasks] = field(default_factory=dict)

    def thread(self, run: Callable[[], None]) -> threading.Thread:
        return threading.Thread(target=run, daemon=True)

    def begin(self, label: str) -> None:
        self.runner = threading.get_ident()
        self.spark.addTag(self.tag)  # of this thread alone
        self.spark.registerProgressHandler(self._hear)

    def _hear(self, stages: Iterable[Any] | None, **_: Any) -> None:
        if threading.get_ident() == self.runner:
            for one in stages or ():
                self.seen[one.stage_id] = StageTasks(one.stage_id, one.num_tasks, one.num_completed_tasks)

    def stages(self) -> list[StageTasks]:
        return [one for one in list(self.seen.values()) if one.tasks and one.done]

    def last_stage(self) -> StageTasks | None:
        return max(list(self.seen.values()), default=None)

    def cancel(self) -> None:
        self.spark.interruptTag(self.tag)

    def end(self) -> None:
        with suppress(ValueError):  # it never began
            self.spark.removeProgressHandler(self._hear)
