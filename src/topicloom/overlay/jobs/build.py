"""Build an overlay from a table: ingest, build, prove, write a build folder; in this process or on Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from msgspec.structs import replace as replace_fields

from topicloom.base.atomic_write import replacing
from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import Seconds
from topicloom.overlay.jobs.build_spark import build_on_spark
from topicloom.overlay.jobs.certify import certify
from topicloom.overlay.jobs.constraints import load_constraints
from topicloom.overlay.jobs.engine import LOCAL_SUBSCRIPTIONS, TableExtent, choose_engine
from topicloom.overlay.jobs.inputs import EncodedInput, LoadedInterest
from topicloom.overlay.jobs.request import BuildRequest, summarise
from topicloom.overlay.jobs.task import BuildTask
from topicloom.overlay.jobs.verify import judge
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.model.build import Build, BuildSummary
from topicloom.overlay.model.build_folder import EDGES, INTEREST
from topicloom.overlay.model.verdict import Verdict
from topicloom.tables.folder import REJECTS, SUMMARY, write_json, write_table
from topicloom.tables.spark.spark_choice import SparkChoice


def build_to_folder(task: BuildTask) -> BuildSummary:
    """The whole task; the summary that was written."""
    task.check()
    if task.engine == "spark" or task.goes_on:
        return build_on_spark(task)
    start = task.progress.now()
    with task.spark.workspace(beside=task.out) as work:
        given = task.table.encode(work)
        if task.engine == "auto" and (large := _for_spark(task, given)) is not None:
            return build_on_spark(large, given)
        return _build_here(task, given, start)


def _for_spark(task: BuildTask, given: EncodedInput) -> BuildTask | None:
    """The task as it runs on Spark, if `--engine auto` means that."""
    request, count = task.request, given.encoded.n_subscriptions
    if count > LOCAL_SUBSCRIPTIONS and task.in_memory is None:
        extent = TableExtent(task.spark.session(task.progress), given.encoded, task.progress)
        request = request.settled(extent)
    choice = choose_engine(request.algorithm, count, in_memory=task.in_memory)
    if choice.engine != "spark":
        return None
    for reason in filter(None, (request.reason, choice.reason)):
        task.remark(reason)
    return replace(task, request=replace(request, engine_reason=choice.reason))


def _build_here(task: BuildTask, given: EncodedInput, start: float) -> BuildSummary:
    loaded = given.load(task.progress)
    constraints, existing = load_constraints(
        task.limits, loaded, spark=task.spark, notice=task.notice, progress=task.progress
    )
    request = replace(task.request, constraints=constraints, existing=existing).settled(loaded.interest)
    if task.engine == "auto":
        count = loaded.interest.n_subscriptions
        choice = choose_engine(request.algorithm, count, in_memory=task.in_memory)
        request = replace(request, engine_reason=choice.reason)
    for reason in filter(None, (request.reason, request.engine_reason)):
        task.remark(reason)
    summary, build = build_loaded(
        loaded, request, task.out, spark=task.spark, start=start, progress=task.progress
    )
    if "remark" in build.report:
        task.notice(build.report["remark"])
    return summary


def build_loaded(
    loaded: LoadedInterest,
    request: BuildRequest,
    out: Path | None,
    *,
    spark: SparkChoice,
    start: float,
    progress: Progress = SILENT,
) -> tuple[BuildSummary, Build]:
    """From an interest in memory to a proved build, in the folder `out` if there is one.

    `start` is when the task began.
    """
    began = progress.now()
    build = request.run(loaded.interest, progress)
    built = progress.now()

    def summarised(verdict: Verdict, verifying: float) -> BuildSummary:
        done = progress.now()
        times = {
            "ingest": began - start,
            "build": built - began,
            "verify": done - verifying,
            "total": done - start,
        }
        return _certified(loaded, request, build, verdict, times, start, progress)

    if out is None:
        verdict = check_overlay(loaded.interest, build.overlay, progress=progress)
        return summarised(verdict, built), build
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
        summary = summarised(verdict, written)
        write_json(summary, folder / SUMMARY)
    return summary, build


def _certified(
    loaded: LoadedInterest,
    request: BuildRequest,
    build: Build,
    verdict: Verdict,
    seconds: Seconds,
    start: float,
    progress: Progress,
) -> BuildSummary:
    """The summary, with a certificate if one was asked for; making it counts into the total."""
    summary = summarise(request, "local", loaded, build, verdict, build.seconds, seconds)
    if not request.certify:
        return summary
    begun = progress.now()
    certificate = certify(
        loaded.interest,
        edges=summary.edges,
        degree_max=summary.degree_max,
        connected=summary.topic_connected,
        known=build.report,
        threads=request.threads,
        progress=progress,
    )
    more = {"certify": progress.now() - begun, "total": progress.now() - start}
    return replace_fields(summary, certificate=certificate, seconds=seconds | more)
