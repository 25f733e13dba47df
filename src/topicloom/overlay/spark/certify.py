"""Lower bounds that scale: for any topic-connected overlay, from what single nodes need.

A neighbor w of v serves at most min(|v|, |w|) of v's shared topics, where |v| counts the topics of v that
somebody else wants. So give each topic t of v the share 1 / min(|v|, M), M being the largest |w| among the
other nodes of t: a neighbor takes away at most 1 in all, and v needs at least the sum of its shares. Half
of what all nodes need bounds the edges; so does a tree in every component of the interest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.measures.bounds import gap
from topicloom.overlay.model.build import Certificate
from topicloom.overlay.spark.encode import EncodedInterest
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.places import load_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

METHOD = "needs of nodes, counted on Spark"
ROUNDING = 1e-9  # a sum of shares may be too large by this


def certify_by_nodes(
    spark: SparkSession,
    encoded: EncodedInterest,
    figures: Mapping[str, Any],
    *,
    components: int | None = None,
    progress: Progress = SILENT,
) -> Certificate:
    """Bound every topic-connected overlay of an encoded interest, and tell the gaps of the measured one."""
    edges_bound, degree_bound = bounds_by_nodes(spark, encoded, components=components, progress=progress)
    connected = figures["topic_connected"]
    return Certificate(
        edges_bound=edges_bound,
        degree_max_bound=degree_bound,
        gap=gap(figures["edges"], edges_bound) if connected else None,
        degree_max_gap=gap(figures["degree_max"], degree_bound) if connected else None,
        bound_method=METHOD,
    )


def bounds_by_nodes(
    spark: SparkSession,
    encoded: EncodedInterest,
    *,
    components: int | None = None,
    progress: Progress = SILENT,
) -> tuple[int, int]:
    """Return lower bounds on edges and on the maximum degree; `components` of the interest, where known."""
    from pyspark.sql import functions as sf

    pairs = load_table(spark, encoded.pairs).select("node", "topic")
    sizes = pairs.groupBy("topic").count().where("count > 1").select("topic")
    shared = pairs.join(sizes, "topic")
    wanted = shared.groupBy("node").agg(sf.count(sf.lit(1)).alias("own"))
    sized = shared.join(wanted, "node")
    # The largest of the others: the second largest where this node is the only largest one.
    largest = sized.groupBy("topic").agg(sf.max("own").alias("most"))
    marked = sized.join(largest, "topic")
    top = marked.groupBy("topic").agg(
        sf.first("most").alias("most"),
        sf.sum((sf.col("own") == sf.col("most")).cast("int")).alias("many"),
        sf.max(sf.when(sf.col("own") < sf.col("most"), sf.col("own"))).alias("second"),
    )
    alone = (sf.col("own") == sf.col("most")) & (sf.col("many") == 1)
    other = sf.when(alone, sf.col("second")).otherwise(sf.col("most"))
    shares = sized.join(top, "topic").select("node", (1.0 / sf.least("own", other)).alias("share"))
    needs = shares.groupBy("node").agg(sf.ceil(sf.sum("share") - ROUNDING).alias("need"))
    total = needs.agg(
        sf.sum("need").alias("all"), sf.max("need").alias("most"), sf.count(sf.lit(1)).alias("nodes")
    )
    row = run_watched(spark, total.toArrow, progress=progress, phase="bounds").to_pylist()[0]
    edges = -(-int(row["all"] or 0) // 2)
    if components is not None:  # nodes that share no topic are components of their own
        edges = max(edges, encoded.n_nodes - components)
    return edges, int(row["most"] or 0)
