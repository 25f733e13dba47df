"""A publication log in this process: the passes of `log_passes.py` over rows in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Bools, Floats, Longs, Words
from topicloom.base.kernels.hashing import SPARK_SEED, hash_numbers, hash_strings
from topicloom.base.progress import SILENT, Progress
from topicloom.content.traffic.log_passes import LogSummary, MessageCounts, MessageKeys, look, summed_up
from topicloom.content.traffic.publication_log import PUBLISHER, TIME, MessageSample, enough, sample_every
from topicloom.tables.local.table import LocalTable


@dataclass(frozen=True, slots=True, eq=False)
class LocalLog:
    """A log in memory."""

    raw: LocalTable

    def summarise(
        self, attributes: Sequence[str], edges: Sequence[Floats], *, progress: Progress = SILENT
    ) -> LogSummary:
        """Make the first pass."""
        progress.phase("read log")
        batches = self._columns((PUBLISHER, TIME, *attributes)).to_batches()
        found = list(look(edges, iter(batches)))
        if not found:
            nothing = tuple(np.zeros(len(edge) - 1, np.int64) for edge in edges)
            return LogSummary(pa.array([], pa.string()), 0, 0.0, 0.0, nothing)
        return summed_up(pa.Table.from_batches(found), edges)

    def count(
        self, attributes: Sequence[str], keys: MessageKeys, *, progress: Progress = SILENT
    ) -> MessageCounts:
        """Make the second pass."""
        progress.phase("count messages")
        batches = self._columns((PUBLISHER, *attributes)).to_batches()
        schema = pa.schema([("key", pa.int64()), ("n", pa.int64())])
        found = pa.Table.from_batches(keys.count(iter(batches)), schema)
        summed = found.group_by("key").aggregate([("n", "sum")]).rename_columns(["key", "n"])
        return keys.read(summed)

    def sample(self, attributes: Sequence[str], rows: int, *, progress: Progress = SILENT) -> MessageSample:
        """Return some messages, the same ones as on Spark."""
        progress.phase("sample log")
        table = self._columns((PUBLISHER, TIME, *attributes))
        numbers = np.column_stack([column.to_numpy() for column in table.columns[1:]])
        every = sample_every(rows)
        if every == 1:
            return _gathered(numbers[:, 1:], np.ones(len(numbers), np.bool_))
        who = table.column(PUBLISHER).combine_chunks()
        drawn = _draw(hash_strings(who), numbers, every)
        sample = _gathered(numbers[:, 1:], drawn == 0)
        if enough(sample):
            return sample
        every_one = _gathered(numbers[:, 1:], np.ones(len(numbers), np.bool_))
        seeds = np.full(len(every_one.n), SPARK_SEED, np.uint64)
        n = (every_one.n + _draw(seeds, every_one.values, every)) // every
        return MessageSample(every_one.values[n > 0], n[n > 0])

    def _columns(self, names: Sequence[str]) -> pa.Table:
        """Return columns in this order, under names that cannot clash."""
        return self.raw.rows.select(list(names))


def _gathered(values: Floats, chosen: Bools) -> MessageSample:
    distinct, n = np.unique(values[chosen] + 0.0, axis=0, return_counts=True)
    return MessageSample(distinct, n.astype(np.int64))


def _draw(seeds: Words, numbers: Floats, every: int) -> Longs:
    """Return the hash of each row as a number below `every`."""
    for column in numbers.T:
        seeds = hash_numbers(np.ascontiguousarray(column + 0.0).view(np.int64), seeds)
    return seeds.view(np.int64) % every
