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
from topicloom.overlay.builders.divide.groups import SINGLE, group_sizes
from topicloom.overlay.builders.divide.plan import Groups, Inner, LevelSizes, Polished
from topicloom.overlay.builders.divide.polish import polish_cap
from topicloom.overlay.builders.divide.run import POLISH, phase_name
from topicloom.overlay.model.run import Run
from topicloom.overlay.spark.divide_steps import (
    EdgeCount,
    SplitRecord,
    blocks,
    count_edges,
    map_groups,
    split_nodes,
)
from topicloom.overlay.spark.divide_tasks import (
    CHOSEN_SCHEMA,
    EDGE_MARK,
    EDGE_SCHEMA,
    combine_task,
    conquer_task,
    polish_task,
    represent_task,
)
from topicloom.overlay.spark.encode import EncodedInterest
from topicloom.tables.spark.places import load_table
from topicloom.tables.spark.step_tables import StepTables, fits_broadcast

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SPLIT = "split"


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
        by_rank = blocks("rank", n_groups, n_singles)
        group = sf.when(sf.col("clump") == SINGLE, by_rank).otherwise(blocks("clump", n_groups, n_clumps))
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
        work = StepTables(self.spark, folder, self.progress)
        return split_nodes(work, self.encoded, self.eta, self.seed)

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
        map_groups(work, phase, rows, n_groups, task, CHOSEN_SCHEMA, "chosen")
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
        edges = map_groups(work, phase, rows, n_groups, task, EDGE_SCHEMA, "edges")
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
        written = map_groups(work, POLISH, rows, groups[0], task, EDGE_SCHEMA, "edges")
        outside = [self._edges(level) for level in range(1, last + 1)]
        ends = [some.selectExpr(f"{end} node", "1 degree") for some in outside for end in ("u", "v")]
        found = count_edges(work, written, reduce(_union, ends) if ends else None)
        saved = self.run.require(build_name(0), EdgeCount).edges - found.edges
        return Polished(cap, found.edges, saved, found.degree_max, before.degree_max)

    def _edges(self, level: int) -> DataFrame:
        return load_table(self.spark, self.run.path(build_name(level), "edges"))


def build_name(level: int) -> str:
    """Return the folder of the phase that builds a level."""
    return phase_name(level).replace(" ", "-")


def _union(one: DataFrame, other: DataFrame) -> DataFrame:
    return one.union(other)


def _chosen_name(groups: Groups) -> str:
    return "-".join(["represent", *map(str, groups)])
