"""Divide and conquer on Spark: the interest stays a table, every group is one task and one kernel call.

`SparkDivide` does what `builders.divide.local.LocalDivide` does on arrays, with the same functions; the tasks
stand in `divide_tasks.py`. Each step is a phase of the run folder, so a later run finds it done.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import Summary
from topicloom.overlay.builders.divide.groups import SINGLE, group_sizes, smallest_eta
from topicloom.overlay.builders.divide.plan import Groups, Inner, LevelSizes, Polished
from topicloom.overlay.builders.divide.polish import polish_cap
from topicloom.overlay.builders.divide.run import POLISH, phase_name
from topicloom.overlay.model.run import Run
from topicloom.overlay.spark.divide_tasks import (
    CHOSEN_SCHEMA,
    EDGE_MARK,
    EDGE_SCHEMA,
    Task,
    combine_task,
    conquer_task,
    polish_task,
    represent_task,
)
from topicloom.overlay.spark.encode import EncodedInterest
from topicloom.tables.spark.failures import group_errors
from topicloom.tables.spark.places import load_table
from topicloom.tables.spark.python_tasks import map_batches
from topicloom.tables.spark.step_tables import StepTables, fits_broadcast
from topicloom.tables.spark.written import Written

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

SPLIT = "split"


class SplitRecord(Summary, frozen=True):
    """More topics than `eta` make a node a bulk node; how many of both kinds there are."""

    eta: int
    bulk: int
    light: int


class EdgeCount(Summary, frozen=True):
    """How many edges a phase made, and the largest degree after it."""

    edges: int
    degree_max: int


@dataclass(slots=True)
class SparkDivide:
    """A `DivideEngine` over an encoded interest; its tables are `node, topic` numbers."""

    spark: SparkSession
    encoded: EncodedInterest
    run: Run
    eta: int | str
    lambda_: int | None
    inner: Inner
    seed: int
    progress: Progress = SILENT
    n_bulk: int = 0
    n_light: int = 0

    def split(self) -> int:
        """Part the nodes into bulk and light, each with its rank in hashed order; eta."""
        record = self.run.keep(SPLIT, SplitRecord, self._split)
        self.n_bulk, self.n_light = record.bulk, record.light
        return record.eta

    def represent(self, groups: Groups) -> LevelSizes:
        name = _chosen_name(groups)
        return self.run.keep(name, LevelSizes, lambda folder: self._represent(groups, folder))

    def build(self, groups: Groups, level: int) -> int:
        name = build_name(level)
        return self.run.keep(name, EdgeCount, lambda folder: self._build(groups, level, folder)).edges

    def polish(self, groups: Groups, moves: int) -> Polished:
        return self.run.keep(POLISH, Polished, lambda folder: self._polish(groups, moves, folder))

    # --- the tables ------------------------------------------------------------------------------------

    def pairs(self) -> DataFrame:
        return load_table(self.spark, self.encoded.pairs).select("node", "topic")

    def members(self, groups: Groups) -> DataFrame:
        """Return who takes part after these levels: node, clump, rank."""
        nodes = load_table(self.spark, self.run.path(SPLIT, "nodes"))
        alone = f"cast({SINGLE} as int) clump"
        if not groups:
            return nodes.where("not bulk").selectExpr("node", alone, "rank")
        chosen = load_table(self.spark, self.run.path(_chosen_name(groups), "chosen"))
        members = chosen.selectExpr("node", "clump", "cast(0 as bigint) rank")
        if len(groups) > 1:
            return members
        return members.unionByName(nodes.where("bulk").selectExpr("node", alone, "rank"))

    def dealt(self, groups: Groups, level: int) -> DataFrame:
        """Return the members of a level with their group: the arithmetic of `deal_members`."""
        from pyspark.sql import functions as sf

        n_groups = groups[level] if level < len(groups) else 1
        n_clumps, n_singles = (groups[level - 1], self.n_bulk) if level else (0, self.n_light)
        by_rank = _blocks("rank", n_groups, n_singles)
        group = sf.when(sf.col("clump") == SINGLE, by_rank).otherwise(_blocks("clump", n_groups, n_clumps))
        return self.members(groups[:level]).withColumn("group", group.cast("int"))

    def rows(self, members: DataFrame, count: int) -> DataFrame:
        """Return the subscriptions of `members`, about `count` nodes, with the columns of each."""
        from pyspark.sql import functions as sf

        return self.pairs().join(sf.broadcast(members) if fits_broadcast(count) else members, "node")

    def n_members(self, groups: Groups) -> int:
        if not groups:
            return self.n_light
        dealt = self.represent(groups)
        return sum(dealt.representatives) + (self.n_bulk if len(groups) == 1 else 0)

    # --- the phases ------------------------------------------------------------------------------------

    def _split(self, folder: str) -> SplitRecord:
        from pyspark.sql import functions as sf

        work = StepTables(self.spark, folder, self.progress)
        sizes = self.pairs().groupBy("node").agg(sf.count(sf.lit(1)).cast("int").alias("size"))
        work.write("split nodes", sizes, "sizes")
        sizes = work.load("sizes")
        counted = work.run(None, lambda: sizes.groupBy("size").count().orderBy("size").collect())
        values, counts = (np.array([row[key] for row in counted], np.int64) for key in ("size", "count"))
        eta = smallest_eta(values, counts) if isinstance(self.eta, str) else self.eta
        bulk = int(counts[values > eta].sum())
        light = int(counts.sum()) - bulk
        nodes = load_table(self.spark, self.encoded.nodes).toDF("id", "node").join(sizes, "node")
        # Spark knows 64 bits with a sign; the local engine takes the same bits.
        signed = (self.seed + (1 << 63)) % (1 << 64) - (1 << 63)
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

    def _represent(self, groups: Groups, folder: str) -> LevelSizes:
        from pyspark.sql import functions as sf

        level, n_groups = len(groups) - 1, groups[-1]
        clumps = self.represent(groups[:-1]).representatives if level else ()
        singles = (self.n_light, self.n_bulk, 0)[min(level, 2)]
        sizes = group_sizes(clumps, singles, n_groups).tolist() if n_groups else []
        work = StepTables(self.spark, folder, self.progress)
        members = self.dealt(groups, level)
        if self.lambda_ is None:
            chosen = members.selectExpr("node", "group clump")
            work.write(None, chosen, "chosen")
            return LevelSizes(tuple(sizes), tuple(sizes))
        rows = self.rows(members.select("node", "group"), self.n_members(groups[:-1]))
        everybody = self.pairs() if level == 0 else rows  # at level 0 bulk nodes count too
        wanted = everybody.groupBy("topic").agg(sf.count(sf.lit(1)).alias("everywhere"))
        fits = fits_broadcast(self.encoded.n_topics)
        rows = rows.join(sf.broadcast(wanted) if fits else wanted, "topic")
        phase = "choose representatives"
        self.progress.phase(phase, max(n_groups, 1))
        task = represent_task(phase, self.lambda_)
        self._map_groups(phase, rows, n_groups, task, CHOSEN_SCHEMA, work, "chosen")
        counted = work.run(None, lambda: work.load("chosen").groupBy("clump").count().collect())
        counts = {row["clump"]: row["count"] for row in counted}
        return LevelSizes(tuple(sizes), tuple(counts.get(group, 0) for group in range(n_groups)))

    def _build(self, groups: Groups, level: int, folder: str) -> EdgeCount:
        from pyspark.sql import functions as sf

        phase = phase_name(level)
        n_groups = groups[level] if level < len(groups) else 1
        work = StepTables(self.spark, folder, self.progress)
        members = self.dealt(groups, level)
        if level == 0:
            members, task = members.select("node", "group"), conquer_task(phase, self.inner)
        else:
            before = self.run.require(build_name(level - 1), EdgeCount)
            degrees = load_table(self.spark, self.run.path(build_name(level - 1), "degrees"))
            degree = sf.coalesce("degree", sf.lit(0)).cast("long").alias("degree")
            members = members.join(degrees, "node", "left").select("node", "group", "clump", degree)
            task = combine_task(phase, before.degree_max, self.inner)
        rows = self.rows(members, self.n_members(groups[:level]))
        edges = self._map_groups(phase, rows, n_groups, task, EDGE_SCHEMA, work, "edges")
        return count_edges(work, edges, degrees if level else None)

    def _polish(self, groups: Groups, moves: int, folder: str) -> Polished:
        from pyspark.sql import functions as sf

        work = StepTables(self.spark, folder, self.progress)
        last = len(groups) if self.n_members(groups) else len(groups) - 1
        before = self.run.require(build_name(last), EdgeCount)
        degrees = load_table(self.spark, self.run.path(build_name(last), "degrees"))
        counted = work.run(None, lambda: degrees.groupBy("degree").count().orderBy("degree").collect())
        sizes, counts = (np.array([row[key] for row in counted], np.int64) for key in ("degree", "count"))
        cap = min(polish_cap(sizes, counts, self.n_light + self.n_bulk), before.degree_max)
        degree = sf.coalesce("degree", sf.lit(0)).cast("int").alias("degree")
        members = self.dealt(groups, 0).join(degrees, "node", "left").select("node", "group", degree)
        home = members.select("node", "group")
        home = sf.broadcast(home) if fits_broadcast(self.n_light) else home
        inner = self._edges(0).toDF("node", "topic").join(home, "node")  # both ends are in one group
        columns = ["group", "node", "topic", "degree"]
        edges = inner.withColumn("degree", sf.lit(EDGE_MARK)).select(*columns)
        rows = self.rows(members, self.n_light).select(*columns).unionByName(edges)
        task = polish_task(POLISH, cap, moves, self.seed)
        written = self._map_groups(POLISH, rows, groups[0], task, EDGE_SCHEMA, work, "edges")
        outside = [self._edges(level) for level in range(1, last + 1)]
        ends = [some.selectExpr(f"{end} node", "1 degree") for some in outside for end in ("u", "v")]
        found = count_edges(work, written, reduce(_union, ends) if ends else None)
        saved = self.run.require(build_name(0), EdgeCount).edges - found.edges
        return Polished(cap, found.edges, saved, found.degree_max, before.degree_max)

    def _edges(self, level: int) -> DataFrame:
        return load_table(self.spark, self.run.path(build_name(level), "edges"))

    def _map_groups(
        self, phase: str, rows: DataFrame, n_groups: int, task: Task, schema: str, work: StepTables, name: str
    ) -> Written:
        """Run `task` on the rows of every group, one group to a partition, and write what comes out."""
        parts = map_batches(rows.repartitionById(max(n_groups, 1), "group"), task, schema)
        with group_errors(self.spark, phase, n_groups):
            return work.write(None, parts, name, groups=max(n_groups, 1), label=phase)


def count_edges(work: StepTables, written: Written, before: DataFrame | None = None) -> EdgeCount:
    """Write the degrees that the table `edges` gives on top of those before; its rows, the largest degree."""
    from pyspark.sql import functions as sf

    edges = work.load("edges")
    ends = edges.selectExpr("u node", "1 degree").union(edges.selectExpr("v node", "1 degree"))
    ends = ends if before is None else ends.union(before)
    degrees = ends.groupBy("node").agg(sf.sum("degree").cast("int").alias("degree"))
    return EdgeCount(written.rows, work.write(None, degrees, "degrees", most="degree").most)


def build_name(level: int) -> str:
    """Return the folder of the phase that builds a level."""
    return phase_name(level).replace(" ", "-")


def _union(one: DataFrame, other: DataFrame) -> DataFrame:
    return one.union(other)


def _chosen_name(groups: Groups) -> str:
    return "-".join(["represent", *map(str, groups)])


def _blocks(column: str, n_groups: int, count: int) -> Column:
    from pyspark.sql import functions as sf

    return sf.expr(f"cast({column} as bigint) * {n_groups} div {max(count, 1)}")
