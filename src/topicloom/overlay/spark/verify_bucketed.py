"""The judge's second path, for an interest too large to send to every task: everything stays a table.

The topic lists of both ends of every edge are intersected, and the joins meet the subscriptions of their
topic in the task that judges it. The tables on the way stay with the executors: no folder is needed.
One task must hold the subscriptions of the largest topic and some joins of each: 24 bytes a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from topicloom.base.arrays import Longs, sorted_distinct
from topicloom.overlay.kernels.judge_union_find import fresh_slots, join_pairs
from topicloom.overlay.measures.connectivity import N_NAMES, components_of
from topicloom.overlay.model.verdict import Verdict
from topicloom.overlay.spark.verify_findings import Findings, JudgeTask, witness_table
from topicloom.overlay.spark.verify_salted import table_of, thinned_joins
from topicloom.tables.spark.kept_tables import KeptTables, kept_tables
from topicloom.tables.spark.python_tasks import map_batches
from topicloom.tables.spark.session import arrow_frame
from topicloom.tables.spark.step_tables import slices_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession


# About how many subscriptions and joins one task judges; the verdict does not depend on it.
BUCKET_ROWS = 2_000_000
MEMBER = -1  # in the column `b`: this row is a subscription of node `a`, not a join
# Every task sends home one row per split topic, and one of totals: `components`, `first` = topics,
# `second` = split.
TOTALS = -1  # in the column `topic`: this row holds totals
FOUND_SCHEMA = "topic long, components long, sizes array<long>, first long, second long"
_NUMBERS = [(name, pa.int64()) for name in ("topic", "components", "first", "second")]
_FOUND_ARROW = pa.schema([*_NUMBERS[:2], ("sizes", pa.list_(pa.int64())), *_NUMBERS[2:]])


def find_bucketed(task: JudgeTask) -> Findings:
    """Judge the edges table by table."""
    with kept_tables(task.progress) as tables:
        return _find(task, tables)


def _find(task: JudgeTask, tables: KeptTables) -> Findings:
    spark, run = task.spark, task.run
    topics = tables.keep("verify: topics", _numbered(task.interest.select("topic").distinct(), "topic"))
    nodes = tables.keep("verify: nodes", _topic_lists(task.interest, topics))
    joined = tables.keep("verify: edges", _common_topics(task.edges, nodes))
    counts = run(lambda: _count_rows(joined))
    subscriptions = run(lambda: _subscriptions(nodes))
    n_joins = counts.pop("joins")
    n_buckets = slices_of(subscriptions + n_joins, BUCKET_ROWS)
    joins = joined.where("common is not null").selectExpr("explode(common) topic", "a_id a", "b_id b")
    joins = run(lambda: thinned_joins(joins, BUCKET_ROWS, n_joins))
    table = judged_topics(nodes, joins, n_buckets, task.keep)
    found = run(table.toArrow, phase="verify: judge topics")
    names = run(lambda: _unknown_names(joined)) if counts["unknown_nodes"] else ()
    n_topics, split, components = totals_of(found)
    rows = _worst_first(found, task.keep)
    ends = pa.concat_arrays([rows[end].combine_chunks() for end in ("first", "second")])
    end_names = _names(spark, nodes, "node", ends)
    topic_names = _names(spark, topics, "topic", rows["topic"].combine_chunks())
    worst = witness_table(topic_names, rows["sizes"], end_names[: len(rows)], end_names[len(rows) :])
    verdict = Verdict(n_topics, split, components, **counts, unknown_names=names, subscriptions=subscriptions)
    return Findings(verdict, worst)


# --- the tables ----------------------------------------------------------------------------------------


def _numbered(table: DataFrame, name: str) -> DataFrame:
    """Add numbers that grow with the names' byte order (not dense: each partition has its own range)."""
    from pyspark.sql import functions as fn

    return table.orderBy(name).withColumn(f"{name}_id", fn.monotonically_increasing_id())


def _topic_lists(interest: DataFrame, topics: DataFrame) -> DataFrame:
    """Return one row per node: node, the set of its topics' numbers, its own number."""
    from pyspark.sql import functions as fn

    lists = interest.join(topics, "topic").groupBy("node").agg(fn.collect_set("topic_id").alias("topics"))
    return _numbered(lists, "node")


def _common_topics(edges: DataFrame, nodes: DataFrame) -> DataFrame:
    """Return one row per distinct pair: a_id, b_id (null: unknown), n rows, topics both want."""
    from pyspark.sql import functions as fn

    whole = fn.col("u").isNotNull() & fn.col("v").isNotNull()  # least and greatest would skip a null
    pairs = edges.select(
        fn.when(whole, fn.least("u", "v")).otherwise(fn.col("u")).alias("a"),
        fn.when(whole, fn.greatest("u", "v")).otherwise(fn.col("v")).alias("b"),
    )
    pairs = pairs.groupBy("a", "b").agg(fn.count(fn.lit(1)).alias("n"))
    left = nodes.select("node", "topics", "node_id").toDF("a", "a_topics", "a_id")
    right = nodes.select("node", "topics", "node_id").toDF("b", "b_topics", "b_id")
    joined = pairs.join(left, "a", "left").join(right, "b", "left")
    proper = fn.col("a_id") != fn.col("b_id")
    return joined.select(
        "n",
        "a_id",
        "b_id",
        fn.when(proper, fn.array_intersect("a_topics", "b_topics")).alias("common"),
        fn.when(fn.col("a_id").isNull(), fn.col("a")).alias("a_unknown"),
        fn.when(fn.col("b_id").isNull(), fn.col("b")).alias("b_unknown"),
    )


