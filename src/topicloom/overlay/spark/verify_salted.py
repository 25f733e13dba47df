"""Large topics of the judge: their joins are dealt out to several tasks, and each keeps only a forest.

Joins of one topic that a task sees say which nodes belong together; a star for each such set says the same
with at most one row per node. So the task that judges a topic gets a few rows per subscriber, not all joins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Longs, sorted_distinct
from topicloom.overlay.kernels.judge_union_find import fresh_slots, join_pairs, settle
from topicloom.tables.spark.python_tasks import map_batches
from topicloom.tables.spark.step_tables import slices_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

JOIN_SCHEMA = "topic long, a long, b long"
JOIN_ARROW = pa.schema([(name, pa.int64()) for name in ("topic", "a", "b")])
AT_ONCE = 2_000_000  # joins that a task holds at a time, beside what those before have come to
FAN_IN = 4  # stars of so many tasks meet in one


def thinned_joins(joins: DataFrame, most: int, n_joins: int) -> DataFrame:
    """Return joins (topic, a, b) that connect the same, where a topic has more than `most` of them."""
    from pyspark.sql import functions as fn

    if n_joins <= most:
        return joins
    found = joins.groupBy("topic").count().where(fn.col("count") > most).collect()
    if not found:
        return joins
    large = fn.col("topic").isin([row["topic"] for row in found])
    thin, total = joins.where(large), sum(row["count"] for row in found)
    salts = slices_of(max(row["count"] for row in found), most)
    while salts > 1:
        salt = fn.pmod(fn.xxhash64("a", fn.lit(salts)), fn.lit(salts))
        dealt = thin.repartition(max(salts, slices_of(total, most)), "topic", salt)
        thin = map_batches(dealt, star_batches, JOIN_SCHEMA)
        salts //= FAN_IN
    return joins.where(~large).unionByName(thin)


def star_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Reduce the joins of one task, so many at a time: what they come to is a row per node and topic."""
    waiting: list[pa.RecordBatch] = []
    fresh = 0
    for batch in batches:
        waiting.append(batch)
        fresh += batch.num_rows
        if fresh >= AT_ONCE:
            waiting, fresh = _reduced(waiting), 0
    if waiting:
        yield from _reduced(waiting)


def _reduced(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    rows = table_of(batches)
    topic, a, b = stars(*(np.asarray(column.to_numpy()) for column in rows.columns))
    return list(pa.table([topic, a, b], schema=JOIN_ARROW).to_batches())


def table_of(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Return the joins of all batches; whether a column could hold nulls plays no part."""
    plain = [pa.RecordBatch.from_arrays(batch.columns, schema=JOIN_ARROW) for batch in batches]
    return pa.Table.from_batches(plain, JOIN_ARROW).combine_chunks()


def stars(topic: Longs, a: Longs, b: Longs) -> tuple[Longs, Longs, Longs]:
    """Return joins of every node to the first of its component: those connect what all joins connect.

    >>> one = np.array([0, 0, 0, 5], np.int64)
    >>> [list(map(int, found)) for found in stars(one, np.array([1, 2, 1, 1]), np.array([2, 3, 3, 3]))]
    [[0, 0, 5], [2, 3, 3], [1, 1, 1]]
    """
    topics, nodes = sorted_distinct(topic), sorted_distinct(np.concatenate([a, b]))
    width = np.int64(len(nodes))
    first, second = (np.searchsorted(topics, topic) * width + np.searchsorted(nodes, end) for end in (a, b))
    slots = sorted_distinct(np.concatenate([first, second]))
    parent = fresh_slots(len(slots))
    one, other = (np.searchsorted(slots, keys).astype(np.int32) for keys in (first, second))
    join_pairs(one, other, parent)
    settle(parent)
    joined = np.flatnonzero(parent != np.arange(len(parent)))
    return (
        topics[slots[joined] // width],
        nodes[slots[joined] % width],
        nodes[slots[parent[joined]] % width],
    )
