"""The judge: proves topic-connectivity of any edge table against any interest table, at any size.

It shares no code with the builders. Two paths lead to the same verdict: `measures/judge_tables.py` while both
tables fit into the driver, `verify_bucketed.py` beyond that; their rows and their bytes decide.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.errors import UsageError
from topicloom.overlay.measures.connectivity import N_WITNESSES
from topicloom.overlay.measures.judge_tables import check_tables
from topicloom.overlay.model.verdict import Verdict, Witness, check_witness_file, write_witnesses
from topicloom.overlay.spark.verify_bucketed import find_bucketed
from topicloom.overlay.spark.verify_findings import JudgeTask
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.session import may_collect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Rows of interest and edges up to which the driver judges them: about 8 bytes each, 320 MB at the limit.
DRIVER_ROWS = 40_000_000
# Bytes up to which it collects them, if the session lets so much travel there.
DRIVER_BYTES = 1 << 30
ROW_BYTES = 8  # what a row costs in Arrow besides its two names: the place where each begins
PATHS = ("driver", "bucketed")


def verify_tables(
    spark: SparkSession,
    interest: DataFrame,
    edges: DataFrame,
    *,
    path: str = "auto",
    size: tuple[int, int] | None = None,
    driver_rows: int = DRIVER_ROWS,
    driver_bytes: int = DRIVER_BYTES,
    n_witnesses: int = N_WITNESSES,
    witnesses_file: str | Path | None = None,
    progress: Progress = SILENT,
) -> Verdict:
    """Prove or refute that `edges` (u, v) connect the subscribers of every topic of `interest` (node, topic).

    Repeated interest rows count once. Edge rows that name an unknown node, join a node to itself or repeat
    a pair are counted and play no part in the proof. `witnesses_file` (.jsonl, .json, .parquet)
    gets every split topic, worst first. `size` is how many rows both tables have together and how many bytes
    of names, if somebody has counted. No file is written that tasks must see.
    """
    if witnesses_file is not None:
        check_witness_file(witnesses_file)
    tables = interest.select("node", "topic"), edges.select("u", "v")
    if path == "auto":
        n_rows, octets = size or _size(spark, tables[0].union(tables[1]), progress)
        most = may_collect(spark, driver_bytes)
        fits = n_rows <= driver_rows and octets + ROW_BYTES * n_rows <= most
        path = "driver" if fits else "bucketed"
    if path not in PATHS:
        raise UsageError(f"path {path!r} is not known; use auto, {', '.join(PATHS)}")
    check_stop(progress)
    if path == "driver":
        rows = [
            run_watched(spark, table.toArrow, progress=progress, phase=f"verify: read {name}")
            for name, table in zip(("interest", "edges"), tables, strict=True)
        ]
        verdict = check_tables(
            *rows, n_witnesses=n_witnesses, witnesses_file=witnesses_file, progress=progress
        )
        return replace(verdict, path=path)
    keep = None if witnesses_file is not None else n_witnesses
    verdict, worst = find_bucketed(JudgeTask(spark, *tables, keep, progress))
    if witnesses_file is not None:
        write_witnesses(worst, Path(witnesses_file))
    return replace(verdict, witnesses=_witnesses(worst.slice(0, n_witnesses)), path=path)


def _size(spark: SparkSession, rows: DataFrame, progress: Progress) -> tuple[int, int]:
    """Return how many rows there are and how many bytes of names, by one pass over them."""
    from pyspark.sql import functions as sf

    octets = sf.sum(sf.octet_length("node") + sf.octet_length("topic"))
    table = rows.agg(sf.count(sf.lit(1)).alias("rows"), octets.alias("octets"))
    found = run_watched(spark, table.first, progress=progress, phase="verify: count")
    return (found["rows"], found["octets"] or 0) if found is not None else (0, 0)


def _witnesses(worst: pa.Table) -> tuple[Witness, ...]:
    return tuple(
        Witness(row["topic"], tuple(row["component_sizes"]), (row["nodes"][0], row["nodes"][1]))
        for row in worst.to_pylist()
    )
