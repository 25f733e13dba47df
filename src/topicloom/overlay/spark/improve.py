"""Improve an overlay on Spark, whatever made it: regions are dealt out, each is one task of the local search.

The regions are groups of dcbr-m: those that it had where it has built the overlay, or those that it would
make of this seed; bulk nodes are dealt out to them too. Edges between regions stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from topicloom.base.counts import counted
from topicloom.base.progress import Progress
from topicloom.errors import RefusedInputError
from topicloom.overlay.builders.divide.groups import KERNEL_NODES, count_groups
from topicloom.overlay.builders.divide.polish import polish_cap
from topicloom.overlay.model.run import Run
from topicloom.overlay.spark.builders import SparkBuild
from topicloom.overlay.spark.divide_steps import (
    EdgeCount,
    SplitRecord,
    blocks,
    count_edges,
    map_groups,
    split_nodes,
)
from topicloom.overlay.spark.divide_tasks import EDGE_MARK, EDGE_SCHEMA, polish_task
from topicloom.overlay.spark.encode import EncodedInterest
from topicloom.overlay.spark.measure import count_left_out, ground_of, numbered_edges, split_topics
from topicloom.tables.spark.kept_tables import kept_tables
from topicloom.tables.spark.places import load_table
from topicloom.tables.spark.step_tables import StepTables, fits_broadcast

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Check = Callable[[Mapping[str, int]], None]

GIVEN, SPLIT, IMPROVE = "given", "split", "improve"
ROUNDS = 10  # a round is one move of the local search for each edge


class GivenEdges(EdgeCount, frozen=True):
    """The edges that were given, and how many of their rows play no part, by why."""

    left_out: dict[str, int]


@dataclass(frozen=True, slots=True)
class Dealing:
    """How nodes are dealt out to regions: as dcbr-m deals them out, to `count` groups or as many as it takes.

    >>> Dealing.of("dcbr-m", 7, {"eta": 12, "groups": 3})
    Dealing(seed=7, count=3, eta=12)
    """

    seed: int
    count: int | None = None
    eta: int | str = "auto"

    @classmethod
    def of(cls, algorithm: str, seed: int, report: Mapping[str, Any]) -> Dealing | None:
        """Return how an overlay was built or improved before; None if it was not by groups."""
        if algorithm in ("dcbr-m", "dcb-m") and report.get("groups"):
            return cls(seed, int(report["groups"]), int(report["eta"]))
        if "regions" in report:
            return cls(int(report["regions_seed"]), int(report["regions"]), int(report["eta"]))
        return None


@dataclass(frozen=True, slots=True)
class SparkRegions:
    """The improvement of an encoded interest's overlay, phase by phase."""

    spark: SparkSession
    encoded: EncodedInterest
    run: Run
    dealing: Dealing
    kernel_nodes: int | None
    rounds: int
    seed: int
    progress: Progress

    def given(self, edges: DataFrame, shown: str, check: Check) -> GivenEdges:
        """Number the edges (u, v: names), which messages call `shown`.

        Those that do not connect every topic are refused; `check` may refuse what rows play no part, also
        where an earlier run has let them pass.
        """
        earlier = GIVEN in self.run.whole()
        given = self.run.keep(GIVEN, GivenEdges, partial(self._given, edges, shown, check))
        if earlier:
            check(given.left_out)
        return given

    def improve(self, given: GivenEdges) -> SparkBuild:
        """Improve all regions."""
        split = self.run.keep(SPLIT, SplitRecord, self._split)
        most = KERNEL_NODES if self.kernel_nodes is None else self.kernel_nodes
        count = self.dealing.count or 1
        if self.kernel_nodes is not None or self.dealing.count is None:
            count = max(count, count_groups(split.light, most))  # smaller groups are asked for to save memory
        found = self.run.keep(IMPROVE, EdgeCount, partial(self._improve, split, count, given))
        report: dict[str, Any] = {
            "edges_start": given.edges,
            "degree_start": given.degree_max,
            **dict.fromkeys(("edges_forbidden", "edges_required", "edges_joining"), 0),
            "objective_start": given.edges,
            "objective": found.edges,
            "rounds": self.rounds,
            "regions": count,
            "regions_seed": self.dealing.seed,
            "eta": split.eta,
        }
        asked = {
            "objective": "edges",
            "survive": 0,
            "extra_edges": 0.0,
            "max_hops": "none",
            "max_degree": "auto",
            "max_edges": "auto",
            "rounds": self.rounds,
            "kernel_nodes": most,
        }
        tables = tuple(self.run.path(IMPROVE, table) for table in ("edges", "between"))
        return SparkBuild(tables, found.edges, found.degree_max, asked, report)

    # --- the phases ------------------------------------------------------------------------------------

    def _given(self, edges: DataFrame, shown: str, check: Check, folder: str) -> GivenEdges:
        work = StepTables(self.spark, folder, self.progress)
        pairs = load_table(self.spark, self.encoded.pairs)
        with kept_tables(self.progress) as tables:
            sound = tables.keep("read edges", numbered_edges(self.spark, self.encoded, edges))
            counts = count_left_out(sound, self.progress)
            n_edges = counts.pop("edges")
            check(counts)
            ground = ground_of(tables, self.encoded, pairs, None, sound, n_edges, self.progress)
            split, _ = split_topics(ground, "judge topics")
            if split:
                raise RefusedInputError(
                    f"{shown} leaves {counted(split, 'topic')} of {self.encoded.n_topics:,} split: on Spark "
                    "only a topic-connected overlay is improved (`topicloom verify` names them)"
                )
            written = work.write(None, ground.shared.selectExpr("low u", "high v"), "edges")
        found = count_edges(work, written)
        return GivenEdges(found.edges, found.degree_max, counts)

    def _split(self, folder: str) -> SplitRecord:
        work = StepTables(self.spark, folder, self.progress)
        return split_nodes(work, self.encoded, self.dealing.eta, self.dealing.seed)

    def _improve(self, split: SplitRecord, count: int, given: GivenEdges, folder: str) -> EdgeCount:
        from pyspark.sql import functions as sf

        work = StepTables(self.spark, folder, self.progress)
        n_nodes = self.encoded.n_nodes
        degrees = load_table(self.spark, self.run.path(GIVEN, "degrees"))
        seen = work.run(None, lambda: degrees.groupBy("degree").count().orderBy("degree").collect())
        sizes, counts = (np.array([row[key] for row in seen], np.int64) for key in ("degree", "count"))
        cap = min(polish_cap(sizes, counts, n_nodes), given.degree_max)
        nodes = load_table(self.spark, self.run.path(SPLIT, "nodes"))
        group = sf.when(sf.col("bulk"), blocks("rank", count, split.bulk))
        group = group.otherwise(blocks("rank", count, split.light)).cast("int")
        home = nodes.select("node", group.alias("group"))
        near = sf.broadcast(home) if fits_broadcast(n_nodes) else home
        edges = load_table(self.spark, self.run.path(GIVEN, "edges"))
        placed = edges.join(near.toDF("u", "group"), "u").join(near.toDF("v", "other"), "v")
        between = work.write(
            "edges between regions", placed.where("group <> other").select("u", "v"), "between"
        )
        columns = ["group", "node", "topic", "degree"]
        inner = placed.where("group = other").select(
            "group", sf.col("u").alias("node"), sf.col("v").alias("topic"), sf.lit(EDGE_MARK).alias("degree")
        )
        degree = sf.coalesce("degree", sf.lit(0)).cast("int").alias("degree")
        members = home.join(degrees, "node", "left").select("node", "group", degree)
        members = sf.broadcast(members) if fits_broadcast(n_nodes) else members
        pairs = load_table(self.spark, self.encoded.pairs).select("node", "topic")
        rows = pairs.join(members, "node").select(*columns).unionByName(inner)
        task = polish_task(IMPROVE, cap, self.rounds, self.seed, whole=False)
        written = map_groups(work, IMPROVE, rows, count, task, EDGE_SCHEMA, "edges")
        rest = work.load("between")
        ends = rest.selectExpr("u node", "1 degree").union(rest.selectExpr("v node", "1 degree"))
        found = count_edges(work, written, ends)
        return EdgeCount(written.rows + between.rows, found.degree_max)
