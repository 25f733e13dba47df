"""Diameters and hops of a sample of topics: one task holds the subscribers and edges of some of them.

The sample is that of the smallest hashes of topic names, so it depends on nothing else. With no more topics
than the sample holds, all figures are those of the local engine. With more, a mean of the sample is no bound
of the mean of all topics: it stands in `Sampled`, and the keys of what else is of the sample only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Floats
from topicloom.base.summaries import Figures, Summary
from topicloom.overlay.measures.diameter import NAMED, topic_diameter_bounds
from topicloom.overlay.measures.hops import EXACT_SUBSCRIBERS, hop_counts, mean_hops, moore_bound
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.tables.spark.places import load_table
from topicloom.tables.spark.python_tasks import map_batches

if TYPE_CHECKING:
    from topicloom.overlay.spark.measure import Ground

SAMPLE_TOPICS = 100
TASKS = 8
SEED = 20  # of the sample
SCHEMA = "topic int, subscribers long, lower long, upper long, hops array<double>"
_COUNTS = [(name, pa.int64()) for name in ("subscribers", "lower", "upper")]
_ARROW = pa.schema([("topic", pa.int32()), *_COUNTS, ("hops", pa.list_(pa.float64()))])
MEMBER = -1  # in the column `b`: this row is a subscription of node `a`, not an edge


OF_SAMPLE = ("diameter_topics_counted", "diameter_topics_exact", "hops_by_topic", "hops_mean", "hops_p95")


class Sampled(Summary, frozen=True):
    """How many topics were measured, of how many; the figures that are theirs alone; their mean diameter.

    Its bounds are null where none of them is connected.
    """

    topics: int
    of: int
    figures: tuple[str, ...]
    diameter_topic_avg_bounds: list[float | None]


@dataclass(frozen=True, slots=True)
class SampleMeasured:
    """Figures by key; why some are None; what was measured, if it is not all topics."""

    figures: Figures
    unknown: dict[str, str]
    sampled: Sampled | None


def measure_sample(ground: Ground, degree_max: int) -> SampleMeasured:
    """Measure the topics of the sample."""
    from pyspark.sql import functions as sf

    encoded = ground.encoded
    spark = ground.pairs.sparkSession
    names = load_table(spark, encoded.topics).toDF("id", "topic")
    chosen = names.orderBy(sf.xxhash64("id", sf.lit(SEED).cast("bigint")), "id").limit(SAMPLE_TOPICS)
    known = ground.run(chosen)
    sample = {row["topic"]: row["id"] for row in known.to_pylist()}
    wanted = sf.col("topic").isin(list(sample))
    members = ground.pairs.where(wanted).selectExpr("topic", "node a", f"cast({MEMBER} as int) b")
    edges = ground.shared.select(sf.explode("common").alias("topic"), "low", "high").where(wanted)
    rows = members.unionByName(edges.toDF("topic", "a", "b")).repartition(TASKS, "topic")
    task = partial(_measure_topics, n_subscriptions=encoded.n_subscriptions)
    found = ground.run(map_batches(rows, task, SCHEMA), "measure: sampled topics").sort_by("topic")
    sizes = ground.pairs.groupBy("topic").count()
    largest = sizes.agg(
        sf.max("count").alias("most"), sf.sum((sf.col("count") > EXACT_SUBSCRIBERS).cast("long")).alias("n")
    )
    large = ground.run(largest).to_pylist()[0]
    figures = _figures(found, sample)
    figures["hops_bound"] = moore_bound(int(large["most"] or 0), degree_max)
    figures["hops_sampled_topics"] = int(large["n"] or 0)
    if len(sample) == encoded.n_topics:
        return SampleMeasured(figures, {}, None)
    mean = figures["diameter_topic_avg_bounds"]
    figures["diameter_topic_max_bounds"] = [figures["diameter_topic_max_bounds"][0], None]
    hidden = ("diameter_topic_max", "diameter_topic_avg", "diameter_topic_avg_bounds")
    figures |= dict.fromkeys(hidden)
    unknown = dict.fromkeys(
        hidden, f"a sample of {len(sample):,} of {encoded.n_topics:,} topics was measured"
    )
    return SampleMeasured(figures, unknown, Sampled(len(sample), encoded.n_topics, OF_SAMPLE, mean))


def _figures(found: pa.Table, sample: dict[int, str]) -> Figures:
    """Return the figures of these topics."""
    counted = found.filter(pa.array(found["lower"].to_numpy() >= 0))
    lower, upper = (counted[name].to_numpy() for name in ("lower", "upper"))
    maximum: list[int | None] = [None, None]
    average: list[float | None] = [None, None]
    if len(lower):
        maximum = [int(lower.max()), int(upper.max())]
        average = [float(lower.mean()), float(upper.mean())]
    longest = np.argsort(-upper, kind="stable")[:NAMED]
    rows = counted.take(pa.array(longest)).to_pylist()
    weights = _summed([row["hops"] for row in found.to_pylist()])
    total = weights.sum()
    return {
        "diameter_topic_max": maximum[1],
        "diameter_topic_avg": average[1],
        "diameter_topic_max_bounds": maximum,
        "diameter_topic_avg_bounds": average,
        "diameter_topics_counted": len(lower),
        "diameter_topics_exact": int(np.count_nonzero(lower == upper)),
        "hops_by_topic": [
            {"topic": sample[row["topic"]], "subscribers": row["subscribers"], "hops": row["upper"]}
            for row in rows
        ],
        "hops_mean": mean_hops(weights) or 0.0,
        "hops_p95": int(np.searchsorted(np.cumsum(weights), 0.95 * total - 1e-9)) if total else 0,
    }


def _summed(hops: list[list[float]]) -> Floats:
    total = np.zeros(max(map(len, hops), default=0))
    for some in hops:
        total[: len(some)] += some
    return total


def _measure_topics(batches: Iterable[pa.RecordBatch], *, n_subscriptions: int) -> Iterator[pa.RecordBatch]:
    """Measure the topics of one task: rows of members and of edges in, a row for each topic out."""
    some = [batch for batch in batches if batch.num_rows]
    if not some:
        return
    rows = pa.Table.from_batches(some)
    topic, a, b = (rows[name].to_numpy() for name in ("topic", "a", "b"))
    member = b == MEMBER
    topics, of = np.unique(topic[member], return_inverse=True)
    nodes, node = np.unique(a[member], return_inverse=True)
    interest = Interest.from_codes(_names(nodes), _names(topics), node, of)
    ends = (np.searchsorted(nodes, end[~member]) for end in (a, b))
    view = view_of(interest, Overlay.from_edges(interest.node_ids, *ends), threads=1)
    lower, upper = topic_diameter_bounds(view, n_subscriptions)
    counts = hop_counts(view)
    columns: dict[str, Any] = {
        "topic": topics.astype(np.int32),
        "subscribers": interest.topic_sizes(),
        "lower": lower,
        "upper": upper,
        "hops": [np.trim_zeros(row, "b") for row in counts],
    }
    yield from pa.table(columns, schema=_ARROW).to_batches()


def _names(numbers: Any) -> pa.StringArray:
    """Identifiers in the order of the numbers; nobody looks at them."""
    return pa.array([f"{number:010d}" for number in numbers], pa.string())
