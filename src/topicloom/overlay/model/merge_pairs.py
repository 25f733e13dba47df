"""Rows of the same pair become one: what Spark's workers do to a partition, and the driver to a small table.

Roles are bits meanwhile (1 sub, 2 pub), so that merging is a bitwise or; of several rates the largest wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.overlay.model.interest import Interest, number_identifiers
from topicloom.tables.records import ROLES

BATCH_ROWS = 100_000  # how many rows a worker hands back at once


def merge_pairs(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Sort the rows of one partition, each pair once; roles come as bits, leave as positions in ROLES."""
    some = list(batches)
    if sum(batch.num_rows for batch in some) == 0:
        return
    table = pa.Table.from_batches(some)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    keys = columns["node"].astype(np.int64) << 32 | columns["topic"]
    extras = [name for name in ("role", "rate") if name in columns]
    order = np.argsort(keys, kind="stable") if extras else None
    keys = np.sort(keys) if order is None else keys[order]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    keys = keys[starts]
    merged = {"node": (keys >> 32).astype(np.int32), "topic": (keys & 0xFFFFFFFF).astype(np.int32)}
    if "role" in extras:
        merged["role"] = np.bitwise_or.reduceat(columns["role"][order], starts) - np.int8(1)
    if "rate" in extras:
        merged["rate"] = np.fmax.reduceat(columns["rate"][order], starts)
    yield from pa.table(merged).to_batches(max_chunksize=BATCH_ROWS)


def number_small(table: pa.Table, extras: Sequence[str]) -> Interest:
    """Number the rows (node, topic and the `extras` among role and rate) in memory."""
    node_ids, nodes = number_identifiers(table["node"])
    topic_ids, topics = number_identifiers(table["topic"])
    columns: dict[str, Any] = {"node": nodes, "topic": topics}
    if "role" in extras:
        # A row without a role is a subscription.
        places = pc.fill_null(pc.index_in(table["role"], value_set=pa.array(ROLES)), 0)
        columns["role"] = (np.asarray(places.to_numpy()) + 1).astype(np.int8)
    if "rate" in extras:
        columns["rate"] = np.asarray(table["rate"].to_numpy(), dtype=np.float64)
    pairs = pa.Table.from_batches(list(merge_pairs(iter(pa.table(columns).to_batches()))))
    return Interest.from_codes(
        node_ids,
        topic_ids,
        pairs["node"].to_numpy(),
        pairs["topic"].to_numpy(),
        pairs["role"].to_numpy().astype(np.uint8) if "role" in extras else None,
        pairs["rate"].to_numpy() if "rate" in extras else None,
    )
