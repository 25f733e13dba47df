"""Build an overlay on Spark, phase by phase, so that a run that was killed can be taken up again.

Nothing here holds the interest: it goes from table to table until the result is whole.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import asdict
from msgspec.structs import replace as replace_fields

from topicloom.base.parameters import plain_name
from topicloom.base.summaries import UNSET, UnsetType
from topicloom.errors import InputError, RefusedInputError, TopicloomError, UsageError
from topicloom.overlay.builders.default import FALLBACK
from topicloom.overlay.builders.registry import parse_parameters
from topicloom.overlay.jobs.build_place import BuildPlace, KeptBuild
from topicloom.overlay.jobs.build_request import BuildTask, summarise_build
from topicloom.overlay.jobs.interest_table import check_agreement, head_of
from topicloom.overlay.jobs.measure import LeftOut, refuse_unsound, unknown_told
from topicloom.overlay.jobs.verify import check_judged, judge
from topicloom.overlay.measures.names import wildcards_told
from topicloom.overlay.model.build import BuildHead, BuildSummary, Certificate
from topicloom.overlay.model.build_folder import EDGES, INTEREST
from topicloom.overlay.model.run import Run, TablesOnly
from topicloom.overlay.model.verdict import VerdictSummary
from topicloom.overlay.spark.builders import SPARK_BUILDERS, SparkBuild
from topicloom.overlay.spark.certify import certify_by_nodes
from topicloom.overlay.spark.encode import EncodedInterest, InterestRead
from topicloom.overlay.spark.improve import GIVEN, Dealing, SparkRegions
from topicloom.overlay.spark.profile import count_components
from topicloom.overlay.spark.write_build import write_build
from topicloom.tables.first_look import check_there
from topicloom.tables.folder import REJECTS
from topicloom.tables.reader import REJECT_COLUMNS, rows_were
from topicloom.tables.source import TableSource
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.links import is_connect
from topicloom.tables.spark.origins import rows_signature
from topicloom.tables.spark.raw_table import RawTable
from topicloom.tables.spark.read import read_table
from topicloom.tables.spark.spark_work import StageBook
from topicloom.tables.spark.step_tables import StepTables
from topicloom.tables.spark.table_files import signature
from topicloom.version import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INGEST, WRITE, VERIFY, CERTIFY = "ingest", "write", "verify", "certify"
TABLES = ("nodes", "topics", "pairs")  # of an encoded interest
# What of a table's source must be the same for a run to be resumed.
ASKED_OF_TABLE = (
    "path", "first", "second", "names", "header", "separator", "quote", "multiline", "format", "what",
    "encoding",
)  # fmt: skip


class IngestRecord(EncodedInterest, frozen=True, kw_only=True):
    """An encoded interest, whose tables lie beside the record, and what the user was told of it."""

    notices: list[str]


def build_on_spark(
    task: BuildTask, read: InterestRead | None = None, raw: RawTable | None = None
) -> BuildSummary:
    """Carry out the whole task; returns the summary that was written.

    `read` is an interest that was read and numbered already, `raw` one that was only read.
    """
    request = task.request
    if not request.named:
        if request.bound:
            raise UsageError(
                f"`engine=spark` runs {FALLBACK} unless `algorithm` is given: so name it, for `set`"
            )
        reason = f"{FALLBACK}: no algorithm was named, and it is the one that runs on Spark"
        parameters = parse_parameters(FALLBACK, [])
        request = replace(request, algorithm=FALLBACK, parameters=parameters, reason=reason, named=True)
        task = replace(task, request=request)
        task.remark(reason)
    check_there(task.table.source)
    began = task.progress.now()
    asked = _asked(task)
    if task.goes_on:
        task.out.check_same(asked, parts=True)  # before Spark starts
    if task.table.source.origin is None or read is not None or raw is not None:
        return _build(task, asked, began, read, raw)
    with task.table.opened() as raw:
        return _build(task, asked, began, read, raw)


def _build(
    task: BuildTask, asked: dict[str, Any], began: float, read: InterestRead | None, raw: RawTable | None
) -> BuildSummary:
    """Go on with the task after its tables were opened."""
    session = task.table.spark.session(task.progress)
    asked |= _seen(task, session, read, raw)
    if task.resume and (done := _finished(task, asked)) is not None:
        task.remark(f"{task.out} is whole already: nothing was left to do")
        return done

    def told(phase: str, seconds: float) -> None:
        task.remark(f"{shown_phase(phase)}: {seconds:.1f} s")

    now = task.progress.now
    with task.out.open_run(asked, resume=task.resume, now=now, told=told) as run:
        before = run.seconds()
        if before:
            task.remark(f"going on after: {', '.join(map(shown_phase, before))}")
        elif task.resume:
            task.remark(f"nothing to go on with in {task.out}: a new run begins")
        run.measure = None if is_connect(session) else StageBook(session).read
        try:
            return _run(task, run, read or raw, began - sum(before.values()), asked)
        except BaseException as error:
            refused = task.edges is not None and isinstance(error, RefusedInputError)
            if _is_vain(task, run, before, refused=refused):
                with suppress(TopicloomError):
                    run.forget()
            elif not refused and run.whole() and not isinstance(task.out, KeptBuild):
                task.table.notice(_advice(task.out, run, error))
            raise


def _is_vain(task: BuildTask, run: Run, before: Mapping[str, float], *, refused: bool) -> bool:
    """Return whether nobody can go on with the phases of an improvement: edges of a query or a DataFrame may
    be others next time; edges that were `refused` will be so again, unless `strict` came with this run."""
    if task.edges is None:
        return False
    if task.edges.origin is not None:
        return True
    return refused and GIVEN not in run.whole() and not (before and task.table.strict)


def _advice(out: BuildPlace, run: Run, error: BaseException) -> str:
    """Return what to do with the phases that are whole."""
    if run.mark in str(error):
        return f"what an earlier run left is damaged: remove {run.where} and begin anew"
    return f"finished phases are kept in {out}: the same command with `resume` goes on with them"


def _run(
    task: BuildTask,
    run: Run,
    read: InterestRead | RawTable | None,
    began: float,
    asked: Mapping[str, Any],
) -> BuildSummary:
    """Run all phases; `began` is when the first run would have begun had the later ones followed at once."""
    table, progress, request = task.table, task.progress, task.request
    record = run.keep(INGEST, IngestRecord, lambda folder: _ingest(task, folder, read))
    places = {name: run.path(INGEST, name) for name in TABLES}
    encoded = replace_fields(record, **places)
    for text in () if isinstance(read, InterestRead) else record.notices:
        table.notice(text)
    if table.strict and encoded.rejected:
        raise RefusedInputError(
            f"{rows_were(encoded.rejected)} refused in {table.source.path}, and `strict` was given"
        )
    session = table.spark.session(progress)
    if remark := wildcards_told(encoded.wildcard_topics(session)):
        task.remark(remark)
    with spark_errors(str(task.out)):
        build = _made(task, session, encoded, run)
        run.keep(
            WRITE,
            TablesOnly,
            lambda folder: write_build(session, encoded, build.edges, folder, progress=progress),
        )
    verdict = run.keep(VERIFY, VerdictSummary, lambda folder: _verify(task, run, encoded))
    if verdict.edges != build.n_edges:
        raise InputError(
            f"{verdict.edges:,} of {build.n_edges:,} edges are in the result: the tables of {task.out} were "
            "changed while it was made; begin anew"
        )
    certificate: Certificate | UnsetType = UNSET
    if request.certify:
        certificate = run.keep(CERTIFY, Certificate, lambda _: _certify(task, encoded, build, verdict))
    phases = run.seconds()
    after = {name: phases[name] for name in (VERIFY, CERTIFY) if name in phases}
    seconds = {
        "ingest": phases[INGEST],
        "build": sum(taken for name, taken in phases.items() if name not in (INGEST, *after)),
        **after,
        "total": progress.now() - began,
    }
    summary = summarise_build(request, "spark", encoded, build, verdict, phases, seconds)
    digest = _digest(task, asked)
    summary = replace_fields(summary, certificate=certificate, spark=run.spark(), request=digest)
    tables = {EDGES: (WRITE, EDGES), INTEREST: (WRITE, INTEREST)}
    if encoded.rejected:
        tables[REJECTS] = (INGEST, REJECTS)
    return run.finish(summary, tables)


def _made(task: BuildTask, session: SparkSession, encoded: EncodedInterest, run: Run) -> SparkBuild:
    """Build the edges, or improve those that there are."""
    table, request = task.table, task.request
    common: dict[str, Any] = {"seed": request.seed, "progress": task.progress, **request.parameters}
    if task.edges is None:
        return SPARK_BUILDERS[request.algorithm](session, encoded, run, notice=table.notice, **common)
    check_agreement(task.edges, table.source, encoded.digest, table.spark)
    raw = read_table(session, task.edges, progress=task.progress)
    try:
        table.tell_read(raw)
        regions = SparkRegions(session, encoded, run, _dealing(task, task.edges), **common)
        check = partial(_check_given, task, task.edges)
        return regions.improve(regions.given(raw.rows, task.edges.path, check))
    finally:
        raw.release()


def _check_given(task: BuildTask, edges: TableSource, left_out: Mapping[str, int]) -> None:
    """Tell which rows of edges play no part, or refuse them if that is asked for."""
    refuse_unsound(task.table, edges, LeftOut(**left_out))
    if left_out["unknown_nodes"]:
        task.table.notice(unknown_told(edges, left_out["unknown_nodes"]))


def _dealing(task: BuildTask, edges: TableSource) -> Dealing:
    """Return by which groups the edges were built; or else those of the seed."""
    found = head_of(edges, task.table.spark)
    known = None if found is None else Dealing.of(found.algorithm, found.seed, found.report)
    return known or Dealing(task.request.seed)


def _asked(task: BuildTask) -> dict[str, Any]:
    """Return what must be the same for a run to be resumed, all but the files of the interest."""
    table, request = task.table, task.request
    described = {name: getattr(table.source, name) for name in ASKED_OF_TABLE}
    given = {}
    if task.edges is not None:
        given["edges"] = {name: getattr(task.edges, name) for name in ASKED_OF_TABLE}
    return given | {
        "version": __version__,
        "algorithm": request.algorithm,
        "parameters": {plain_name(key): value for key, value in request.parameters.items()},
        "seed": request.seed,
        "interest": {**described, "subscribers_only": table.subscribers_only},
    }


def _seen(
    task: BuildTask, session: SparkSession, read: InterestRead | None, raw: RawTable | None
) -> dict[str, Any]:
    """Return by what a later run knows the same table: its files, or else the rows themselves."""
    source = task.table.source
    given = {}
    if task.edges is not None and task.edges.origin is None:
        given["edges files"] = signature(session, task.edges)
    if source.origin is None:
        return given | {"interest files": signature(session, source) if read is None else read.files}
    if isinstance(task.out, KeptBuild):
        return {}  # there is no later run
    if read is not None:
        return given | {"interest rows": read.files}
    assert raw is not None  # whoever comes here has opened it
    return given | {"interest rows": rows_signature(raw, progress=task.progress)}


def _digest(task: BuildTask, asked: Mapping[str, Any]) -> str:
    """Return a short text by which a finished build can tell whether it is the one asked for.

    Bounds are a phase of their own: a run may be taken up with them or without, but a whole build has them
    or not. Likewise a run looks at the rows of edges again, but a whole result was `strict` or not.
    """
    asked = {**asked, "certify": True} if task.request.certify else asked
    asked = {**asked, "strict": True} if task.edges is not None and task.table.strict else asked
    return hashlib.sha256(msgspec.json.encode(asked, order="sorted")).hexdigest()[:32]


def shown_phase(name: str) -> str:
    """Return what the user is told of a phase whose folder has this name."""
    kind, *groups = name.split("-")
    if kind == "represent":
        return f"choose representatives of {groups[-1]} groups (level {len(groups)})"
    return name.replace("-", " ")


# --- the phases ----------------------------------------------------------------------------------------


def _ingest(task: BuildTask, folder: str, read: InterestRead | RawTable | None) -> IngestRecord:
    notices: list[str] = []
    if not isinstance(read, InterestRead):
        read = task.table.encode(folder, notice=notices.append, raw=read)
    else:  # from a workspace beside a folder of this machine
        for name in TABLES:
            shutil.move(getattr(read.encoded, name), Path(folder) / name)
    try:
        if read.encoded.rejected:
            rejects = read.raw.rejects.orderBy(*REJECT_COLUMNS).select(*REJECT_COLUMNS)
            StepTables(rejects.sparkSession, folder, task.progress).write("write rejects", rejects, REJECTS)
    finally:
        read.raw.release()
    return IngestRecord(**asdict(read.encoded), notices=notices)


def _verify(task: BuildTask, run: Run, encoded: EncodedInterest) -> VerdictSummary:
    """Judge what was written; the interest stays a table here too."""
    verdict = judge(
        run.path(WRITE, INTEREST),
        run.path(WRITE, EDGES),
        spark=task.table.spark,
        path="bucketed",
        progress=task.progress,
    )
    check_judged(verdict, encoded.n_topics, encoded.n_subscriptions, run.path(WRITE, INTEREST))
    return verdict.summary()


def _certify(
    task: BuildTask, encoded: EncodedInterest, build: SparkBuild, verdict: VerdictSummary
) -> Certificate:
    """Bound every overlay of the interest, which stays a table here too."""
    session, progress = task.table.spark.session(task.progress), task.progress
    figures = {"edges": build.n_edges, "degree_max": build.degree_max}
    figures["topic_connected"] = verdict.topic_connected
    with spark_errors(task.table.source.path):
        components = count_components(session, encoded, progress=progress)
        return certify_by_nodes(session, encoded, figures, components=components, progress=progress)


# --- ending --------------------------------------------------------------------------------------------


def _finished(task: BuildTask, asked: Mapping[str, Any]) -> BuildSummary | None:
    """Return the summary of a whole build of the same request, when there is nothing to take up."""
    out = task.out
    head = out.finished(BuildHead)
    if head is None:
        return None
    if head.request != _digest(task, asked):
        raise InputError(
            f"`resume`: {out} holds a finished build of another request; leave `resume` out to replace it"
        )
    return out.finished(BuildSummary)
