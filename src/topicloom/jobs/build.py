"""Build an overlay from a table: ingest, build, prove, write a build folder; in this process or on Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from topicloom.files.atomic import replacing
from topicloom.files.build_folder import (
    EDGES,
    INTEREST,
    REJECTS,
    SUMMARY,
    write_json,
    write_table,
)
from topicloom.jobs.build_spark import build_on_spark
from topicloom.jobs.certify import certify
from topicloom.jobs.constraints import load_constraints
from topicloom.jobs.engine import LOCAL_SUBSCRIPTIONS, TableExtent, choose_engine
from topicloom.jobs.inputs import EncodedInput, LoadedInterest, SparkChoice, encode_input
from topicloom.jobs.request import BuildRequest, Facts, summarise
from topicloom.jobs.task import BuildTask
from topicloom.jobs.verify import judge
from topicloom.model.progress import SILENT, Progress


def build_to_folder(task: BuildTask) -> dict[str, Any]:
    """The whole task; the summary that was written."""
    task.check()
    if task.engine == "spark" or task.goes_on:
        return build_on_spark(task)
    start = task.progress.now()
    with task.spark.workspace(beside=task.out) as work:
        given = encode_input(
            task.source,
            spark=task.spark,
            work=work,
            subscribers_only=task.subscribers_only,
            strict=task.strict,
            notice=task.notice,
            progress=task.progress,
        )
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


def _build_here(task: BuildTask, given: EncodedInput, start: float) -> dict[str, Any]:
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
    summary = build_loaded(loaded, task.out, request, spark=task.spark, start=start, progress=task.progress)
    if "remark" in summary["report"]:
        task.notice(summary["report"]["remark"])
    return summary


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
