"""Build an overlay from a table: ingest, build, prove, write a build folder; in this process or on Spark."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from topicloom.builders.registry import check_honours
from topicloom.files.atomic import replacing
from topicloom.files.build_folder import (
    EDGES,
    INTEREST,
    PHASES,
    REJECTS,
    SUMMARY,
    check_replaceable,
    write_json,
    write_table,
)
from topicloom.files.run_folder import refuse_unfinished, whole_phases
from topicloom.jobs.build_spark import SparkTask, build_on_spark
from topicloom.jobs.certify import certify
from topicloom.jobs.constraints import ConstraintFiles, load_constraints
from topicloom.jobs.engine import LOCAL_SUBSCRIPTIONS, TableExtent, check_engine, choose_engine
from topicloom.jobs.inputs import EncodedInput, LoadedInterest, SparkChoice, encode_input
from topicloom.jobs.request import BuildRequest, Facts, summarise
from topicloom.jobs.verify import judge
from topicloom.model.progress import SILENT, Progress

NO_LIMITS = ConstraintFiles()


@dataclass(frozen=True, slots=True)
class BuildTask:
    """A whole build as the user asks for it."""

    spark_task: SparkTask
    engine: str = "auto"
    limits: ConstraintFiles = NO_LIMITS

    @property
    def in_memory(self) -> str | None:
        """An option that needs the interest in memory, if one was given."""
        if self.spark_task.request.certify:
            return "--certify"
        return next((f"--{kind}" for kind in self.limits.kinds()), None)

    def check(self) -> None:
        """Refuse what cannot be done, before any work begins."""
        task = self.spark_task
        check_replaceable(task.out)
        check_honours(task.request.algorithm, self.limits.kinds())
        named = task.request.algorithm if task.request.named else None
        check_engine(self.engine, named, in_memory=self.in_memory, resume=task.resume)
        self.limits.check_there()


def build_to_folder(task: BuildTask) -> dict[str, Any]:
    """The whole task; the summary that was written. Its `remark` hears what was chosen and why."""
    task.check()
    asked = task.spark_task
    unfinished = bool(whole_phases(asked.out / PHASES))
    if task.engine == "spark" or (unfinished and asked.resume):
        return build_on_spark(asked)
    refuse_unfinished(asked.out)
    start = asked.progress.now()
    with asked.spark.workspace(beside=asked.out) as work:
        given = encode_input(
            asked.source,
            spark=asked.spark,
            work=work,
            subscribers_only=asked.subscribers_only,
            strict=asked.strict,
            notice=asked.notice,
            progress=asked.progress,
        )
        if task.engine == "auto" and (large := _for_spark(task, given)) is not None:
            return build_on_spark(large, given)
        return _build_here(task, given, start)


def _for_spark(task: BuildTask, given: EncodedInput) -> SparkTask | None:
    """The task as it runs on Spark, if `--engine auto` means that."""
    asked, request = task.spark_task, task.spark_task.request
    if given.encoded.n_subscriptions > LOCAL_SUBSCRIPTIONS and task.in_memory is None:
        extent = TableExtent(asked.spark.session(asked.progress), given.encoded, asked.progress)
        request = request.settled(extent)
    choice = choose_engine(request.algorithm, given.encoded.n_subscriptions, in_memory=task.in_memory)
    if choice.engine != "spark":
        return None
    for reason in filter(None, (request.reason, choice.reason)):
        asked.remark(reason)
    return replace(asked, request=replace(request, engine_reason=choice.reason))


def _build_here(task: BuildTask, given: EncodedInput, start: float) -> dict[str, Any]:
    asked = task.spark_task
    loaded = given.load(asked.progress)
    constraints, existing = load_constraints(
        task.limits, loaded, spark=asked.spark, notice=asked.notice, progress=asked.progress
    )
    request = replace(asked.request, constraints=constraints, existing=existing).settled(loaded.interest)
    if task.engine == "auto":
        count = loaded.interest.n_subscriptions
        choice = choose_engine(request.algorithm, count, in_memory=task.in_memory)
        request = replace(request, engine_reason=choice.reason)
    for reason in filter(None, (request.reason, request.engine_reason)):
        asked.remark(reason)
    return build_loaded(loaded, asked.out, request, spark=asked.spark, start=start, progress=asked.progress)


def build_loaded(
    loaded: LoadedInterest,
    out: Path,
    request: BuildRequest,
    *,
    spark: SparkChoice,
    start: float,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """From an interest in memory to a proved build folder; `start` is when the task began."""
    began = progress.now()
    build = request.run(loaded.interest, progress)
    built = progress.now()
    with replacing(out) as folder:
        folder.mkdir()
        progress.phase("write tables")
        write_table(build.overlay.to_arrow(), folder / EDGES)
        write_table(loaded.interest.to_arrow(), folder / INTEREST)
        if loaded.rejected:
            loaded.write_rejects(folder / REJECTS)
        written = progress.now()
        # The judge reads what was written, not what is in memory.
        verdict = judge(folder / INTEREST, folder / EDGES, spark=spark, beside=out, progress=progress)
        done = progress.now()
        seconds = {
            "ingest": began - start,
            "build": built - began,
            "verify": done - written,
            "total": done - start,
        }
        facts = Facts(
            engine="local",
            nodes=loaded.interest.n_nodes,
            topics=loaded.interest.n_topics,
            subscriptions=loaded.interest.n_subscriptions,
            duplicates=loaded.duplicates,
            rejected=loaded.rejected,
            digest=loaded.digest,
            edges=build.overlay.n_edges,
            degree_max=int(build.overlay.degrees().max(initial=0)),
            parameters=build.parameters,
            report=build.report,
            phases=build.seconds,
        )
        summary = summarise(request, facts, verdict, seconds)
        if request.certify:
            summary |= certify(
                loaded.interest, summary, known=build.report, threads=request.threads, progress=progress
            )
            seconds["certify"] = progress.now() - done
            seconds["total"] = progress.now() - start
        write_json(summary, folder / SUMMARY)
    return summary
