"""A publication log on Spark: how many messages fall where, and who published them.

There are two passes. The first finds the publishers, the log's span and the number of messages in every part
of every attribute, from which the driver makes the channels. The second counts per (publisher, channel), the
paper's `summarize` [Zhao2011, V]. Nothing is ever kept per pair of users. Where deliveries are compared with
subscriptions, a sample of the messages is matched one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from topicloom.base.arrays import Floats, Longs
from topicloom.base.progress import SILENT, Progress
from topicloom.content.traffic.channels import ChannelGrid
from topicloom.errors import InputError
from topicloom.tables.records import Field
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.python_tasks import map_batches
from topicloom.tables.spark.raw_table import RawTable, quoted_name
from topicloom.tables.spark.step_tables import StepTables

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import Column, DataFrame

PUBLISHER, TIME = "publisher", "time"
COUNTS = "counts"

SAMPLE_ROWS = 20_000  # about the number of messages that are matched one by one
_ROWS_AT_ONCE = 1_000_000
_KEYS_AT_ONCE = 8_000_000


def log_columns(attributes: Sequence[str], subscriptions: str) -> list[Field]:
    """Return the columns that a log must have for these subscriptions."""
    note = f", an attribute in {subscriptions}"
    return [Field(PUBLISHER), Field(TIME, "time"), *(Field(name, "number", note) for name in attributes)]


@dataclass(frozen=True, slots=True, eq=False)
class LogSummary:
    """What the first pass found; `messages` are counts by part for every attribute, publishers are sorted."""

    publishers: pa.StringArray
    rows: int
    first: float
    last: float
    messages: tuple[Longs, ...]


def summarise_log(
    raw: RawTable, attributes: Sequence[str], edges: Sequence[Floats], *, progress: Progress = SILENT
) -> LogSummary:
    """Make the first pass; part x of attribute k is [edges[k][x], edges[k][x + 1])."""
    from pyspark.sql import functions as sf

    spark = raw.rows.sparkSession
    shared = spark.sparkContext.broadcast([np.ascontiguousarray(edge) for edge in edges])
    picked = picked_columns(raw, attributes)
    schema = "kind int, name string, part long, n long, low double, high double"
    found = map_batches(picked, partial(_look, shared), schema)
    gathered = found.groupBy("kind", "name", "part").agg(
        sf.sum("n").alias("n"), sf.min("low").alias("low"), sf.max("high").alias("high")
    )
    with spark_errors(raw.source.path):
        table = run_watched(spark, gathered.toArrow, progress=progress, phase="read log", stages=1)
    shared.unpersist()
    kind, count = table.column("kind").to_numpy(), table.column("n").to_numpy()
    messages = []
    for k, edge in enumerate(edges):
        counts = np.zeros(len(edge) - 1, np.int64)
        here = kind == k
        counts[table.column("part").to_numpy()[here]] = count[here]
        messages.append(counts)
    names = table.column("name").filter(pa.array(kind == _WHO)).combine_chunks()
    when = np.flatnonzero(kind == _WHEN)
    if not len(when):
        return LogSummary(pa.array([], pa.string()), 0, 0.0, 0.0, tuple(messages))
    low, high = (table.column(name)[int(when[0])].as_py() for name in ("low", "high"))
    return LogSummary(names.sort(), int(count[when[0]]), low, high, tuple(messages))


_WHO, _WHEN = -1, -2


def picked_columns(raw: RawTable, attributes: Sequence[str]) -> DataFrame:
    """Return publisher, time and the attributes in this order, under names that cannot clash."""
    from pyspark.sql import functions as sf

    names = (PUBLISHER, TIME, *attributes)
    return raw.rows.select(*[sf.col(quoted_name(name)).alias(f"c{k}") for k, name in enumerate(names)])


def _gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Join batches into larger tables: work per table then costs less per row."""
    some: list[pa.RecordBatch] = []
    for batch in batches:
        some.append(batch)
        if sum(one.num_rows for one in some) >= _ROWS_AT_ONCE:
            yield pa.Table.from_batches(some)
            some = []
    if some:
        yield pa.Table.from_batches(some)


