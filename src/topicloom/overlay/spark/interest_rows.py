"""The rows of an interest table on Spark before they are numbered: which count, how many, their digest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.measures.digest import SECOND_PREFIX, format_digest
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.raw_table import RawTable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def interest_rows(raw: RawTable, *, subscribers_only: bool = False) -> DataFrame:
    """The rows of an interest table by name: node, topic and, where the input has them, role and rate."""
    from pyspark.sql import functions as sf

    rows = raw.rows
    if not subscribers_only or "role" not in rows.columns:
        return rows
    raw.keep()  # each use of what follows reads them twice
    # All rows of the pairs that some row names as a subscription; the others only publish.
    wanted = rows.where(sf.col("role").isNull() | (sf.col("role") != "pub")).select("node", "topic")
    return rows.join(wanted.distinct(), ["node", "topic"], "left_semi")


def tally_interest(
    raw: RawTable, rows: DataFrame, *, progress: Progress = SILENT, phase: str | None = None
) -> dict[str, int]:
    """Return `totals` of these rows of a table, and how many others were `refused`; mostly in one pass."""
    if rows is raw.rows:
        return raw.tally(_total_columns(raw.judged), progress=progress, phase=phase)
    found = totals(rows, progress=progress, phase=phase)
    return found | {"refused": raw.n_rejects(progress=progress)}


def totals(rows: DataFrame, *, progress: Progress = SILENT, phase: str | None = None) -> dict[str, int]:
    """Return how many rows there are, how many bytes their names have, how many have a role and a rate.

    `hash1` and `hash2` are those of the digest, if no pair occurs twice.
    """
    from pyspark.sql import functions as sf

    columns = {"rows": sf.count(sf.lit(1)), **_total_columns(rows)}
    table = rows.agg(*[column.alias(name) for name, column in columns.items()])
    found = run_watched(rows.sparkSession, table.first, progress=progress, phase=phase)
    return {name: int(value or 0) for name, value in (found.asDict() if found else {}).items()}


def _total_columns(rows: DataFrame) -> dict[str, Column]:
    from pyspark.sql import functions as sf

    def good(column: Column) -> Column:
        return sf.when(sf.col("_reason").isNull(), column) if "_reason" in rows.columns else column

    pair = sf.col("node"), sf.col("topic")
    columns = {
        "octets": sf.sum(good(sf.octet_length(pair[0]) + sf.octet_length(pair[1])).cast("long")),
        "hash1": sf.bit_xor(good(sf.xxhash64(*pair))),
        "hash2": sf.bit_xor(good(sf.xxhash64(sf.lit(SECOND_PREFIX), *pair))),
    }
    optional = [name for name in ("role", "rate") if name in rows.columns]
    return columns | {name: sf.count(good(sf.col(name))) for name in optional}


def kept_pairs(rows: DataFrame) -> DataFrame:
    """Return the pairs of a table, each once, kept on the executors' disks until they are unpersisted."""
    from pyspark import StorageLevel

    return rows.select("node", "topic").distinct().persist(StorageLevel.DISK_ONLY)


def digest_rows(rows: DataFrame, *, progress: Progress = SILENT) -> str:
    """Return the digest of distinct pairs."""
    return digest_of(totals(rows, progress=progress, phase="hash pairs"))


def digest_of(found: dict[str, int]) -> str:
    """Return the digest of a table without repeated pairs, by its totals."""
    return format_digest(found["rows"], found["hash1"], found["hash2"])
