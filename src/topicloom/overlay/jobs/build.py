"""Build an overlay from a table: ingest, build, prove, write a build folder; in this process or on Spark."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
from msgspec.structs import asdict
from msgspec.structs import replace as replace_fields

from topicloom.base.atomic_write import replacing
from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import UNSET
from topicloom.overlay.builders.default import DEFAULT
from topicloom.overlay.jobs.build_request import (
    LOCAL_SUBSCRIPTIONS,
    BuildRequest,
    BuildTask,
    check_collected,
    check_engine,
    choose_engine,
    summarise_build,
)
from topicloom.overlay.jobs.build_spark import build_on_spark
from topicloom.overlay.jobs.certify import certify
from topicloom.overlay.jobs.constraints import load_constraints, unused_told
from topicloom.overlay.jobs.interest_table import LoadedInterest, is_small, load_interest
from topicloom.overlay.jobs.verify import check_judged, judge, judge_here
from topicloom.overlay.measures.connectivity import check_overlay, node_codes
from topicloom.overlay.measures.names import wildcard_topics, wildcards_told
from topicloom.overlay.measures.survival import check_survival
from topicloom.overlay.model.build import Build, BuildSummary
from topicloom.overlay.model.build_folder import EDGES, INTEREST
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.verdict import Verdict
from topicloom.overlay.spark.encode import EncodedInterest
from topicloom.tables.folder import REJECTS, SUMMARY, write_json, write_table
from topicloom.tables.reader import write_rejects
from topicloom.tables.spark.spark_choice import SparkChoice


def build_to_folder(task: BuildTask) -> BuildSummary:
    """Carry out the whole task; returns the summary that was written."""
    task.check()
    if task.engine == "spark" or task.goes_on:
        return build_on_spark(task)
    began = task.progress.now()
    loaded = task.table.load_small()
    if loaded is not None and _builds_here(task, loaded):
        return _build_here(task, loaded, began)
    if task.out.local is None:
        # Where the result needs no disk that executors share, the way there must not need one either.
        with task.table.opened() as raw:
            loaded = task.table.collected(raw) if loaded is None else loaded
            if not _builds_here(task, loaded):
                return build_on_spark(_all_on_spark(task, loaded), raw=raw)
        assert loaded is not None
        return _build_here(task, loaded, began)
    with task.table.spark.workspace(beside=task.out.local, progress=task.progress) as work:
        read = task.table.encode(work, signed=True)
        try:
            if task.engine == "auto" and (large := _for_spark(task, read.encoded)) is not None:
                return build_on_spark(large, read)
            return _build_here(task, load_interest(read, task.progress), began)
        finally:
            read.raw.release()


def _builds_here(task: BuildTask, loaded: LoadedInterest | None) -> bool:
    """Return whether an interest in memory is built here, which only its size can decide against."""
    if loaded is None:
        return False
    small = loaded.interest.n_subscriptions <= LOCAL_SUBSCRIPTIONS
    return small or task.engine == "local" or task.in_memory is not None


def _all_on_spark(task: BuildTask, loaded: LoadedInterest | None) -> BuildTask:
    """Return the task of an interest that is too large for this process."""
    large = None if loaded is None else _for_spark(task, loaded.interest)
    if loaded is None and task.table.source.origin is not None:
        check_collected(task)
    if large is None:
        named = task.request.algorithm if task.request.named else None
        check_engine("spark", named, in_memory=task.in_memory, resume=task.resume)
    return large or task


def _for_spark(task: BuildTask, interest: Interest | EncodedInterest) -> BuildTask | None:
    """Return the task as it runs on Spark, if `--engine auto` means that."""
    request, count = task.request, interest.n_subscriptions
    if count > LOCAL_SUBSCRIPTIONS and task.in_memory is None:
        request = request.settled(interest)
    engine, reason = choose_engine(request.algorithm, count)
    if engine != "spark":
        return None
    request = replace(request, engine_reason=reason)
    _remark_reasons(task, request)
    return replace(task, request=request)


def _remark_reasons(task: BuildTask, request: BuildRequest) -> None:
    for reason in filter(None, (request.reason, request.engine_reason)):
        task.remark(reason)


def _build_here(task: BuildTask, loaded: LoadedInterest, began: float) -> BuildSummary:
    table, progress = task.table, task.progress
    constraints, start = load_constraints(
        task.limits, loaded, spark=table.spark, notice=table.notice, progress=progress
    )
    request = replace(task.request, constraints=constraints, start=start).settled(loaded.interest)
    if task.engine == "auto":
        count = loaded.interest.n_subscriptions
        _, reason = choose_engine(request.algorithm, count)
        request = replace(request, engine_reason=reason)
    if "objective" in request.parameters and request.algorithm == DEFAULT:
        for told in unused_told(task.limits, constraints, request.parameters["objective"]):
            table.notice(told)
    if told := request.work_told(loaded.interest):
        task.remark(told)
    _remark_reasons(task, request)
    if remark := wildcards_told(wildcard_topics(loaded.interest.topic_ids)):
        task.remark(remark)
    if task.out.local is None:
        loaded = replace(loaded, here=True)  # it is proved before it is sent
    with task.out.result() as folder:
        summary, build = build_loaded(
            loaded, request, folder, spark=table.spark, began=began, progress=progress
        )
        summary = task.out.publish(folder, summary)
    if "remark" in build.report:
        table.notice(build.report["remark"])
    return summary


def build_loaded(
    loaded: LoadedInterest,
    request: BuildRequest,
    out: Path | None,
    *,
    spark: SparkChoice,
    began: float,
    progress: Progress = SILENT,
) -> tuple[BuildSummary, Build]:
    """Build from an interest in memory and prove the result, in the folder `out` if there is one.

    `began` is when the task began.
    """
    ingested = progress.now()
    build = request.run(loaded.interest, progress)
    built = progress.now()

    with replacing(out) if out is not None else nullcontext() as folder:
        if folder is not None:
            folder.mkdir()
            progress.phase("write tables")
            write_table(build.overlay.to_arrow(), folder / EDGES)
            write_table(loaded.interest.to_arrow(), folder / INTEREST)
            if loaded.rejected and loaded.raw is not None:
                write_rejects(loaded.raw, folder / REJECTS)
        written = progress.now()
        if folder is None:
            verdict = check_overlay(loaded.interest, build.overlay, progress=progress)
        else:  # the judge reads what was written, not what is in memory
            verdict = _judge_written(folder, loaded, spark=spark, progress=progress)
        if request.survive:
            overlay = build.overlay if folder is None else written_overlay(folder, loaded.interest)
            survival = check_survival(loaded.interest, overlay, request.survive, progress=progress)
            verdict = replace(verdict, survival=survival)
        proved = progress.now()
        seconds = {"ingest": ingested - began, "build": built - ingested, "verify": proved - written}
        seconds["total"] = proved - began
        summary = summarise_build(request, "local", loaded, build, verdict, build.seconds, seconds)
        if request.certify:
            certificate = certify(
                loaded.interest,
                asdict(summary) | {"cost_total": build.report.get("cost_total")},
                known=build.report,
                survive=request.survive,
                survives=verdict.survival is UNSET or verdict.survival.survives,
                constraints=request.constraints,
                kinds=() if request.start is None else ("start",),
                threads=request.threads,
                progress=progress,
            )
            certified = progress.now()
            seconds |= {"certify": certified - proved, "total": certified - began}
            summary = replace_fields(summary, certificate=certificate, seconds=seconds)
        if folder is not None:
            write_json(summary, folder / SUMMARY)
    return summary, build


def written_overlay(folder: Path, interest: Interest) -> Overlay:
    """Return the overlay of a build folder, read anew."""
    edges = pq.read_table(folder / EDGES)
    u, v = (node_codes(edges.column(name), interest.node_ids) for name in ("u", "v"))
    return Overlay.from_edges(interest.node_ids, u, v)


def _judge_written(
    folder: Path, loaded: LoadedInterest, *, spark: SparkChoice, progress: Progress
) -> Verdict:
    """Prove the tables of a build folder where the interest was read: in this process or on Spark."""
    tables = folder / INTEREST, folder / EDGES
    if loaded.here:
        verdict = judge_here(*tables, progress=progress)
    else:
        verdict = judge(*tables, spark=spark, small=is_small(loaded), progress=progress)
    check_judged(verdict, loaded.interest.n_topics, loaded.interest.n_subscriptions, tables[0])
    return verdict
