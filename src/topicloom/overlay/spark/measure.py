"""Measure an overlay of any size: the pairs stay tables, and the driver gets counts.

What depends on paths is measured in a fixed sample of topics (`measure_topics.py`). What one task would have
to hold the whole overlay for is not measured: its keys are None, and `unknown` says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Longs
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.base.summaries import Figures
from topicloom.overlay.measures.degree import PERCENTILES
from topicloom.overlay.spark.encode import EncodedInterest
from topicloom.overlay.spark.measure_topics import Sampled, measure_sample
from topicloom.overlay.spark.verify_bucketed import BUCKET_ROWS, judged_topics, totals_of
from topicloom.overlay.spark.verify_salted import thinned_joins
from topicloom.tables.records import ROLES
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.kept_tables import KeptTables, kept_tables
from topicloom.tables.spark.places import load_table
from topicloom.tables.spark.step_tables import fits_broadcast, slices_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

ONE_TASK_NODES = 20_000_000  # up to so many nodes one task finds the components of the whole overlay
WHOLE = "one task would have to hold the whole overlay"
NOT_MEASURED = {
    "diameter_overlay": WHOLE,
    "diameter_overlay_bounds": WHOLE,
    "splits_avg": WHOLE,
    "splits_max": WHOLE,
    "bridges": WHOLE,
}


@dataclass(frozen=True, slots=True)
class SparkMeasured:
    """All figures by key; why some are None, and which are of a sample; rows of edges that play no part."""

    figures: Figures
    unknown: dict[str, str]
    sampled: Sampled | None  # None: all topics were measured
    unknown_nodes: int
    self_loops: int
    duplicate_edges: int


@dataclass(frozen=True, slots=True)
class Ground:
    """The tables that all measures read: node lists, and the edges with what both ends want."""

    encoded: EncodedInterest
    pairs: DataFrame  # node, topic
    lists: DataFrame  # node, topics
    shared: DataFrame  # low, high, common (topics), weight
    n_edges: int
    n_joins: int
    progress: Progress

    def run(self, frame: DataFrame, phase: str | None = None) -> pa.Table:
        """Bring a small table here."""
        check_stop(self.progress)
        return run_watched(frame.sparkSession, frame.toArrow, progress=self.progress, phase=phase)


def measure_encoded(
    spark: SparkSession, encoded: EncodedInterest, edges: DataFrame, *, progress: Progress = SILENT
) -> SparkMeasured:
    """Measure the overlay in the rows `u`, `v` (names) of `edges` against an encoded interest.

    Rows that name an unknown node, join a node to itself or repeat a pair are counted and play no part. The
    figures are those of `measure_overlay`, where they are known.
    """
    with kept_tables(progress) as tables:
        pairs = load_table(spark, encoded.pairs)
        rated = topic_rates(pairs)
        sound = tables.keep("measure: edges", numbered_edges(spark, encoded, edges))
        left_out = count_left_out(sound, progress)
        ground = ground_of(tables, encoded, pairs, rated, sound, left_out.pop("edges"), progress)
        figures: Figures = {
            "nodes": encoded.n_nodes,
            "topics": encoded.n_topics,
            "subscriptions": encoded.n_subscriptions,
            "edges": ground.n_edges,
        }
        figures |= _topics_per_edge(ground)
        figures |= _nodes(ground, tables, rated is not None)
        figures |= _components(ground)
        sample = measure_sample(ground, figures["degree_max"])
        figures |= sample.figures
        figures |= dict.fromkeys(NOT_MEASURED)
    unknown = NOT_MEASURED | sample.unknown
    if figures["topic_connected"]:
        figures |= {"filtering_cost": 0, "filtering_cost_max": 0, "filtering_unreachable": 0}
    else:
        costs = ("filtering_cost", "filtering_cost_max", "filtering_unreachable")
        figures |= dict.fromkeys(costs)
        unknown |= dict.fromkeys(costs, "paths outside of split topics may lead through the whole overlay")
    if figures["overlay_components"] is None:
        unknown["overlay_components"] = WHOLE
    return SparkMeasured(figures, unknown, sample.sampled, **left_out)


def topic_rates(pairs: DataFrame) -> DataFrame | None:
    """Return what the publishers of each topic send together (topic, rate); None without rates."""
    from pyspark.sql import functions as sf

    if "rate" not in pairs.columns:
        return None
    sent = sf.nanvl("rate", sf.lit(0.0))
    if "role" in pairs.columns:
        sent = sf.when(sf.col("role") == ROLES.index("sub"), sf.lit(0.0)).otherwise(sent)
    return pairs.groupBy("topic").agg(sf.sum(sent).alias("rate"))


# --- the tables ----------------------------------------------------------------------------------------


def numbered_edges(spark: SparkSession, encoded: EncodedInterest, edges: DataFrame) -> DataFrame:
    """Return distinct pairs of node numbers (null: a row with an unknown node), each with its rows `n`."""
    from pyspark.sql import functions as sf

    rows = edges.select("u", "v")
    for end, number in (("u", "a"), ("v", "b")):
        ids = load_table(spark, encoded.nodes).toDF(end, number)
        fits = fits_broadcast(encoded.n_nodes, encoded.node_bytes)
        rows = rows.join(sf.broadcast(ids) if fits else ids, end, "left")
    known = sf.col("a").isNotNull() & sf.col("b").isNotNull()
    low, high = (sf.when(known, f("a", "b")) for f in (sf.least, sf.greatest))
    pairs = rows.select(low.alias("low"), high.alias("high"))
    return pairs.groupBy("low", "high").agg(sf.count(sf.lit(1)).alias("n"))


def count_left_out(sound: DataFrame, progress: Progress) -> dict[str, int]:
    from pyspark.sql import functions as sf

    n, proper = sf.col("n"), sf.col("low") < sf.col("high")
    row = sound.agg(
        sf.sum(sf.when(proper, 1)).alias("edges"),
        sf.sum(sf.when(sf.col("low").isNull(), n)).alias("unknown_nodes"),
        sf.sum(sf.when(sf.col("low") == sf.col("high"), n)).alias("self_loops"),
        sf.sum(sf.when(proper, n - 1)).alias("duplicate_edges"),
    )
    found = run_watched(sound.sparkSession, row.toArrow, progress=progress).to_pylist()[0]
    return {name: value or 0 for name, value in found.items()}


def ground_of(
    tables: KeptTables,
    encoded: EncodedInterest,
    pairs: DataFrame,
    rated: DataFrame | None,
    sound: DataFrame,
    n_edges: int,
    progress: Progress,
) -> Ground:
    from pyspark.sql import functions as sf

    topics, weight = sf.col("topic"), sf.size("common").cast("double")
    listed = pairs.select("node", "topic")
    if rated is not None:
        listed = listed.join(rated, "topic")
        topics = sf.struct("topic", "rate")
        weight = sf.aggregate("common", sf.lit(0.0), lambda total, one: total + one["rate"])
    lists = listed.groupBy("node").agg(sf.sort_array(sf.collect_list(topics)).alias("topics"))
    lists = tables.keep("measure: nodes", lists)
    proper = sound.where("low < high").select("low", "high")
    for end in ("low", "high"):
        proper = proper.join(lists.toDF(end, f"of_{end}"), end)
    common = proper.select("low", "high", sf.array_intersect("of_low", "of_high").alias("common"))
    shared = common.withColumn("weight", weight)
    if rated is not None:
        shared = shared.withColumn("common", sf.col("common")["topic"])
        lists = lists.select("node", sf.col("topics")["topic"].alias("topics"))
    shared = tables.keep("measure: topics of edges", shared)
    ground = Ground(encoded, pairs.select("node", "topic"), lists, shared, n_edges, 0, progress)
    joins = ground.run(shared.agg(sf.sum(sf.size("common")).alias("joins")))["joins"][0].as_py() or 0
    return Ground(encoded, ground.pairs, lists, shared, n_edges, joins, progress)


# --- the measures --------------------------------------------------------------------------------------


def _topics_per_edge(ground: Ground) -> Figures:
    from pyspark.sql import functions as sf

    values, counts = _histogram(ground, ground.shared.select(sf.size("common").alias("value")))
    shares = percentiles_of(values, counts)
    return {
        "topics_per_edge_avg": ground.n_joins / ground.n_edges if ground.n_edges else 0.0,
        "topics_per_edge_max": int(values.max(initial=0)),
        "topics_per_edge_percentiles": {name: int(value) for name, value in shares.items()},
        "edges_unused": int(counts[values == 0].sum()),
    }


def _nodes(ground: Ground, tables: KeptTables, rated: bool) -> Figures:
    """Measure degrees and loads."""
    from pyspark.sql import functions as sf

    n_nodes = ground.encoded.n_nodes
    ends = ground.shared.select(sf.explode(sf.array("low", "high")).alias("node"), "weight")
    found = ends.groupBy("node").agg(sf.count(sf.lit(1)).alias("degree"), sf.sum("weight").alias("load"))
    nodes = tables.keep(
        "measure: degrees", ground.lists.select("node").join(found, "node", "left").na.fill(0)
    )
    values, counts = _histogram(ground, nodes.select(sf.col("degree").alias("value")))
    shares = {name: int(value) for name, value in percentiles_of(values, counts).items()}
    ranks = [_disc("load", percent).alias(str(percent)) for percent in PERCENTILES]
    more = (sf.min("load").alias("min"), sf.max("load").alias("max"), sf.sum("load").alias("sum"))
    loads = ground.run(nodes.agg(*more, *ranks), "measure: load").to_pylist()[0]
    return {
        "degree_max": int(values.max(initial=0)),
        "degree_avg": 2 * ground.n_edges / max(n_nodes, 1),
        "degree_percentiles": shares,
        "degree_histogram": {str(v): c for v, c in zip(values.tolist(), counts.tolist(), strict=True)},
        "load_max": float(loads["max"] or 0.0),
        "load_avg": float(loads["sum"] or 0.0) / max(n_nodes, 1),
        "load_percentiles": {name: float(loads[name] or 0.0) for name in ("min", *map(str, PERCENTILES))},
        "load_unit": "messages" if rated else "topics",
    }


def split_topics(ground: Ground, phase: str) -> tuple[int, int]:
    """Return how many topics are split, and the components of all, by the tasks of the judge."""
    from pyspark.sql import functions as sf

    a, b = _ends()
    joins = ground.shared.select(sf.explode(sf.col("common").cast("array<long>")).alias("topic"), a, b)
    buckets = slices_of(ground.encoded.n_subscriptions + ground.n_joins, BUCKET_ROWS)
    thinned = thinned_joins(joins, BUCKET_ROWS, ground.n_joins)
    _, split, components = totals_of(ground.run(judged_topics(_judged(ground), thinned, buckets, 0), phase))
    return split, components


def _judged(ground: Ground) -> DataFrame:
    """Return the nodes as the judge takes them."""
    from pyspark.sql import functions as sf

    return ground.lists.select(
        sf.col("topics").cast("array<long>"), sf.col("node").cast("long").alias("node_id")
    )


def _ends() -> tuple[Column, Column]:
    from pyspark.sql import functions as sf

    return sf.col("low").cast("long").alias("a"), sf.col("high").cast("long").alias("b")


def _components(ground: Ground) -> Figures:
    """Count the components of topics and those of the overlay."""
    from pyspark.sql import functions as sf

    split, components = split_topics(ground, "measure: topic components")
    whole = None
    if ground.encoded.n_nodes <= ONE_TASK_NODES:
        all_ = _judged(ground).select(sf.array(sf.lit(0).cast("long")).alias("topics"), "node_id")
        one = ground.shared.select(sf.lit(0).cast("long").alias("topic"), *_ends())
        joined = judged_topics(all_, thinned_joins(one, BUCKET_ROWS, ground.n_edges), 1, 0)
        whole = totals_of(ground.run(joined, "measure: overlay components"))[2]
    return {
        "topic_components": components,
        "topics_partitioned": split,
        "topic_connected": split == 0,
        "overlay_components": whole,
    }


def _histogram(ground: Ground, values: DataFrame) -> tuple[Longs, Longs]:
    """Return the values that occur, ascending, and how often."""
    found = ground.run(values.groupBy("value").count().orderBy("value"))
    value, count = (np.asarray(found[name].to_numpy(), np.int64) for name in ("value", "count"))
    return value, count


def percentiles_of(values: Longs, counts: Longs) -> dict[str, float]:
    """Return what `measures.degree.percentiles` returns of values that occur so often.

    >>> percentiles_of(np.array([1, 2, 9]), np.array([2, 1, 1]))
    {'min': 1.0, '50': 1.0, '90': 9.0, '99': 9.0}
    """
    if not len(values):
        return {"min": 0.0, **{str(percent): 0.0 for percent in PERCENTILES}}
    seen, total = 100 * np.cumsum(counts), int(counts.sum())
    at = {str(percent): int(np.searchsorted(seen, percent * total)) for percent in PERCENTILES}
    return {"min": float(values[0])} | {name: float(values[place]) for name, place in at.items()}


def _disc(column: str, percent: int) -> Column:
    from pyspark.sql import functions as sf

    return sf.expr(f"percentile_disc({percent / 100}) within group (order by {column})")
