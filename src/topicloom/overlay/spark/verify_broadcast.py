"""The judge's first path: the interest goes to every task, edges stay where they are.

Each slice of edges sends on only the joins that its own spanning forest of each topic needs; those meet
per bucket of topics in a second union-find. Slots (`judge_union_find.py`) make a bucket a plain range.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Ints, Longs
from topicloom.base.progress import check_stop
from topicloom.overlay.kernels.judge_union_find import fresh_slots, join_edges, join_pairs
from topicloom.overlay.measures.connectivity import (
    EDGE_COUNTS,
    N_NAMES,
    components_of,
    node_codes,
    sound_edges,
)
from topicloom.overlay.measures.judge_tables import NumberedPairs
from topicloom.overlay.spark.verify_findings import (
    FOUND_SCHEMA,
    NOTE,
    Findings,
    JudgeTask,
    column,
    findings,
    found_batch,
    note_batch,
    witness_table,
    worst_first,
)
from topicloom.tables.spark.python_tasks import map_batches

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame


SLICE_EDGES = 2_000_000
# About how many edges and slots one task looks at; the verdict does not depend on them.
BUCKET_SLOTS = 4_000_000
_EDGES_ARROW = pa.schema([("u", pa.string()), ("v", pa.string())])
JOIN_SCHEMA = "bucket int, a int, b int, note string"
_JOIN_ARROW = pa.schema([("bucket", pa.int32()), ("a", pa.int32()), ("b", pa.int32()), ("note", pa.string())])


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """The interest as every task needs it: topics and slots by node, and where each bucket begins."""

    node_ids: pa.StringArray
    node_ptr: Longs
    node_topics: Ints
    slots: Ints
    bucket_slots: Longs


def find_broadcast(task: JudgeTask) -> Findings:
    """Judge the edges with the interest in every task."""
    spark = task.spark
    pairs = task.run(task.interest.toArrow, "verify: read interest")
    known = NumberedPairs.of(pairs)
    topic_ids, topic_ptr, topic_nodes = known.topic_ids, known.topic_ptr, known.topic_nodes
    del pairs
    check_stop(task.progress)
    buckets = _cut(topic_ptr, max(spark.sparkContext.defaultParallelism, len(topic_nodes) // BUCKET_SLOTS))
    slots = Slots(known.node_ids, known.node_ptr, known.node_topics, known.slots, topic_ptr[buckets])
    _warm()
    broadcast = spark.sparkContext.broadcast(slots)
    try:
        table = _found(task, broadcast, buckets, topic_ptr)
        found = task.run(table.toArrow, "verify: join edges")
    finally:
        broadcast.destroy()
    rows = worst_first(found, task.keep)
    ends = (slots.node_ids.take(pa.array(topic_nodes[column(rows, name)])) for name in ("first", "second"))
    notes = [json.loads(note) for note in found["note"].drop_null().to_pylist()]
    counts = {name: sum(note["counts"][name] for note in notes) for name in EDGE_COUNTS}
    names = {name for note in notes for name in note["names"]}
    return findings(found, counts, names, witness_table(rows, topic_ids.take(rows["topic"]), *ends))


def _cut(topic_ptr: Longs, n_buckets: int) -> Longs:
    """Cut the topics into buckets of about equally many slots: their first topics, and the end."""
    n_topics = len(topic_ptr) - 1
    cuts = np.searchsorted(topic_ptr, np.linspace(0, topic_ptr[-1], n_buckets + 1)[1:-1])
    return np.unique(np.concatenate(([0], np.minimum(cuts, n_topics), [n_topics]))).astype(np.int64)


def _warm() -> None:
    """Compile the kernels here, once, rather than in every fresh worker at the same time."""
    none, alone = np.empty(0, dtype=np.int32), fresh_slots(1)
    join_edges(none, none, np.zeros(2, dtype=np.int64), none, none, alone, keep=True)
    join_pairs(none, none, alone)
    components_of(np.array([0, 1]), alone, keep=0)


# --- the tasks -----------------------------------------------------------------------------------------


def _found(task: JudgeTask, broadcast: Broadcast[Slots], buckets: Longs, topic_ptr: Longs) -> DataFrame:
    from pyspark.sql import functions as fn

    spark, keep = task.spark, task.keep  # the task itself cannot travel to the workers
    parallelism = spark.sparkContext.defaultParallelism
    n_buckets = max(len(buckets) - 1, 1)

    def forests(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from _forest_of_slice(pa.Table.from_batches(batches, _EDGES_ARROW), broadcast.value)

    def judge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from _judge_buckets(pa.Table.from_batches(batches, _JOIN_ARROW), buckets, topic_ptr, keep)

    # Both directions of a pair fall into one slice, so a slice can tell repeats by itself.
    pair = (fn.least("u", "v"), fn.greatest("u", "v"))
    slices = map_batches(task.edges.repartition(parallelism, *pair), forests, JOIN_SCHEMA)
    # One row per bucket, so that topics no edge touches are judged as well.
    numbers = spark.range(n_buckets).selectExpr(
        "cast(id as int) bucket", "cast(-1 as int) a", "cast(-1 as int) b", "cast(null as string) note"
    )
    joins = slices.unionByName(numbers)
    return map_batches(joins.repartition(min(n_buckets, 4 * parallelism), "bucket"), judge, FOUND_SCHEMA)


def _forest_of_slice(edges: pa.Table, interest: Slots) -> Iterator[pa.RecordBatch]:
    n = len(edges)
    names = pa.chunked_array([*edges["u"].chunks, *edges["v"].chunks], pa.string())
    codes = node_codes(names, interest.node_ids)
    sound = sound_edges(codes[:n], codes[n:], len(interest.node_ids))
    unknown = pc.unique(names.filter(pa.array(codes < 0))).drop_null().to_pylist()
    note = json.dumps({"counts": sound.counts(), "names": sorted(unknown)[:N_NAMES]})
    yield pa.RecordBatch.from_pylist([{"bucket": NOTE, "a": -1, "b": -1, "note": note}], schema=_JOIN_ARROW)
    if not len(sound.low):
        return
    parent = fresh_slots(len(interest.slots))
    lists = interest.node_ptr, interest.node_topics, interest.slots
    for start in range(0, len(sound.low), SLICE_EDGES):
        part = slice(start, start + SLICE_EDGES)
        a, b = join_edges(sound.low[part], sound.high[part], *lists, parent, keep=True)
        bucket = np.searchsorted(interest.bucket_slots, a, side="right").astype(np.int32) - 1
        columns = [pa.array(bucket), pa.array(a), pa.array(b), pa.nulls(len(a), pa.string())]
        yield pa.RecordBatch.from_arrays(columns, schema=_JOIN_ARROW)


def _judge_buckets(
    joins: pa.Table, buckets: Longs, topic_ptr: Longs, keep: int | None
) -> Iterator[pa.RecordBatch]:
    yield note_batch(joins["note"].drop_null().to_pylist())
    joins = joins.select(["bucket", "a", "b"])
    bucket = column(joins, "bucket")
    a, b = column(joins, "a"), column(joins, "b")
    for number in np.unique(bucket[(bucket >= 0) & (bucket < len(buckets) - 1)]).tolist():
        topics = slice(buckets[number], buckets[number + 1] + 1)
        first_slot = int(topic_ptr[buckets[number]])
        mine = (bucket == number) & (a >= 0)
        parent = fresh_slots(int(topic_ptr[buckets[number + 1]]) - first_slot)
        join_pairs(a[mine] - np.int32(first_slot), b[mine] - np.int32(first_slot), parent)
        found = components_of(
            topic_ptr[topics] - first_slot, parent, keep=keep, first_topic=int(buckets[number])
        )
        yield found_batch(found, lambda slot, first=first_slot: slot + first)  # type: ignore[misc]
