"""What the two ways of verifying have in common: the rows tasks send home, and their summing up.

Every task that looks at whole topics sends one row of totals and one row per partitioned topic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from topicloom.overlay.measures.connectivity import Components

# In the column `topic`: this row holds totals (`components`, `first` = topics, `second` = partitioned).
TOTALS = -1
NOTE = -2  # in the column `topic`: this row only carries `note`, a text that an earlier stage sent along
FOUND_SCHEMA = "topic long, components long, sizes array<long>, first long, second long, note string"
_FOUND_ARROW = pa.schema(
    [
        ("topic", pa.int64()),
        ("components", pa.int64()),
        ("sizes", pa.list_(pa.int64())),
        ("first", pa.int64()),
        ("second", pa.int64()),
        ("note", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """All a verdict needs; `worst` has columns topic, component_sizes, nodes, worst topic first."""

    topics: int
    partitioned: int
    components: int
    edges: int
    unknown: int
    loops: int
    duplicates: int
    unknown_names: tuple[str, ...]
    worst: pa.Table


def found_batch(found: Components, name_slot: Callable[[int], int]) -> pa.RecordBatch:
    """One task's findings as rows; `name_slot` turns a slot into a number that the driver can name."""
    rows: dict[str, list[Any]] = {
        "topic": [TOTALS, *(one.topic for one in found.worst)],
        "components": [found.components, *(len(one.sizes) for one in found.worst)],
        "sizes": [[], *(one.sizes for one in found.worst)],
        "first": [found.topics, *(name_slot(one.first) for one in found.worst)],
        "second": [found.partitioned, *(name_slot(one.second) for one in found.worst)],
        "note": [None] * (len(found.worst) + 1),
    }
    return pa.RecordBatch.from_pydict(rows, schema=_FOUND_ARROW)


def note_batch(notes: list[str]) -> pa.RecordBatch:
    """Notes of an earlier stage as rows."""
    rows = [{"topic": NOTE, "note": note} for note in notes]
    return pa.RecordBatch.from_pylist(rows, schema=_FOUND_ARROW)


def totals(found: pa.Table) -> tuple[int, int, int]:
    """Topics, partitioned topics and components, summed over the rows of totals."""
    rows = found.filter(pc.equal(found["topic"], TOTALS))
    topics, partitioned, components = (
        pc.sum(rows[name]).as_py() or 0 for name in ("first", "second", "components")
    )
    return topics, partitioned, components


def worst_first(found: pa.Table, keep: int | None) -> pa.Table:
    """The rows of partitioned topics, most components first, then by topic number."""
    rows = found.filter(pc.greater_equal(found["topic"], 0))
    order = pc.sort_indices(rows, sort_keys=[("components", "descending"), ("topic", "ascending")])
    return rows.take(order if keep is None else order.slice(0, keep))


def witness_table(
    rows: pa.Table, topics: pa.Array | pa.ChunkedArray, first: pa.Array, second: pa.Array
) -> pa.Table:
    """Named witnesses from the rows of `worst_first` and the names of their topics and nodes."""
    n = len(rows)
    both = pa.concat_arrays([_flat(first), _flat(second)])
    pairs = both.take(pa.array(np.arange(2 * n).reshape(2, n).T.reshape(-1)))
    nodes = pa.ListArray.from_arrays(pa.array(np.arange(0, 2 * n + 1, 2, dtype=np.int32)), pairs)
    return pa.table({"topic": _flat(topics), "component_sizes": rows["sizes"], "nodes": nodes})


def column(table: pa.Table, name: str) -> NDArray[Any]:
    """A numeric column without nulls as one numpy array."""
    return np.asarray(table[name].combine_chunks().to_numpy(zero_copy_only=False))


def _flat(names: pa.Array | pa.ChunkedArray) -> pa.Array:
    flat = names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names
    return flat.cast(pa.string())
