"""Identifiers become dense numbers, on Spark, at any size: the table every later step works on.

A number is the rank of the identifier in the binary order of its UTF-8 bytes. The rank comes from a range
sort and the row counts of its partitions, so it depends neither on the partitioning nor on the order of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from topicloom.errors import InputError
from topicloom.measures.digest import SECOND_PREFIX, format_digest
from topicloom.model.interest import ROLES, Interest
from topicloom.model.progress import SILENT, Progress
from topicloom.spark.failures import spark_errors
from topicloom.spark.raw import RawTable, require_no_rejects
from topicloom.spark.watch import watched

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

BROADCAST_IDS = 4_000_000
"""Up to so many identifiers every worker gets the whole dictionary; beyond, Spark joins by shuffling."""

_ROW_BITS = 33  # of monotonically_increasing_id: the partition stands above these bits, the row below


@dataclass(frozen=True, slots=True)
class EncodedInterest:
    """An interest as three Parquet folders of numbers, and what is known about it.

    `nodes` and `topics` have columns (id, number), `pairs` has (node, topic) and, where the input had them,
    `role` (position in ROLES) and `rate`.
    """

    nodes: str
    topics: str
    pairs: str
    n_nodes: int
    n_topics: int
    n_subscriptions: int
    duplicates: int
    rejected: int
    digest: str

    def to_interest(self) -> Interest:
        """The whole interest in memory, read straight from the files."""
        table = _read(self.pairs)
        extras = {name: table[name].to_numpy() for name in ("role", "rate") if name in table.column_names}
        role = extras.get("role")
        return Interest.from_codes(
            _sorted_ids(self.nodes),
            _sorted_ids(self.topics),
            table["node"].to_numpy(),
            table["topic"].to_numpy(),
            None if role is None else role.astype(np.uint8),
            extras.get("rate"),
        )


def encode_interest(
    spark: SparkSession,
    raw: RawTable,
    *,
    work_dir: str | Path,
    subscribers_only: bool = False,
    strict: bool = False,
    progress: Progress = SILENT,
) -> EncodedInterest:
    """Number the identifiers of `raw` and write the encoded table below `work_dir`.

    Rows of the same pair are one subscription: sub and pub make both, of several rates the largest counts.
    `subscribers_only` leaves out pairs whose only role is to publish. On a cluster `work_dir` must be a
    place that all workers reach.
    """
    work = _Work(spark, str(work_dir).rstrip("/"), raw.source.path, progress)
    with spark_errors(raw.source.path):
        work.write("read pairs", _merged(raw.rows, raw.source.names), "distinct")
        rejected = raw.n_rejects(progress=progress)
        if strict:
            require_no_rejects(raw, rejected)
        distinct = work.load("distinct")
        if subscribers_only and "role" in distinct.columns:
            distinct = distinct.where("role is null or role <> 2")
        totals = work.run("count pairs", lambda: _totals(work.load("distinct"), distinct))
        if totals["pairs"] == 0:
            refused = f" ({rejected} rows were refused)" if rejected else ""
            raise InputError(f"{raw.source.path} holds no subscription{refused}: give a table of pairs")
        counts = {name: _number(work, distinct, name) for name in ("node", "topic")}
        pairs = _numbered_pairs(work, distinct, counts, totals)
        work.write("number pairs", pairs, "pairs")
    return EncodedInterest(
        nodes=work.path("nodes"),
        topics=work.path("topics"),
        pairs=work.path("pairs"),
        n_nodes=counts["node"],
        n_topics=counts["topic"],
        n_subscriptions=totals["pairs"],
        duplicates=totals["rows"] - totals["distinct"],
        rejected=rejected,
        digest=format_digest(totals["pairs"], totals["hash1"], totals["hash2"]),
    )


@dataclass(frozen=True, slots=True)
class _Work:
    """Where the steps of one encoding leave their tables."""

    spark: SparkSession
    folder: str
    shown: str
    progress: Progress

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def load(self, name: str) -> DataFrame:
        return self.spark.read.option("__globPaths__", "false").parquet(_address(self.path(name)))

    def run(self, phase: str, action: Callable[[], Any]) -> Any:
        return watched(self.spark, action, progress=self.progress, phase=phase)

    def write(self, phase: str, frame: DataFrame, name: str) -> None:
        target = _address(self.path(name))
        self.run(phase, lambda: frame.write.mode("overwrite").parquet(target))


def _address(path: str) -> str:
    return path if ":/" in path else f"file://{Path(path).absolute()}"


def _merged(rows: DataFrame, names: tuple[str, str]) -> DataFrame:
    """One row per pair, with how many rows it came from; roles as bits (1 sub, 2 pub) for now."""
    from pyspark.sql import functions as sf

    columns: dict[str, Column] = {"copies": sf.count(sf.lit(1))}
    if "role" in rows.columns:
        bits = sf.when(sf.col("role") == "sub", 1).when(sf.col("role") == "pub", 2)
        columns["role"] = sf.bit_or(bits.when(sf.col("role") == "both", 3).cast("tinyint"))
    if "rate" in rows.columns:
        columns["rate"] = sf.max("rate")
    pairs = rows.withColumnsRenamed(dict(zip(names, ("node", "topic"), strict=True)))
    grouped = pairs.groupBy("node", "topic")
    return grouped.agg(*[column.alias(name) for name, column in columns.items()])


def _totals(everything: DataFrame, kept: DataFrame) -> dict[str, int]:
    from pyspark.sql import functions as sf

    counted = [sf.count(sf.lit(1)).alias("pairs")]
    counted += [sf.count(name).alias(name) for name in ("role", "rate") if name in kept.columns]
    hashes = (sf.xxhash64("node", "topic"), sf.xxhash64(sf.lit(SECOND_PREFIX), "node", "topic"))
    counted += [sf.bit_xor(column).alias(f"hash{i}") for i, column in enumerate(hashes, start=1)]
    counted += [sf.sum("copies").alias("rows")]
    found = kept.agg(*counted).first()
    totals = {name: int(value or 0) for name, value in (found.asDict() if found else {}).items()}
    totals["distinct"] = totals["pairs"]
    if kept is not everything:
        before = everything.agg(sf.count(sf.lit(1)).alias("n"), sf.sum("copies").alias("rows")).first()
        totals |= {"distinct": int(before["n"]), "rows": int(before["rows"] or 0)} if before else {}
    return totals


def _number(work: _Work, distinct: DataFrame, name: str) -> int:
    """Write the dictionary of one column, and say how many identifiers it has."""
    from pyspark.sql import functions as sf

    ids = distinct.select(sf.col(name).alias("id")).distinct().orderBy("id")
    ordered = f"{name}s-sorted"
    work.write(f"sort {name}s", ids.withColumn("place", sf.monotonically_increasing_id()), ordered)
    placed = work.load(ordered).withColumn("part", sf.shiftright("place", _ROW_BITS))
    sizes = work.run(f"count {name}s", lambda: placed.groupBy("part").count().orderBy("part").collect())
    starts = np.cumsum([0, *(row["count"] for row in sizes)]).tolist()
    # Few partitions: their starts fit into the expression itself.
    start = sf.create_map(
        *[sf.lit(x) for row, at in zip(sizes, starts, strict=False) for x in (row["part"], at)]
    )
    row = sf.col("place").bitwiseAND(sf.lit((1 << _ROW_BITS) - 1))
    number = (start[sf.col("part")] + row).cast("int")
    work.write(f"number {name}s", placed.select("id", number.alias("number")), f"{name}s")
    return int(starts[-1])


def _numbered_pairs(
    work: _Work, distinct: DataFrame, counts: dict[str, int], totals: dict[str, int]
) -> DataFrame:
    from pyspark.sql import functions as sf

    frame = distinct
    for name, count in counts.items():
        dictionary = work.load(f"{name}s").toDF(name, f"{name}_number")
        if count <= BROADCAST_IDS:
            dictionary = sf.broadcast(dictionary)
        frame = frame.join(dictionary, name)
    columns = [sf.col("node_number").alias("node"), sf.col("topic_number").alias("topic")]
    if totals.get("role"):
        # A row without a role is a subscription; 1, 2, 3 become positions in ROLES.
        columns.append((sf.coalesce("role", sf.lit(1)) - 1).cast("tinyint").alias("role"))
    if totals.get("rate"):
        columns.append(sf.coalesce("rate", sf.lit(float("nan"))).alias("rate"))
    return frame.select(*columns)


def _read(path: str, columns: list[str] | None = None) -> pa.Table:
    return pq.read_table(path, columns=columns)


def _sorted_ids(path: str) -> pa.StringArray:
    table = _read(path)
    order = pc.sort_indices(table["number"])
    ids = table["id"].cast(pa.string()).take(order).combine_chunks()
    return ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids


assert ROLES == ("sub", "pub", "both")  # the bits above stand for these, in this order
