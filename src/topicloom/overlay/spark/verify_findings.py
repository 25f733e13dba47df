"""What both paths of verifying are given and what they give back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from topicloom.base.progress import Progress
from topicloom.overlay.model.verdict import Verdict
from topicloom.tables.spark.job_progress import run_watched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """Interest (node, topic) and edges (u, v) to judge; the `keep` worst topics are described (None: all)."""

    spark: SparkSession
    interest: DataFrame
    edges: DataFrame
    keep: int | None
    progress: Progress

    def run(self, action: Callable[[], Any], phase: str | None = None) -> Any:
        """Run a job on Spark, watched."""
        return run_watched(self.spark, action, progress=self.progress, phase=phase)


class Findings(NamedTuple):
    """A verdict without witnesses, and all of these, worst first: topic, component_sizes, nodes."""

    verdict: Verdict
    worst: pa.Table


def witness_table(topics: Any, sizes: Any, first: Any, second: Any) -> pa.Table:
    """Return witnesses from columns: names of topics, sizes of components, names of the two nodes."""
    topics, first, second = (_flat(names) for names in (topics, first, second))
    n = len(topics)
    pairs = pa.concat_arrays([first, second]).take(pa.array(np.arange(2 * n).reshape(2, n).T.reshape(-1)))
    nodes = pa.ListArray.from_arrays(pa.array(np.arange(0, 2 * n + 1, 2, dtype=np.int32)), pairs)
    return pa.table({"topic": topics, "component_sizes": sizes, "nodes": nodes})


def _flat(names: pa.Array | pa.ChunkedArray) -> pa.Array:
    flat = names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names
    return flat.cast(pa.string())
