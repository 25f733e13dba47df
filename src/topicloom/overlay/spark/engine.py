"""The builders that run on Spark: an encoded interest in, tables of edges out, phase by phase.

An explicit dict, like the registry of builders, whose `engines` say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicloom.base.progress import Progress, Stopwatch
from topicloom.overlay.builders.divide.plan import DivideSettings
from topicloom.overlay.builders.divide.run import run_phases
from topicloom.overlay.model.run_folder import RunFolder
from topicloom.overlay.spark.divide import EdgeCount, SparkDivide, build_name, count_edges
from topicloom.overlay.spark.encode import EncodedInterest
from topicloom.overlay.spark.ring import ring_table
from topicloom.tables.spark.step_tables import StepTables, load_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class SparkBuild:
    """Where the edges are (tables u, v of node numbers, all different), and what there is to say of them."""

    edges: tuple[Path, ...]
    n_edges: int
    degree_max: int
    parameters: Mapping[str, Any]
    report: Mapping[str, Any] = field(default_factory=dict)


def build_dcbr_m_on_spark(
    spark: SparkSession,
    encoded: EncodedInterest,
    run: RunFolder,
    *,
    eta: int | str,
    lambda_: int | None,
    p: int | str,
    kernel_nodes: int,
    seed: int,
    notice: Notice,
    progress: Progress,
) -> SparkBuild:
    """DCBR-M; with `lambda_` None DCB-M."""
    engine = SparkDivide(spark, encoded, run, eta, lambda_, seed, progress)
    threshold = engine.split()
    settings = DivideSettings(p, lambda_, kernel_nodes)
    report = run_phases(engine, settings, Stopwatch(progress), notice)
    names = [build_name(level) for level in range(len(report["levels"]))]
    last = run.require(names[-1], EdgeCount)
    return SparkBuild(
        edges=tuple(run.path(name, "edges") for name in names),
        n_edges=report["inner_edges"] + report["outer_edges"],
        degree_max=last.degree_max,
        parameters=settings.parameters(eta),
        report={"eta": threshold, **report},
    )


def build_dcb_m_on_spark(
    spark: SparkSession, encoded: EncodedInterest, run: RunFolder, **options: Any
) -> SparkBuild:
    """DCB-M."""
    return build_dcbr_m_on_spark(spark, encoded, run, lambda_=None, **options)


def build_ring_pt_on_spark(
    spark: SparkSession,
    encoded: EncodedInterest,
    run: RunFolder,
    *,
    order: str,
    seed: int,
    notice: Notice,
    progress: Progress,
) -> SparkBuild:
    """Ring per topic."""

    def close(folder: Path) -> EdgeCount:
        work = StepTables(spark, str(folder), progress)
        pairs = load_table(spark, encoded.pairs).select("node", "topic")
        edges = ring_table(pairs, encoded.n_subscriptions, order, seed)
        work.write("close rings", edges, "edges", stages=2)
        return count_edges(work)

    record = run.keep("rings", EdgeCount, close)
    return SparkBuild((run.path("rings", "edges"),), record.edges, record.degree_max, {"order": order})


SPARK_BUILDERS: dict[str, Callable[..., SparkBuild]] = {
    "dcb-m": build_dcb_m_on_spark,
    "dcbr-m": build_dcbr_m_on_spark,
    "ring-pt": build_ring_pt_on_spark,
}
