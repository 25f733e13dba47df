"""What the two paths of verifying have in common: the rows tasks send home, and their summing up.

Every task that looks at whole topics sends one row of totals and one row per split topic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from topicloom.base.progress import Progress
from topicloom.base.summaries import Figures
from topicloom.overlay.measures.connectivity import N_NAMES, TopicComponents
from topicloom.overlay.model.verdict import Verdict
from topicloom.tables.spark.job_progress import run_watched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# In the column `topic`: this row holds totals (`components`, `first` = topics, `second` = split).
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


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """Interest (node, topic) and edges (u, v) to judge; the `keep` worst topics are described (None: all)."""

    spark: SparkSession
    interest: DataFrame
    edges: DataFrame
    work_dir: str
    keep: int | None
    progress: Progress

    def run(self, action: Callable[[], Any], phase: str | None = None) -> Any:
        """Run a job on Spark, watched."""
        return run_watched(self.spark, action, progress=self.progress, phase=phase)


class Findings(NamedTuple):
    """A verdict without witnesses, and all of these, worst first: topic, component_sizes, nodes."""

    verdict: Verdict
    worst: pa.Table


def found_batch(found: TopicComponents, name_slot: Callable[[int], int]) -> pa.RecordBatch:
    """Return one task's findings as rows; `name_slot` turns a slot into a number that the driver can name."""
    rows: dict[str, list[Any]] = {
        "topic": [TOTALS, *(one.topic for one in found.worst)],
        "components": [found.components, *(len(one.sizes) for one in found.worst)],
        "sizes": [[], *(one.sizes for one in found.worst)],
        "first": [found.topics, *(name_slot(one.first) for one in found.worst)],
        "second": [found.split, *(name_slot(one.second) for one in found.worst)],
        "note": [None] * (len(found.worst) + 1),
    }
    return pa.RecordBatch.from_pydict(rows, schema=_FOUND_ARROW)


def note_batch(notes: list[str]) -> pa.RecordBatch:
    """Return notes of an earlier stage as rows."""
    rows = [{"topic": NOTE, "note": note} for note in notes]
    return pa.RecordBatch.from_pylist(rows, schema=_FOUND_ARROW)


def findings(found: pa.Table, counts: Figures, names: Iterable[str], worst: pa.Table) -> Findings:
    """Sum up the rows of all tasks; `counts` are those of the edge rows, `names` the unknown identifiers."""
    rows = found.filter(pc.equal(found["topic"], TOTALS))
    topics, split, components = (
        pc.sum(rows[name]).as_py() or 0 for name in ("first", "second", "components")
    )
    unknown = tuple(sorted(names)[:N_NAMES])
    return Findings(Verdict(topics, split, components, **counts, unknown_names=unknown), worst)


def worst_first(found: pa.Table, keep: int | None) -> pa.Table:
    """Return the rows of split topics, most components first, then by topic number."""
    rows = found.filter(pc.greater_equal(found["topic"], 0))
    order = pc.sort_indices(rows, sort_keys=[("components", "descending"), ("topic", "ascending")])
    return rows.take(order if keep is None else order.slice(0, keep))


def witness_table(
    rows: pa.Table, topics: pa.Array | pa.ChunkedArray, first: pa.Array, second: pa.Array
) -> pa.Table:
    """Return named witnesses from the rows of `worst_first` and the names of their topics and nodes."""
    n = len(rows)
    both = pa.concat_arrays([_flat(first), _flat(second)])
    pairs = both.take(pa.array(np.arange(2 * n).reshape(2, n).T.reshape(-1)))
    nodes = pa.ListArray.from_arrays(pa.array(np.arange(0, 2 * n + 1, 2, dtype=np.int32)), pairs)
    return pa.table({"topic": _flat(topics), "component_sizes": rows["sizes"], "nodes": nodes})


def column(table: pa.Table, name: str) -> NDArray[Any]:
    """Return a numeric column without nulls as one numpy array."""
    return np.asarray(table[name].combine_chunks().to_numpy(zero_copy_only=False))


def _flat(names: pa.Array | pa.ChunkedArray) -> pa.Array:
    flat = names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names
    return flat.cast(pa.string())
