"""The judge: proves topic-connectivity of any edge table against any interest table, at any size.

It shares no code with the builders. Two paths lead to the same verdict: `verify_broadcast.py` while the
interest fits into every task, `verify_bucketed.py` beyond that; its rows and its bytes decide.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.errors import UsageError
from topicloom.overlay.measures.connectivity import N_WITNESSES
from topicloom.overlay.model.verdict import Verdict, Witness, check_witness_file, write_witnesses
from topicloom.overlay.spark.verify_broadcast import find_broadcast
from topicloom.overlay.spark.verify_bucketed import find_bucketed
from topicloom.overlay.spark.verify_findings import JudgeTask
from topicloom.tables.source import address
from topicloom.tables.spark.job_progress import run_watched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Interest rows up to which the interest is sent to every task: about 8 bytes each, 320 MB at the limit.
BROADCAST_LIMIT = 40_000_000
# Bytes of interest up to which the driver collects it: half of what `settings.py` lets travel there.
BROADCAST_BYTES = 1 << 30
ROW_BYTES = 8  # what a row costs in Arrow besides its two names: the place where each begins
PATHS = {"broadcast": find_broadcast, "bucketed": find_bucketed}


def verify_tables(
    spark: SparkSession,
    interest: DataFrame,
    edges: DataFrame,
    *,
    work_dir: str | Path,
    path: str = "auto",
    broadcast_limit: int = BROADCAST_LIMIT,
    broadcast_bytes: int = BROADCAST_BYTES,
    n_witnesses: int = N_WITNESSES,
    witnesses_file: str | Path | None = None,
    progress: Progress = SILENT,
) -> Verdict:
    """Prove or refute that `edges` (u, v) connect the subscribers of every topic of `interest` (node, topic).

    Repeated interest rows count once. Edge rows that name an unknown node, join a node to itself or repeat
    a pair are counted and play no part in the proof. `work_dir` is a folder the tasks can reach, for
    intermediate tables; the caller removes it. `witnesses_file` (.jsonl, .json, .parquet) gets every
    split topic, worst first.
    """
    if witnesses_file is not None:
        check_witness_file(witnesses_file)
    if path == "auto":
        fits = _fits(spark, interest, broadcast_limit, broadcast_bytes, progress)
        path = "broadcast" if fits else "bucketed"
    if path not in PATHS:
        raise UsageError(f"path {path!r} is not known; use auto, {', '.join(PATHS)}")
    check_stop(progress)
    keep = None if witnesses_file is not None else n_witnesses
    tables = interest.select("node", "topic"), edges.select("u", "v")
    verdict, worst = PATHS[path](JudgeTask(spark, *tables, address(work_dir), keep, progress))
    if witnesses_file is not None:
        write_witnesses(worst, Path(witnesses_file))
    return replace(verdict, witnesses=_witnesses(worst.slice(0, n_witnesses)), path=path)


def _fits(
    spark: SparkSession, interest: DataFrame, max_rows: int, max_bytes: int, progress: Progress
) -> bool:
    """May the whole interest go through the driver to every task? One pass over its rows tells."""
    from pyspark.sql import functions as sf

    octets = sf.sum(sf.octet_length("node") + sf.octet_length("topic"))
    table = interest.agg(sf.count(sf.lit(1)).alias("rows"), octets.alias("octets"))
    found = run_watched(spark, table.first, progress=progress, phase="verify: count")
    rows, names = (found["rows"], found["octets"] or 0) if found is not None else (0, 0)
    return bool(rows <= max_rows and names + ROW_BYTES * rows <= max_bytes)


def _witnesses(worst: pa.Table) -> tuple[Witness, ...]:
    return tuple(
        Witness(row["topic"], tuple(row["component_sizes"]), (row["nodes"][0], row["nodes"][1]))
        for row in worst.to_pylist()
    )