def _look(shared: Broadcast[list[Floats]], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    edges = shared.value
    who: pa.Array = pa.array([], pa.string())
    counts = [np.zeros(len(edge) - 1, np.int64) for edge in edges]
    rows, low, high = 0, np.inf, -np.inf
    for table in _gathered(batches):
        if table.num_rows == 0:
            continue
        rows += table.num_rows
        who = pc.unique(pa.concat_arrays([who, pc.unique(table.column(0))]))
        time = table.column(1).to_numpy()
        low, high = min(low, float(time.min())), max(high, float(time.max()))
        for k, edge in enumerate(edges):
            part = np.searchsorted(edge, table.column(2 + k).to_numpy(), side="right") - 1
            inside = (part >= 0) & (part < len(edge) - 1)
            counts[k] += np.bincount(part[inside], minlength=len(edge) - 1)
    if rows == 0:
        return
    for k, count in enumerate(counts):
        there = np.flatnonzero(count)
        yield _facts(k, len(there), part=there, n=count[there])
    yield _facts(_WHO, len(who), name=who)
    yield _facts(_WHEN, 1, n=[rows], low=[low], high=[high])


def _facts(kind: int, size: int, **columns: Any) -> pa.RecordBatch:
    schema = pa.schema(
        [("kind", pa.int32()), ("name", pa.string()), ("part", pa.int64()), ("n", pa.int64()),
         ("low", pa.float64()), ("high", pa.float64())]
    )  # fmt: skip
    nothing = np.zeros(size, np.int64)
    given = {"kind": np.full(size, kind, np.int32), "part": nothing, "n": nothing, **columns}
    arrays = [
        pa.array(given[field.name], field.type) if field.name in given else pa.nulls(size, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@dataclass(frozen=True, slots=True, eq=False)
class MessageCounts:
    """What the second pass found: `n[k]` messages of `publisher[k]` on `channel[k]`, sorted by both."""

    publisher: Longs
    channel: Longs
    n: Longs


def count_messages(
    raw: RawTable, attributes: Sequence[str], publishers: pa.StringArray, grid: ChannelGrid, work: StepTables
) -> MessageCounts:
    """Make the second pass: count messages per (publisher, channel), through a table in `work`."""
    from pyspark.sql import functions as sf

    shared = raw.rows.sparkSession.sparkContext.broadcast((publishers, grid))
    picked = picked_columns(raw, attributes).drop("c1")
    keys = map_batches(picked, partial(_count, shared), "key long, n long")
    with spark_errors(raw.source.path):
        work.write("count messages", keys.groupBy("key").agg(sf.sum("n").alias("n")), COUNTS, stages=2)
    shared.unpersist()
    # One number per publisher and channel that occur: the planners hold as much in memory anyway.
    table = pq.read_table(work.path(COUNTS))
    key, n = table.column("key").to_numpy(), table.column("n").to_numpy()
    order = np.argsort(key)
    publisher, channel = np.divmod(key[order], grid.n_channels)
    return MessageCounts(publisher, channel, n[order])


def _count(
    shared: Broadcast[tuple[pa.StringArray, ChannelGrid]], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Count one partition's rows per key; yield the counts whenever there are many."""
    publishers, grid = shared.value
    counts = nothing = pa.table({"key": np.zeros(0, np.int64), "n": np.zeros(0, np.int64)})
    for table in _gathered(batches):
        channel = grid.channel_of([column.to_numpy() for column in table.columns[1:]])
        inside = channel >= 0
        who = pc.index_in(table.column(0), value_set=publishers)
        if who.null_count:
            raise InputError("the log changed while it was read: publishers are there that were not before")
        key = who.to_numpy().astype(np.int64) * grid.n_channels + channel
        new, n = np.unique(key[inside], return_counts=True)
        counts = pa.concat_tables([counts, pa.table({"key": new, "n": n})])
        counts = counts.group_by("key", use_threads=False).aggregate([("n", "sum")])
        counts = counts.select(["key", "n_sum"]).rename_columns(["key", "n"])
        if counts.num_rows > _KEYS_AT_ONCE:
            yield from counts.to_batches(max_chunksize=100_000)
            counts = nothing
    yield from counts.to_batches(max_chunksize=100_000)


@dataclass(frozen=True, slots=True, eq=False)
class MessageSample:
    """Some messages: `n[k]` of them have the values in row k."""

    values: Floats
    n: Longs


def sample_messages(
    raw: RawTable, attributes: Sequence[str], rows: int, *, progress: Progress = SILENT
) -> MessageSample:
    """Return about SAMPLE_ROWS messages, or all if there are no more.

    They are chosen by a hash of the message itself, so any partitioning and order of rows gives the same
    ones. Equal messages are then all in or all out, and of a log that repeats a few messages the sample might
    be empty or the whole log: there every message counts by its share, rounded up or down by a hash.
    """
    from pyspark.sql import functions as sf

    picked = picked_columns(raw, attributes)
    values = picked.columns[2:]
    every = -(-rows // SAMPLE_ROWS)

    def gather(some: DataFrame, count: Column) -> MessageSample:
        table = some.groupBy(*values).agg(count.cast("long").alias("n")).where("n > 0")
        with spark_errors(raw.source.path):
            found = run_watched(some.sparkSession, table.toArrow, progress=progress, phase="sample log")
        columns = [column.to_numpy() for column in found.columns]
        return MessageSample(np.column_stack(columns[:-1]), columns[-1])

    def draw(names: Sequence[str]) -> Column:
        return sf.pmod(sf.xxhash64(*names), sf.lit(every))

    count = sf.count(sf.lit(1))
    sample = gather(picked if every == 1 else picked.where(draw(picked.columns) == 0), count)
    if every == 1 or SAMPLE_ROWS // 2 <= sample.n.sum() <= 2 * SAMPLE_ROWS:
        return sample
    return gather(picked, sf.floor((count + draw(values)) / sf.lit(every)))