def _count_rows(joined: DataFrame) -> dict[str, int]:
    from pyspark.sql import functions as fn

    n = fn.col("n")
    known = fn.col("a_id").isNotNull() & fn.col("b_id").isNotNull()
    loop, proper = fn.col("a_id") == fn.col("b_id"), fn.col("a_id") != fn.col("b_id")
    row: Row | None = joined.agg(
        fn.sum(fn.when(proper, 1)).alias("edges"),
        fn.sum(fn.when(~known, n)).alias("unknown_nodes"),
        fn.sum(fn.when(loop, n)).alias("self_loops"),
        fn.sum(fn.when(proper, n - 1)).alias("duplicate_edges"),
        fn.sum(fn.when(proper, fn.size("common"))).alias("joins"),
    ).first()
    assert row is not None  # an aggregate without groups always has its one row
    return {name: value or 0 for name, value in row.asDict().items()}


def _subscriptions(nodes: DataFrame) -> int:
    from pyspark.sql import functions as fn

    row = nodes.agg(fn.sum(fn.size("topics"))).first()
    return int(row[0] or 0) if row is not None else 0


def _unknown_names(joined: DataFrame) -> tuple[str, ...]:
    names = joined.selectExpr("a_unknown name").union(joined.selectExpr("b_unknown name"))
    rows = names.where("name is not null").distinct().orderBy("name").limit(N_NAMES).collect()
    return tuple(row["name"] for row in rows)


# --- the tasks -----------------------------------------------------------------------------------------


def judged_topics(nodes: DataFrame, joins: DataFrame, n_buckets: int, keep: int | None) -> DataFrame:
    """Judge nodes (topics, node_id) and joins (topic, a, b) in so many tasks: see FOUND_SCHEMA."""
    members = nodes.selectExpr("explode(topics) topic", "node_id a", f"cast({MEMBER} as long) b")

    def judge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = table_of(batches)
        yield from _judge(_column(rows, "topic"), _column(rows, "a"), _column(rows, "b"), keep)

    return map_batches(members.unionByName(joins).repartition(n_buckets, "topic"), judge, FOUND_SCHEMA)


def totals_of(found: pa.Table) -> tuple[int, int, int]:
    """Return how many topics there are, how many are split, and all components, of judged topics."""
    totals = found.filter(pc.equal(found["topic"], TOTALS))
    topics, split, components = (
        int(pc.sum(totals[name]).as_py() or 0) for name in ("first", "second", "components")
    )
    return topics, split, components


def _judge(topic: Longs, a: Longs, b: Longs, keep: int | None) -> Iterator[pa.RecordBatch]:
    """Judge whole topics: give their subscriptions slots, join, and count."""
    member = b == MEMBER
    topics = sorted_distinct(topic[member])
    nodes = sorted_distinct(a[member])

    def keys(topic: Longs, node: Longs) -> Longs:
        return np.searchsorted(topics, topic) * np.int64(len(nodes)) + np.searchsorted(nodes, node)

    slots = np.sort(keys(topic[member], a[member]))
    topic, a, b = topic[~member], a[~member], b[~member]
    parent = fresh_slots(len(slots))
    first, second = (np.searchsorted(slots, keys(topic, end)).astype(np.int32) for end in (a, b))
    join_pairs(first, second, parent)
    topic_ptr = np.searchsorted(slots, np.arange(len(topics) + 1) * np.int64(len(nodes)))
    found = components_of(topic_ptr, parent, keep=keep)
    ends = [(one.first, one.second) for one in found.worst]
    named = nodes[slots[np.array(ends, np.int64).reshape(-1, 2)] % max(len(nodes), 1)]
    rows: dict[str, list[Any]] = {
        "topic": [TOTALS, *(topics[one.topic] for one in found.worst)],
        "components": [found.components, *(len(one.sizes) for one in found.worst)],
        "sizes": [[], *(one.sizes for one in found.worst)],
        "first": [found.topics, *named[:, 0]],
        "second": [found.split, *named[:, 1]],
    }
    yield pa.RecordBatch.from_pydict(rows, schema=_FOUND_ARROW)


def _worst_first(found: pa.Table, keep: int | None) -> pa.Table:
    """Return the rows of split topics, most components first, then by topic number."""
    rows = found.filter(pc.greater_equal(found["topic"], 0))
    order = pc.sort_indices(rows, sort_keys=[("components", "descending"), ("topic", "ascending")])
    return rows.take(order if keep is None else order.slice(0, keep))


def _names(spark: SparkSession, table: DataFrame, name: str, numbers: pa.Array) -> Any:
    """Return the names of some numbers, in their order."""
    if not len(numbers):
        return pa.array([], pa.string())
    wanted = arrow_frame(spark, pa.table({f"{name}_id": pc.unique(numbers)}))
    known = table.select(f"{name}_id", name).join(wanted, f"{name}_id").toArrow()
    return known[name].take(pc.index_in(numbers, value_set=known[f"{name}_id"])).combine_chunks()


def _column(table: pa.Table, name: str) -> NDArray[Any]:
    """Return a numeric column without nulls as one numpy array."""
    return np.asarray(table[name].combine_chunks().to_numpy(zero_copy_only=False))
