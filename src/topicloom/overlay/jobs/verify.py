"""Prove an edge table against an interest table."""

from __future__ import annotations

from pathlib import Path

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.overlay.jobs.interest_table import InterestTable, check_agreement
from topicloom.overlay.model.build_folder import is_build
from topicloom.overlay.model.verdict import Verdict, check_witness_file
from topicloom.overlay.spark.encode import digest_rows, interest_rows
from topicloom.overlay.spark.verify import verify_tables
from topicloom.tables.source import TableSource, check_there
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.spark_choice import SparkChoice
from topicloom.tables.spark.step_tables import load_table


def judge(
    interest: Path,
    edges: Path,
    *,
    spark: SparkChoice,
    beside: Path | None = None,
    path: str = "auto",
    progress: Progress = SILENT,
) -> Verdict:
    """Judge two Parquet tables of our own making; work tables may lie `beside` a path."""
    session = spark.session(progress)
    with spark.workspace(beside) as work, spark_errors(str(edges)):
        return verify_tables(
            session,
            load_table(session, str(interest)),
            load_table(session, str(edges)),
            work_dir=work,
            path=path,
            progress=progress,
        )


def verify_edges(interest: InterestTable, edges: TableSource, *, all_witnesses: str | None = None) -> Verdict:
    """Judge two tables a user named; refused rows of either are told."""
    if all_witnesses is not None:
        check_witness_file(all_witnesses)
    source, progress = interest.source, interest.progress
    for named in (source, edges):
        check_there(named)
    session = interest.spark.session(progress)
    tables = [interest.read_told(named) for named in (source, edges)]
    rows = interest_rows(tables[0], subscribers_only=interest.subscribers_only)
    if is_build(Path(edges.path)) and source.path != edges.path:
        with spark_errors(source.path):
            check_agreement(edges, source, digest_rows(session, rows, progress=progress))
    with interest.spark.workspace() as work, spark_errors(f"{source.path} and {edges.path}"):
        verdict = verify_tables(
            session,
            rows,
            tables[1].rows,
            work_dir=work,
            witnesses_file=all_witnesses,
            progress=progress,
        )
    for table in tables:
        table.release()
    if verdict.topics == 0:
        raise InputError(f"{source.path} holds no subscription: give a table of pairs")
    if interest.strict and not verdict.clean:
        raise InputError(unsound(verdict, edges))
    return verdict


def unsound(verdict: Verdict, edges: TableSource) -> str:
    """Return what `--strict` says of an edge table with rows that play no part in the proof."""
    found = [
        f"{verdict.unknown_nodes} edges with unknown nodes ({', '.join(map(repr, verdict.unknown_names))})"
        if verdict.unknown_nodes
        else "",
        f"{verdict.self_loops} self-loops" if verdict.self_loops else "",
        f"{verdict.duplicate_edges} duplicate edges" if verdict.duplicate_edges else "",
    ]
    return f"{edges.path} holds {', '.join(part for part in found if part)}"
