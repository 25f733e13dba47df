"""Build an overlay on Spark, phase by phase, so that a run that was killed can be taken up again.

Nothing here holds the interest: it goes from table to table until the result is whole.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec

from topicloom.builders.default import FALLBACK
from topicloom.builders.registry import parse_parameters
from topicloom.errors import InputError, UsageError
from topicloom.files.atomic import replacing
from topicloom.files.build_folder import (
    EDGES,
    INTEREST,
    PHASES,
    REJECTS,
    SUMMARY,
    is_build,
    read_summary,
    whole_phases,
    write_json,
)
from topicloom.files.run_folder import RunFolder, check_same, open_run
from topicloom.jobs.inputs import EncodedInput, encode_input
from topicloom.jobs.request import Facts, summarise
from topicloom.jobs.task import BuildTask
from topicloom.jobs.verify import judge
from topicloom.model.parameters import plain_name
from topicloom.model.verdict import Verdict
from topicloom.spark.encode import EncodedInterest
from topicloom.spark.engine import SPARK_BUILDERS, SparkBuild
from topicloom.spark.failures import spark_errors
from topicloom.spark.result import write_result
from topicloom.spark.tables import Tables
from topicloom.tables.source import check_there
from topicloom.tables.spark.listing import signature
from topicloom.tables.spark.raw import REJECT_COLUMNS, rows_were
from topicloom.version import __version__

INGEST, WRITE, VERIFY = "ingest", "write", "verify"
JUDGED = ("topics", "topics_partitioned", "topic_components", "edges")


def build_on_spark(task: BuildTask, given: EncodedInput | None = None) -> dict[str, Any]:
    """The whole task; the summary that was written. `given` is the interest if it was read already."""
    request = task.request
    if not request.named:
        if request.bound:
            raise UsageError(
                f"--engine spark runs {FALLBACK} unless --algorithm is given: so name it, for --set"
            )
        reason = f"{FALLBACK}: no algorithm was named, and it is the one that runs on Spark"
        parameters = parse_parameters(FALLBACK, [])
        request = replace(request, algorithm=FALLBACK, parameters=parameters, reason=reason, named=True)
        task = replace(task, request=request)
        task.remark(reason)
    check_there(task.source)
    start = task.progress.now()
    asked = _asked(task)
    if task.goes_on:
        check_same(task.out, asked, parts=True)  # before Spark starts
    session = task.spark.session(task.progress)
    files = signature(session, task.source) if given is None else given.files
    fingerprint = {**asked, "interest files": files}
    if task.resume and (done := _finished(task.out, fingerprint)) is not None:
        task.remark(f"{task.out} is whole already: nothing was left to do")
        return done

    def told(phase: str, seconds: float) -> None:
        task.remark(f"{shown_phase(phase)}: {seconds:.1f} s")

    now = task.progress.now
    with open_run(task.out, fingerprint, resume=task.resume, now=now, told=told) as run:
        before = run.seconds()
        if before:
            task.remark(f"going on after: {', '.join(map(shown_phase, before))}")
        elif task.resume:
            task.remark(f"nothing to go on with in {task.out}: a new run begins")
        try:
            return _run(task, run, given, start - sum(before.values()), fingerprint)
        except BaseException as error:
            if run.whole():
                task.notice(_advice(task.out, error))
            raise


def _advice(out: Path, error: BaseException) -> str:
    """What to do with the phases that are whole."""
    if PHASES in str(error):
        return f"what an earlier run left is damaged: remove {out / PHASES} and begin anew"
    return f"finished phases are kept in {out}: the same command with --resume goes on with them"


def _run(
    task: BuildTask, run: RunFolder, given: EncodedInput | None, start: float, fingerprint: Mapping[str, Any]
) -> dict[str, Any]:
    """All phases; `start` is when the first run would have begun if the later ones had followed at once."""
    progress, request = task.progress, task.request
    session = task.spark.session(progress)
    record = run.keep(INGEST, lambda folder: _ingest(task, folder, given))
    encoded = _encoded(run, record)
    for text in record["notices"] if given is None else ():
        task.notice(text)
    if task.strict and encoded.rejected:
        raise InputError(
            f"{rows_were(encoded.rejected)} refused in {task.source.path}, and --strict was given"
        )
    with spark_errors(str(task.out)):
        build = SPARK_BUILDERS[request.algorithm](
            session,
            encoded,
            run,
            seed=request.seed,
            notice=task.notice,
            progress=progress,
            **request.parameters,
        )
        run.keep(WRITE, lambda folder: _write(task, encoded, build, folder))
    verdict = _verdict(run.keep(VERIFY, lambda folder: _verify(task, run)))
    summary = _summarise(task, run, encoded, build, verdict, start)
    summary["request"] = digest_of(fingerprint)
    with replacing(task.out) as folder:
        folder.mkdir()
        for name in (EDGES, INTEREST):
            _link(run.path(WRITE, name), folder / name)
        if encoded.rejected:
            _link(run.path(INGEST, REJECTS), folder / REJECTS)
        write_json(summary, folder / SUMMARY)
    return summary


def _asked(task: BuildTask) -> dict[str, Any]:
    """What must be the same, besides the files themselves, for a run to be taken up again."""
    source = {key: value for key, value in asdict(task.source).items() if key != "options"}
    return {
        "version": __version__,
        "algorithm": task.request.algorithm,
        "parameters": {plain_name(key): value for key, value in task.request.parameters.items()},
        "seed": task.request.seed,
        "interest": {**source, "subscribers_only": task.subscribers_only},
    }


def shown_phase(name: str) -> str:
    """What the user is told of a phase whose folder has this name."""
    kind, *groups = name.split("-")
    if kind == "represent":
        return f"choose representatives of {groups[-1]} groups (level {len(groups)})"
    return name.replace("-", " ")


# --- the phases ----------------------------------------------------------------------------------------


def _ingest(task: BuildTask, folder: Path, given: EncodedInput | None) -> dict[str, Any]:
    notices: list[str] = []

    def tell(text: str) -> None:
        notices.append(text)

    if given is None:
        given = encode_input(
            task.source,
            spark=task.spark,
            work=folder,
            subscribers_only=task.subscribers_only,
            strict=task.strict,
            notice=tell,
            progress=task.progress,
        )
    else:
        for name in ("nodes", "topics", "pairs"):
            shutil.move(getattr(given.encoded, name), folder / name)
    if given.encoded.rejected:
        rejects = given.raw.rejects.orderBy(*REJECT_COLUMNS).select(*REJECT_COLUMNS)
        Tables(rejects.sparkSession, str(folder), task.progress).write("write rejects", rejects, REJECTS)
        given.raw.release()
    return {**asdict(given.encoded), "notices": notices}


def _encoded(run: RunFolder, record: Mapping[str, Any]) -> EncodedInterest:
    fields = {name: record[name] for name in EncodedInterest.__dataclass_fields__}
    places = {name: str(run.path(INGEST, name)) for name in ("nodes", "topics", "pairs")}
    return EncodedInterest(**{**fields, **places})


def _write(task: BuildTask, encoded: EncodedInterest, build: SparkBuild, folder: Path) -> dict[str, Any]:
    session = task.spark.session(task.progress)
    write_result(session, encoded, build.edges, folder, progress=task.progress)
    return {}


def _verify(task: BuildTask, run: RunFolder) -> dict[str, Any]:
    """The judge reads what was written; the interest stays a table for it too."""
    verdict = judge(
        run.path(WRITE, INTEREST),
        run.path(WRITE, EDGES),
        spark=task.spark,
        path="bucketed",
        beside=task.out,
        progress=task.progress,
    )
    return {name: getattr(verdict, name) for name in JUDGED}


def _verdict(record: Mapping[str, Any]) -> Verdict:
    return Verdict(**{name: record[name] for name in JUDGED})


def _summarise(
    task: BuildTask,
    run: RunFolder,
    encoded: EncodedInterest,
    build: SparkBuild,
    verdict: Verdict,
    start: float,
) -> dict[str, Any]:
    phases = run.seconds()
    seconds = {
        "ingest": phases[INGEST],
        "build": sum(taken for name, taken in phases.items() if name not in (INGEST, VERIFY)),
        "verify": phases[VERIFY],
        "total": task.progress.now() - start,
    }
    if verdict.edges != build.n_edges:
        raise InputError(
            f"{verdict.edges:,} of {build.n_edges:,} edges are in the result: the tables of {task.out} were "
            "changed while it was made; begin anew"
        )
    facts = Facts(
        engine="spark",
        nodes=encoded.n_nodes,
        topics=encoded.n_topics,
        subscriptions=encoded.n_subscriptions,
        duplicates=encoded.duplicates,
        rejected=encoded.rejected,
        digest=encoded.digest,
        edges=build.n_edges,
        degree_max=build.degree_max,
        parameters=build.parameters,
        report=build.report,
        phases=phases,
    )
    return summarise(task.request, facts, verdict, seconds)


# --- ending --------------------------------------------------------------------------------------------


def digest_of(fingerprint: Mapping[str, Any]) -> str:
    """One short text for a request, so that a finished build can tell whether it is the one asked for."""
    return hashlib.sha256(msgspec.json.encode(fingerprint, order="sorted")).hexdigest()[:32]


def _finished(out: Path, fingerprint: Mapping[str, Any]) -> dict[str, Any] | None:
    """The summary of a whole build of the same request, when there is nothing to take up."""
    if not is_build(out) or whole_phases(out / PHASES):
        return None
    summary = read_summary(out)
    if summary.get("request") != digest_of(fingerprint):
        raise InputError(
            f"--resume: {out} holds a finished build of another request; leave --resume out to replace it"
        )
    return summary


def _link(source: Path, target: Path) -> None:
    """The same file or folder under a second name: until the result is whole, the phase stays whole too."""

    def link(old: str, new: str) -> None:
        try:
            os.link(old, new)
        except OSError:  # a file system without links
            shutil.copy2(old, new)

    if source.is_dir():
        visible = shutil.ignore_patterns("_*", ".*")
        shutil.copytree(source, target, copy_function=link, ignore=visible)
    else:
        link(str(source), str(target))
