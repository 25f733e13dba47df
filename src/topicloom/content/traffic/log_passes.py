"""The two passes over a publication log, as they run on a share of its rows, on Spark or in this process.

The first pass finds the publishers, the log's span and the number of messages in every part of every
attribute, from which the channels are made. The second counts per (publisher, channel), the paper's
`summarize` [Zhao2011, V]. Nothing is ever kept per pair of users.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Floats, Longs
from topicloom.content.traffic.channels import ChannelGrid
from topicloom.errors import InputError

_ROWS_AT_ONCE = 1_000_000
_KEYS_AT_ONCE = 8_000_000
_WHO, _WHEN = -1, -2


@dataclass(frozen=True, slots=True, eq=False)
class LogSummary:
    """What the first pass found; `messages` are counts by part for every attribute, publishers are sorted."""

    publishers: pa.StringArray
    rows: int
    first: float
    last: float
    messages: tuple[Longs, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MessageCounts:
    """What the second pass found: `n[k]` messages of `publisher[k]` on `channel[k]`, sorted by both."""

    publisher: Longs
    channel: Longs
    n: Longs


@dataclass(frozen=True, slots=True, eq=False)
class MessageKeys:
    """One number for each (publisher, channel), by which messages are counted."""

    publishers: pa.StringArray
    grid: ChannelGrid

    def count(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count one partition's rows per key; yield the counts whenever there are many."""
        counts = nothing = pa.table({"key": np.zeros(0, np.int64), "n": np.zeros(0, np.int64)})
        for table in _gathered(batches):
            channel = self.grid.channel_of([column.to_numpy() for column in table.columns[1:]])
            inside = channel >= 0
            who = pc.index_in(table.column(0), value_set=self.publishers)
            if who.null_count:
                raise InputError("the log changed while it was read: there are new publishers")
            key = who.to_numpy().astype(np.int64) * self.grid.n_channels + channel
            new, n = np.unique(key[inside], return_counts=True)
            counts = pa.concat_tables([counts, pa.table({"key": new, "n": n})])
            counts = counts.group_by("key", use_threads=False).aggregate([("n", "sum")])
            counts = counts.select(["key", "n_sum"]).rename_columns(["key", "n"])
            if counts.num_rows > _KEYS_AT_ONCE:
                yield from counts.to_batches(max_chunksize=100_000)
                counts = nothing
        yield from counts.to_batches(max_chunksize=100_000)

    def read(self, table: pa.Table) -> MessageCounts:
        """Return the counts of a table of keys, each once."""
        key, n = table.column("key").to_numpy(), table.column("n").to_numpy()
        order = np.argsort(key)
        publisher, channel = np.divmod(key[order], self.grid.n_channels)
        return MessageCounts(publisher, channel, n[order])


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


def look(edges: Sequence[Floats], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what the first pass finds in one partition: counts by part, publishers, the span of time."""
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


def summed_up(found: pa.Table, edges: Sequence[Floats]) -> LogSummary:
    """Return what the rows of all partitions amount to, each kind, name and part once."""
    kind, count = found.column("kind").to_numpy(), found.column("n").to_numpy()
    messages = []
    for k, edge in enumerate(edges):
        counts = np.zeros(len(edge) - 1, np.int64)
        here = kind == k
        counts[found.column("part").to_numpy()[here]] = count[here]
        messages.append(counts)
    names = found.column("name").filter(pa.array(kind == _WHO)).combine_chunks()
    when = np.flatnonzero(kind == _WHEN)
    if not len(when):
        return LogSummary(pa.array([], pa.string()), 0, 0.0, 0.0, tuple(messages))
    low, high = (found.column(name)[int(when[0])].as_py() for name in ("low", "high"))
    return LogSummary(names.sort(), int(count[when[0]]), low, high, tuple(messages))


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
