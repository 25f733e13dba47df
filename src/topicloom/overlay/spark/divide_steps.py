"""The steps that divide and conquer and the improvement by regions share on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topicloom.base.summaries import Summary
from topicloom.overlay.builders.divide.groups import smallest_eta
from topicloom.overlay.spark.divide_tasks import Task
from topicloom.overlay.spark.encode import EncodedInterest
from topicloom.tables.spark.failures import group_errors
from topicloom.tables.spark.places import load_table
from topicloom.tables.spark.python_tasks import map_batches
from topicloom.tables.spark.step_tables import StepTables
from topicloom.tables.spark.written import Written

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class SplitRecord(Summary, frozen=True):
    """More topics than `eta` make a node a bulk node; how many of both kinds there are."""

    eta: int
    bulk: int
    light: int


class EdgeCount(Summary, frozen=True):
    """How many edges a phase made, and the largest degree after it."""

    edges: int
    degree_max: int


def split_nodes(work: StepTables, encoded: EncodedInterest, asked: int | str, seed: int) -> SplitRecord:
    """Write `nodes` (node, bulk, rank): who is bulk, and the place of each among its like in hashed order."""
    from pyspark.sql import functions as sf

    pairs = load_table(work.spark, encoded.pairs)
    sizes = pairs.groupBy("node").agg(sf.count(sf.lit(1)).cast("int").alias("size"))
    work.write("split nodes", sizes, "sizes")
    sizes = work.load("sizes")
    counted = work.run(None, lambda: sizes.groupBy("size").count().orderBy("size").collect())
    values, counts = (np.array([row[key] for row in counted], np.int64) for key in ("size", "count"))
    eta = smallest_eta(values, counts) if isinstance(asked, str) else asked
    bulk = int(counts[values > eta].sum())
    light = int(counts.sum()) - bulk
    nodes = load_table(work.spark, encoded.nodes).toDF("id", "node").join(sizes, "node")
    # Spark knows 64 bits with a sign; the local engine takes the same bits.
    signed = (seed + (1 << 63)) % (1 << 64) - (1 << 63)
    hashed = nodes.select(
        "node",
        (sf.col("size") > eta).alias("bulk"),
        sf.xxhash64("id", sf.lit(signed).cast("bigint")).alias("hash"),
    )
    # Light nodes come first, so a bulk node's rank among its like is its place behind them.
    ranked = work.ranked(None, hashed, ["bulk", "hash", "node"])
    rank = sf.col("rank") - sf.when(sf.col("bulk"), sf.lit(light)).otherwise(sf.lit(0))
    work.write(None, ranked.select("node", "bulk", rank.alias("rank")), "nodes")
    work.drop("sorted")
    work.drop("sizes")
    return SplitRecord(int(eta), bulk, light)


def count_edges(work: StepTables, written: Written, before: DataFrame | None = None) -> EdgeCount:
    """Write the degrees that the table `edges` gives on top of those before; its rows, the largest degree."""
    from pyspark.sql import functions as sf

    edges = work.load("edges")
    ends = edges.selectExpr("u node", "1 degree").union(edges.selectExpr("v node", "1 degree"))
    ends = ends if before is None else ends.union(before)
    degrees = ends.groupBy("node").agg(sf.sum("degree").cast("int").alias("degree"))
    return EdgeCount(written.rows, work.write(None, degrees, "degrees", most="degree").most)


def map_groups(
    work: StepTables, phase: str, rows: DataFrame, n_groups: int, task: Task, schema: str, name: str
) -> Written:
    """Run `task` on the rows of every group, one group to a partition, and write what comes out."""
    parts = map_batches(rows.repartitionById(max(n_groups, 1), "group"), task, schema)
    with group_errors(work.spark, phase, n_groups):
        return work.write(None, parts, name, groups=max(n_groups, 1), label=phase)


def blocks(column: str, n_groups: int, count: int) -> Column:
    """Return the group of a place among `count`."""
    from pyspark.sql import functions as sf

    return sf.expr(f"cast({column} as bigint) * {n_groups} div {max(count, 1)}")
