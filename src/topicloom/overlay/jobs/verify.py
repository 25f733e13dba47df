"""Prove an edge table against an interest table."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq

from topicloom.base.counts import counted
from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import UNSET
from topicloom.errors import InputError
from topicloom.overlay.jobs.interest_table import InterestTable, check_agreement, head_of, subscribers
from topicloom.overlay.jobs.measure import load_overlay
from topicloom.overlay.measures.digest import interest_digest
from topicloom.overlay.measures.judge_tables import check_tables
from topicloom.overlay.measures.survival import check_survival
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.verdict import Survival, Verdict, check_witness_file
from topicloom.overlay.spark.interest_rows import (
    digest_of,
    digest_rows,
    interest_rows,
    kept_pairs,
    tally_interest,
)
from topicloom.overlay.spark.verify import verify_tables
from topicloom.tables.first_look import check_there
from topicloom.tables.local.limits import collects
from topicloom.tables.local.read import LocalReader
from topicloom.tables.reader import TableReader
from topicloom.tables.source import TableSource
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.kept_tables import let_go
from topicloom.tables.spark.places import load_table
from topicloom.tables.spark.raw_table import RawTable, text_bytes
from topicloom.tables.spark.read import SparkReader, read_table
from topicloom.tables.spark.spark_choice import SparkChoice, no_notice


def judge(
    interest: str | Path,
    edges: str | Path,
    *,
    spark: SparkChoice,
    path: str = "auto",
    small: bool = False,
    progress: Progress = SILENT,
) -> Verdict:
    """Judge two Parquet tables of our own making.

    Of `small` ones the driver judges the rows, and nobody counts them first.
    """
    session = spark.session(progress)
    with spark_errors(str(edges)):
        return verify_tables(
            session,
            load_table(session, str(interest)),
            load_table(session, str(edges)),
            path="driver" if small else path,
            progress=progress,
        )


def check_judged(verdict: Verdict, topics: int, subscriptions: int, place: str | Path) -> None:
    """Refuse a verdict on another interest than was built for: a part of its table was not seen."""
    for what, judged, built in (
        ("topics", verdict.topics, topics),
        ("subscriptions", verdict.subscriptions, subscriptions),
    ):
        if judged != built:
            raise InputError(
                f"{judged:,} of {built:,} {what} were judged: not all files of {place} were seen; it must be "
                "on a disk that all machines share under this name"
            )


def judge_here(interest: Path, edges: Path, *, progress: Progress = SILENT) -> Verdict:
    """Judge two Parquet tables of our own making in this process."""
    return check_tables(pq.read_table(interest), pq.read_table(edges), progress=progress)


def verify_edges(
    interest: InterestTable, edges: TableSource, *, all_witnesses: str | None = None, survive: int = 0
) -> Verdict:
    """Judge two tables a user named; refused rows of either are told.

    Whether topics `survive` so many deaths is judged in the memory of this process, after all else.
    """
    if all_witnesses is not None:
        check_witness_file(all_witnesses)
    source = interest.source
    for named in (source, edges):
        check_there(named)
    if interest.spark.reads_here(source, edges, notice=interest.notice):
        verdict = _verify_small(interest, edges, LocalReader(), all_witnesses)
    elif interest.spark.engine != "spark" and collects(source, edges):
        reader = SparkReader(interest.spark.session(interest.progress), collect=True)
        verdict = _verify_small(interest, edges, reader, all_witnesses)
    else:
        verdict = _verify_there(interest, edges, all_witnesses, survive)
    if verdict.topics == 0:
        raise InputError(f"{source.path} holds no subscription: give a table of pairs")
    if interest.strict and not verdict.clean:
        raise InputError(unsound(verdict, edges))
    if survive and verdict.survival is UNSET:
        verdict = replace(verdict, survival=_survival(interest, edges, survive))
    return verdict


def _survival(
    interest: InterestTable,
    edges: TableSource,
    survive: int,
    pairs: RawTable | None = None,
    ends: RawTable | None = None,
) -> Survival:
    """Read tables once more, without a word, unless they are kept, and judge survival."""
    quiet = replace(interest, strict=False, notice=no_notice)
    wanted = quiet.load(pairs).interest
    overlay, _ = load_overlay(edges, wanted, quiet, ends)
    return check_survival(wanted, overlay, survive, progress=interest.progress)


def _verify_small(
    interest: InterestTable, edges: TableSource, reader: TableReader, all_witnesses: str | None
) -> Verdict:
    """Read both tables into memory and judge them there."""
    source, tables = interest.source, []
    for named in (source, edges):
        read = reader.read(named, progress=interest.progress)
        interest.tell_read(read)
        tables.append(read.to_arrow())
    pairs, ends = tables
    pairs = subscribers(pairs) if interest.subscribers_only else pairs
    if source.path != edges.path and head_of(edges, interest.spark) is not None:
        check_agreement(edges, source, interest_digest(Interest.from_arrow(pairs)), interest.spark)
    return check_tables(pairs, ends, witnesses_file=all_witnesses, progress=interest.progress)


def _verify_there(
    interest: InterestTable, edges: TableSource, all_witnesses: str | None, survive: int
) -> Verdict:
    """Let Spark read both tables and judge them; survival too, where other rows might come a second time."""
    source, progress = interest.source, interest.progress
    session = interest.spark.session(progress)
    with ExitStack() as released:
        pairs = read_table(session, source, progress=progress)
        released.callback(pairs.release)
        rows = interest_rows(pairs, subscribers_only=interest.subscribers_only)
        found = tally_interest(pairs, rows, progress=progress, phase="verify: count")
        interest.tell_read(pairs, pairs.refused(known=found["refused"], progress=progress))
        ends = read_table(session, edges, progress=progress)
        released.callback(ends.release)
        more = ends.tally({"octets": text_bytes(ends.rows)}, progress=progress)
        interest.tell_read(ends, ends.refused(known=more["refused"], progress=progress))
        if source.path != edges.path and (head := head_of(edges, interest.spark)) is not None:
            digest = digest_of(found)
            if digest != head.interest_digest:  # pairs may occur twice
                rows = kept_pairs(rows)
                released.callback(let_go, rows)
                digest = digest_rows(rows, progress=progress)
            check_agreement(edges, source, digest, interest.spark)
        with spark_errors(f"{source.path} and {edges.path}"):
            verdict = verify_tables(
                session,
                rows,
                ends.rows,
                size=(found["rows"] + more["rows"], found["octets"] + more["octets"]),
                witnesses_file=all_witnesses,
                progress=progress,
            )
        if not survive or not verdict.topics:
            return verdict
        kept = (pairs if pairs.settled else None, ends if ends.settled else None)
        return replace(verdict, survival=_survival(interest, edges, survive, *kept))


def unsound(verdict: Verdict, edges: TableSource) -> str:
    """Return what `--strict` says of an edge table with rows that play no part in the proof."""
    found = [
        f"{counted(verdict.unknown_nodes, 'edge')} with unknown nodes "
        f"({', '.join(map(repr, verdict.unknown_names))})"
        if verdict.unknown_nodes
        else "",
        counted(verdict.self_loops, "self-loop") if verdict.self_loops else "",
        counted(verdict.duplicate_edges, "duplicate edge") if verdict.duplicate_edges else "",
    ]
    return f"{edges.path} holds {', '.join(part for part in found if part)}"
