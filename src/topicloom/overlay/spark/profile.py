"""Profile an interest of any size: what `measures/profile.py` says of one in memory, by jobs on tables.

How alike nodes are is measured on a sample of them, those with the smallest hashes of their names.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from topicloom.base.arrays import Longs
from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.measures.names import AlikeNames, plain_names
from topicloom.overlay.measures.profile import (
    TOP_TOPICS,
    Intersection,
    Profile,
    Spread,
    TopTopic,
    expected_degree,
)
from topicloom.overlay.measures.profile_advice import Default, advise
from topicloom.overlay.spark.builders import ring_table
from topicloom.overlay.spark.encode import EncodedInterest
from topicloom.overlay.spark.verify_bucketed import BUCKET_ROWS, judged_topics, totals_of
from topicloom.overlay.spark.verify_salted import thinned_joins
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.kept_tables import kept_tables
from topicloom.tables.spark.places import load_table
from topicloom.tables.spark.python_tasks import map_batches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame, SparkSession

ONE_TASK_NODES = 20_000_000  # up to so many names one task finds the components
TOO_MANY_NAMES = "one task would have to hold all nodes and topics"
SAMPLE_NODES, SAMPLE_LEAST = 200, 20
SAMPLE_ROWS = 20_000_000  # about how many rows the sample is joined with
SEED = 20  # of the sample


@dataclass(frozen=True, slots=True)
class CountedExtent:
    """What the time model of builders wants to know of an interest: the topics' sizes, in any order."""

    n_nodes: int
    n_subscriptions: int
    sizes: Longs

    def topic_sizes(self) -> Longs:
        return self.sizes


def extent_of(spark: SparkSession, encoded: EncodedInterest, *, progress: Progress = SILENT) -> CountedExtent:
    """Count the nodes that want each topic; the driver gets how often each count occurs."""
    from pyspark.sql import functions as sf

    topics = load_table(spark, encoded.pairs).groupBy("topic").agg(sf.count(sf.lit(1)).alias("size"))
    values, counts = _histogram(topics, progress)
    return CountedExtent(encoded.n_nodes, encoded.n_subscriptions, np.repeat(values, counts))


def profile_encoded(
    spark: SparkSession,
    encoded: EncodedInterest,
    *,
    default: Default | None = None,
    progress: Progress = SILENT,
) -> Profile:
    """Measure an encoded interest: the figures of `profile_interest`, those about alike nodes by a sample.

    `components` is None where one task could not hold all names.
    """
    from pyspark.sql import functions as sf

    with kept_tables(progress) as tables:
        pairs = load_table(spark, encoded.pairs).select("node", "topic")
        topics = tables.keep("inspect: topics", pairs.groupBy("topic").agg(sf.count(sf.lit(1)).alias("n")))
        lists = pairs.groupBy("node").agg(sf.sort_array(sf.collect_list("topic")).alias("topics"))
        lists = tables.keep("inspect: nodes", lists)
        run = partial(_first, progress)
        twins = lists.groupBy("topics").agg(sf.count(sf.lit(1)).alias("n")).where("n > 1")
        squares = topics.agg(sf.sum(sf.col("n").cast("double") * sf.col("n")).alias("rows"))
        joined = Profile(
            nodes=encoded.n_nodes,
            topics=encoded.n_topics,
            subscriptions=encoded.n_subscriptions,
            subscription_size=_spread(lists, progress),
            topics_single=int(run(topics.where("n = 1").agg(sf.count(sf.lit(1)).alias("n")))["n"]),
            components=count_components(spark, encoded, progress=progress),
            identical_share=float(run(twins.agg(sf.sum("n").alias("n")))["n"] or 0) / max(encoded.n_nodes, 1),
            top_topics=_top_topics(spark, encoded, topics, progress),
            alike=_alike(spark, encoded, lists, pairs, float(run(squares)["rows"] or 0), progress),
            ring_degree_avg=_ring_degree(encoded, pairs, progress),
            expected_degree_avg=0.0,
        )
    found = replace(joined, expected_degree_avg=expected_degree(joined))
    return replace(found, advice=advise(found, default))


def _first(progress: Progress, frame: DataFrame, phase: str | None = None) -> dict[str, Any]:
    """Return the first row of a small frame."""
    found = run_watched(frame.sparkSession, frame.toArrow, progress=progress, phase=phase)
    row: dict[str, Any] = found.to_pylist()[0]
    return row


