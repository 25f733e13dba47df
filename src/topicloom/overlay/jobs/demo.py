"""The main job end to end on two workloads: what `topicloom demo` and `make demo` run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.jobs.build_request import BuildRequest
from topicloom.overlay.jobs.compare import ComparedBuild, compare_loaded
from topicloom.overlay.jobs.generate import generate_to
from topicloom.overlay.jobs.interest_table import InterestTable
from topicloom.overlay.measures.registry import measure_overlay
from topicloom.overlay.model.build_folder import check_replaceable
from topicloom.overlay.workloads.generate import workload_from_options
from topicloom.overlay.workloads.laws import sample_path
from topicloom.tables.source import interest_source
from topicloom.tables.spark.spark_choice import Notice, SparkChoice, no_notice

# What a newcomer should see beside each other; `topicloom build --list` has all.
ALGORITHMS = ("balanced", "gm", "gm-m", "low-oda", "ring-pt")
NODES = 2_000
TABLE = f"rss-{NODES}.csv"


@dataclass(frozen=True, slots=True)
class DemoResult:
    """One workload of the demo: where it lies and how the builders compare on it."""

    title: str
    folder: Path
    rows: list[ComparedBuild]


def run_demo(
    out: Path,
    *,
    spark: SparkChoice,
    seed: int = 1,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> Iterator[DemoResult]:
    """Some builders on a generated workload and on the bundled PX4 table: built, proved and measured."""
    for name in ("rss", "px4"):
        check_replaceable(out / name)
    drawn = out / TABLE
    workload = workload_from_options(NODES, popularity="rss", seed=seed)
    generate_to(str(drawn), workload, spark=spark, progress=progress)
    real = interest_source(sample_path("px4"), header=False)
    workloads = [
        (f"Generated: {NODES:,} nodes, RSS-like popularity (zipf:0.5)", "rss", interest_source(drawn)),
        ("Real: modules of the PX4 flight stack and their messages", "px4", real),
    ]
    for title, name, source in workloads:
        began = progress.now()
        requests = [BuildRequest.of(key, [], seed=seed) for key in ALGORITHMS]
        table = InterestTable(source, spark, notice=notice, progress=progress)
        loaded = table.load()
        comparison, builds = compare_loaded(loaded, requests, table, out=out / name, began=began)
        measures = [measure_overlay(loaded.interest, build.overlay, progress=progress) for build in builds]
        rows = [
            replace(row, measures=found, workload=title)
            for row, found in zip(comparison.rows, measures, strict=True)
        ]
        yield DemoResult(title, out / name, rows)
