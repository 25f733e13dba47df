"""Prove an edge table against an interest table."""

from __future__ import annotations

from pathlib import Path

from topicloom.errors import InputError
from topicloom.files.build_folder import is_build
from topicloom.files.witnesses import check_witness_file
from topicloom.jobs.inputs import Notice, SparkChoice, check_agreement, no_notice, read_told
from topicloom.model.progress import SILENT, Progress
from topicloom.model.verdict import Verdict
from topicloom.spark.encode import digest_rows, interest_rows
from topicloom.spark.failures import spark_errors
from topicloom.spark.tables import load_table
from topicloom.spark.verify import verify_tables
from topicloom.tables.source import TableSource, check_there


def judge(
    interest: Path,
    edges: Path,
    *,
    spark: SparkChoice,
    beside: Path | None = None,
    path: str = "auto",
    progress: Progress = SILENT,
) -> Verdict:
    """The verdict on two Parquet tables of our own making; its work tables may lie `beside` a path."""
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
    if all_witnesses is not None:
        check_witness_file(all_witnesses)
    for source in (interest, edges):
        check_there(source)
    session = spark.session(progress)
    tables = [
        read_told(source, spark=spark, strict=strict, notice=notice, progress=progress)
        for source in (interest, edges)
    ]
    rows = interest_rows(tables[0], subscribers_only=subscribers_only)
    if is_build(Path(edges.path)) and interest.path != edges.path:
        with spark_errors(interest.path):
            check_agreement(edges, interest, digest_rows(session, rows, progress=progress))
    with spark.workspace() as work, spark_errors(f"{interest.path} and {edges.path}"):
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
        raise InputError(f"{interest.path} holds no subscription: give a table of pairs")
    if strict and not verdict.clean:
        raise InputError(unsound(verdict, edges))
    return verdict


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
