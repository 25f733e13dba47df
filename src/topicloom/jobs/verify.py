"""Prove an edge table against an interest table."""

from __future__ import annotations

from pathlib import Path

from topicloom.errors import InputError
from topicloom.jobs.inputs import Notice, SparkChoice, check_agreement, encode_table, no_notice
from topicloom.model.progress import SILENT, Progress
from topicloom.model.verdict import Verdict
from topicloom.spark.ingest import read_table
from topicloom.spark.raw import require_no_rejects
from topicloom.spark.source import TableSource
from topicloom.spark.verify import verify_tables


def judge(interest: Path, edges: Path, *, spark: SparkChoice, progress: Progress = SILENT) -> Verdict:
    """The verdict on two Parquet tables of our own making."""
    session = spark.session(progress)
    with spark.workspace() as work:
        return verify_tables(
            session,
            session.read.parquet(str(interest.absolute())),
            session.read.parquet(str(edges.absolute())),
            work_dir=work,
            progress=progress,
        )


def verify_sources(
    interest: TableSource,
    edges: TableSource,
    *,
    spark: SparkChoice,
    subscribers_only: bool = False,
    strict: bool = False,
    all_witnesses: str | None = None,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> Verdict:
    """The verdict on two tables a user named; refused rows of either are told by `notice`."""
    with spark.workspace() as work:
        raw_interest, encoded = encode_table(
            interest,
            spark=spark,
            work=work / "interest",
            subscribers_only=subscribers_only,
            strict=strict,
            notice=notice,
            progress=progress,
        )
        check_agreement(edges, interest, encoded.digest)
        session = spark.session(progress)
        raw_edges = read_table(session, edges, progress=progress)
        if raw_edges.notice:
            notice(raw_edges.notice)
        refused = raw_edges.n_rejects(progress=progress)
        if strict:
            require_no_rejects(raw_edges, refused)
        tell_refused(encoded.rejected, interest, notice)
        tell_refused(refused, edges, notice)
        verdict = verify_tables(
            session,
            encoded.decoded(session),
            raw_edges.rows,
            work_dir=work / "verify",
            witnesses_file=all_witnesses,
            progress=progress,
        )
        raw_interest.release()
        raw_edges.release()
    if strict and not verdict.clean:
        raise InputError(unsound(verdict, edges))
    return verdict


def tell_refused(count: int, source: TableSource, notice: Notice) -> None:
    """Say that rows were refused, and how to learn more."""
    if count:
        rows = "row was" if count == 1 else "rows were"
        notice(f"{count:,} {rows} refused in {source.path}; --strict names the first")


def unsound(verdict: Verdict, edges: TableSource) -> str:
    """What `--strict` says of an edge table with rows that play no part in the proof."""
    found = [
        f"{verdict.unknown_nodes} edges with unknown nodes ({', '.join(map(repr, verdict.unknown_names))})"
        if verdict.unknown_nodes
        else "",
        f"{verdict.self_loops} self-loops" if verdict.self_loops else "",
        f"{verdict.duplicate_edges} duplicate edges" if verdict.duplicate_edges else "",
    ]
    return f"{edges.path} holds {', '.join(part for part in found if part)}"
