"""The tables of a finished build, by identifier and in order, written by Spark: folders of part files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from topicloom.base.progress import Progress
from topicloom.overlay.model.build_folder import EDGES, INTEREST
from topicloom.overlay.model.run import TablesOnly
from topicloom.overlay.spark.encode import EncodedInterest
from topicloom.tables.records import ROLES
from topicloom.tables.spark.places import load_table
from topicloom.tables.spark.step_tables import StepTables, fits_broadcast

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def write_build(
    spark: SparkSession,
    encoded: EncodedInterest,
    edges: Sequence[str],
    folder: str,
    *,
    progress: Progress,
) -> TablesOnly:
    """Write edges.parquet (u, v) and interest.parquet (node, topic, maybe role and rate) into `folder`.

    Numbers follow the byte order of identifiers, so sorting by number sorts by identifier.
    """
    from pyspark.sql import functions as sf

    work = StepTables(spark, folder, progress)
    node_fits = fits_broadcast(encoded.n_nodes, encoded.node_bytes)
    ends = load_table(spark, edges[0])
    for more in edges[1:]:
        ends = ends.union(load_table(spark, more))
    ends = ends.select(sf.least("u", "v").alias("low"), sf.greatest("u", "v").alias("high"))
    named = _named(spark, encoded.nodes, node_fits, ends, "low", "u")
    named = _named(spark, encoded.nodes, node_fits, named, "high", "v")
    work.write("write edges", named.orderBy("low", "high").select("u", "v"), EDGES, stages=2)
    named = named_pairs(spark, encoded)
    ordered = named.orderBy("node_number", "topic_number").drop("node_number", "topic_number")
    work.write("write interest", ordered, INTEREST, stages=2)
    return TablesOnly()


def named_pairs(spark: SparkSession, encoded: EncodedInterest) -> DataFrame:
    """Return an interest: node, topic, their numbers, and role and rate where it has them."""
    from pyspark.sql import functions as sf

    node_fits = fits_broadcast(encoded.n_nodes, encoded.node_bytes)
    topic_fits = fits_broadcast(encoded.n_topics, encoded.topic_bytes)
    pairs = load_table(spark, encoded.pairs)
    pairs = pairs.withColumnsRenamed({"node": "node_number", "topic": "topic_number"})
    named = _named(spark, encoded.nodes, node_fits, pairs, "node_number", "node")
    named = _named(spark, encoded.topics, topic_fits, named, "topic_number", "topic")
    columns = ["node", "topic", "node_number", "topic_number"]
    if "role" in pairs.columns:
        named = named.withColumn("role", sf.array(*map(sf.lit, ROLES))[sf.col("role").cast("int")])
        columns.append("role")
    if "rate" in pairs.columns:
        named = named.withColumn("rate", sf.nanvl("rate", sf.lit(None).cast("double")))
        columns.append("rate")
    return named.select(*columns)


def _named(
    spark: SparkSession, dictionary: str, fits: bool, table: DataFrame, number: str, name: str
) -> DataFrame:
    """`table` with a column `name`: the identifier of column `number`; `fits` into a broadcast or not."""
    from pyspark.sql import functions as sf

    ids = load_table(spark, dictionary).toDF(name, number)
    return table.join(sf.broadcast(ids) if fits else ids, number)