def _spread(lists: DataFrame, progress: Progress) -> Spread:
    """Return the spread of list lengths; their histogram is short."""
    from pyspark.sql import functions as sf

    size, count = _histogram(lists.select(sf.size("topics").alias("size")), progress)
    if not len(size):
        return Spread()
    seen, total = np.cumsum(count), int(count.sum())
    places = ((total - 1) // 2, total // 2)
    middle = [int(size[np.searchsorted(seen, place, side="right")]) for place in places]
    return Spread(int(size[0]), float((size * count).sum() / total), sum(middle) / 2, int(size[-1]))


def _histogram(sizes: DataFrame, progress: Progress) -> tuple[Longs, Longs]:
    """Return the values of a column `size`, ascending, and how often each occurs."""
    counted = sizes.groupBy("size").count().orderBy("size")
    found = run_watched(sizes.sparkSession, counted.toArrow, progress=progress)
    size, count = (found[name].to_numpy().astype(np.int64) for name in ("size", "count"))
    return size, count


def count_components(
    spark: SparkSession, encoded: EncodedInterest, *, progress: Progress = SILENT
) -> int | None:
    """Count the components: nodes and topics are the nodes of one graph, subscriptions its edges.

    None where one task could not hold all of them.
    """
    from pyspark.sql import functions as sf

    n_names = encoded.n_nodes + encoded.n_topics
    if n_names > ONE_TASK_NODES:
        return None
    pairs = load_table(spark, encoded.pairs)
    one = sf.lit(0).cast("long")
    topic = sf.col("topic").cast("long") + sf.lit(encoded.n_nodes)
    ends = sf.col("node").cast("long").alias("a"), topic.alias("b")
    joins = thinned_joins(pairs.select(one.alias("topic"), *ends), BUCKET_ROWS, encoded.n_subscriptions)
    members = spark.range(n_names).select(sf.array(one).alias("topics"), sf.col("id").alias("node_id"))
    found = judged_topics(members, joins, 1, 0)
    table = run_watched(spark, found.toArrow, progress=progress, phase="inspect: components")
    return totals_of(table)[2]


def _top_topics(
    spark: SparkSession, encoded: EncodedInterest, topics: DataFrame, progress: Progress
) -> tuple[TopTopic, ...]:
    from pyspark.sql import functions as sf

    first = topics.orderBy(sf.desc("n"), "topic").limit(TOP_TOPICS)
    named = first.join(load_table(spark, encoded.topics).toDF("id", "topic"), "topic")
    rows = run_watched(spark, named.orderBy(sf.desc("n"), "topic").toArrow, progress=progress).to_pylist()
    return tuple(TopTopic(row["id"], row["n"], row["n"] / max(encoded.n_nodes, 1)) for row in rows)


def _ring_degree(encoded: EncodedInterest, pairs: DataFrame, progress: Progress) -> float:
    rings = ring_table(pairs, encoded.n_subscriptions, "id", 0)
    edges = run_watched(pairs.sparkSession, rings.count, progress=progress, phase="inspect: rings")
    return 2 * int(edges) / max(encoded.n_nodes, 1)


def _alike(
    spark: SparkSession,
    encoded: EncodedInterest,
    lists: DataFrame,
    pairs: DataFrame,
    rows: float,
    progress: Progress,
) -> Intersection:
    """Measure the top-d intersection of a sample of nodes; `rows` are subscribers squared, over topics."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sf

    n_nodes = encoded.n_nodes
    d = min(round(2 * encoded.n_subscriptions / max(n_nodes, 1)), n_nodes - 1)
    if d < 1:
        return Intersection(0.0, max(d, 0), 0, True, 0.0)
    size = min(max(int(SAMPLE_ROWS / max(rows / n_nodes, 1)), SAMPLE_LEAST), SAMPLE_NODES, n_nodes)
    names = load_table(spark, encoded.nodes).toDF("id", "node")
    chosen = names.orderBy(sf.xxhash64("id", sf.lit(SEED).cast("bigint")), "id").limit(size)
    mine = chosen.select("node").join(pairs, "node").toDF("mine", "topic")
    both = pairs.join(sf.broadcast(mine), "topic").where("node != mine")
    sizes = lists.select("node", sf.size("topics").alias("size"))
    counted = both.groupBy("mine", "node").agg(sf.count(sf.lit(1)).alias("both"))
    own = sizes.join(sf.broadcast(chosen), "node").selectExpr("node mine", "size own")
    wide = counted.join(sizes, "node").join(sf.broadcast(own), "mine")
    shared = wide.withColumn("share", sf.col("both") / sf.least("own", "size"))
    best = Window.partitionBy("mine").orderBy(sf.desc("share"), sf.desc("both"), "node")
    top = shared.withColumn("place", sf.row_number().over(best)).where(sf.col("place") <= d)
    total = top.agg(sf.sum("share").alias("share"), sf.sum("both").alias("both"))
    found = _first(progress, total, "inspect: alike nodes")
    return Intersection(
        intersection=100 * float(found["share"] or 0) / d / size,
        intersection_d=d,
        intersection_nodes=size,
        intersection_exact=size == n_nodes,
        shared_topics=float(found["both"] or 0) / d / size,
    )


# --- names ---------------------------------------------------------------------------------------------


def alike_names(spark: SparkSession, encoded: EncodedInterest, *, progress: Progress = SILENT) -> AlikeNames:
    """Count the names that differ from another one in writing only, as `find_alike` does."""
    from pyspark.sql import functions as sf

    counts: list[int] = []
    example: tuple[str, ...] = ()
    for table in (encoded.nodes, encoded.topics):
        names = map_batches(load_table(spark, table), _plain_batches, "plain string, number int, id string")
        groups = names.groupBy("plain").agg(sf.count(sf.lit(1)).alias("n"), sf.min("number").alias("first"))
        groups = groups.where("n > 1")
        total = _first(progress, groups.agg(sf.sum("n").alias("n")), "inspect: names")["n"] or 0
        counts.append(int(total))
        if total and not example:
            first = groups.orderBy("first").limit(1).select("plain")
            shown = names.join(sf.broadcast(first), "plain").orderBy("number").limit(2)
            rows = run_watched(spark, shown.toArrow, progress=progress).to_pylist()
            example = tuple(row["id"] for row in rows)
    return AlikeNames(counts[0], counts[1], example)


def _plain_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        ids = batch.column("id")
        columns = {"plain": plain_names(ids), "number": batch.column("number"), "id": ids}
        yield from pa.table(columns).to_batches()
