"""The builders that run on Spark: an encoded interest in, tables of edges out, phase by phase.

`SPARK_BUILDERS` lists them by name, as the registry of builders does with its `engines`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from topicloom.base.progress import Progress, Stopwatch
from topicloom.errors import UsageError
from topicloom.overlay.builders.baselines import close_rings
from topicloom.overlay.builders.divide.plan import DivideSettings, Inner
from topicloom.overlay.builders.divide.run import POLISH, run_phases
from topicloom.overlay.model.run import Run
from topicloom.overlay.spark.divide import SparkDivide, build_name
from topicloom.overlay.spark.divide_steps import EdgeCount, count_edges
from topicloom.overlay.spark.divide_tasks import EDGE_SCHEMA
from topicloom.overlay.spark.encode import EncodedInterest
from topicloom.tables.spark.places import load_table
from topicloom.tables.spark.python_tasks import map_batches
from topicloom.tables.spark.spark_choice import Notice
from topicloom.tables.spark.step_tables import StepTables, slices_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TASK_ROWS = 1_000_000  # about how many subscriptions one task of ring-pt gets; at least the largest topic


@dataclass(frozen=True, slots=True)
class SparkBuild:
    """Where the edges are (tables u, v of node numbers, all different), and what there is to say of them."""

    edges: tuple[str, ...]
    n_edges: int
    degree_max: int
    parameters: Mapping[str, Any]
    report: Mapping[str, Any] = field(default_factory=dict)


def build_dcbr_m_on_spark(
    spark: SparkSession,
    encoded: EncodedInterest,
    run: Run,
    *,
    eta: int | str,
    lambda_: int | None,
    p: int | str,
    kernel_nodes: int,
    inner: Inner,
    polish: int | str,
    seed: int,
    notice: Notice,
    progress: Progress,
) -> SparkBuild:
    """Build DCBR-M; with `lambda_` None DCB-M, whose last step needs the whole interest in one task."""
    if lambda_ is None and encoded.n_nodes > kernel_nodes:
        raise UsageError(
            f"`algorithm=dcb-m` joins all {encoded.n_nodes:,} nodes in one task at its end, more than "
            f"kernel_nodes = {kernel_nodes:,}: name dcbr-m, or `kernel_nodes={encoded.n_nodes}` if one "
            "worker can hold them"
        )
    ground = SparkDivide(spark, encoded, run, eta, lambda_, inner, seed, progress)
    threshold = ground.split()
    settings = DivideSettings(p, lambda_, kernel_nodes, eta, inner, polish)
    report = run_phases(ground, settings, Stopwatch(progress), notice)
    names = [build_name(level) for level in range(len(report["levels"]))]
    degree_max = run.require(names[-1], EdgeCount).degree_max
    if POLISH in report:
        names[0], degree_max = POLISH, report[POLISH]["degree_max"]
    return SparkBuild(
        edges=tuple(run.path(name, "edges") for name in names),
        n_edges=report["inner_edges"] + report["outer_edges"],
        degree_max=degree_max,
        parameters=settings.parameters(),
        report={"eta": threshold, **report},
    )


def build_ring_pt_on_spark(
    spark: SparkSession,
    encoded: EncodedInterest,
    run: Run,
    *,
    order: str,
    seed: int,
    notice: Notice,
    progress: Progress,
) -> SparkBuild:
    """Build a ring per topic."""

    def close(folder: str) -> EdgeCount:
        work = StepTables(spark, folder, progress)
        pairs = load_table(spark, encoded.pairs).select("node", "topic")
        edges = ring_table(pairs, encoded.n_subscriptions, order, seed)
        return count_edges(work, work.write("close rings", edges, "edges", stages=2))

    record = run.keep("rings", EdgeCount, close)
    return SparkBuild((run.path("rings", "edges"),), record.edges, record.degree_max, {"order": order})


def ring_table(pairs: DataFrame, n_pairs: int, order: str, seed: int) -> DataFrame:
    """Return the distinct edges (u < v, numbers) of all rings through a table of (node, topic) numbers."""

    def close(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        some = [batch for batch in batches if batch.num_rows]
        if some:
            rows = pa.Table.from_batches(some)
            u, v = close_rings(rows["topic"].to_numpy(), rows["node"].to_numpy(), order, seed)
            yield from pa.table({"u": np.minimum(u, v), "v": np.maximum(u, v)}).to_batches()

    tasks = slices_of(n_pairs, TASK_ROWS)
    return map_batches(pairs.repartition(tasks, "topic"), close, EDGE_SCHEMA).distinct()


SPARK_BUILDERS: dict[str, Callable[..., SparkBuild]] = {
    "dcb-m": partial(build_dcbr_m_on_spark, lambda_=None),
    "dcbr-m": build_dcbr_m_on_spark,
    "ring-pt": build_ring_pt_on_spark,
}
