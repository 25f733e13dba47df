"""Generate a synthetic table: options in, a file or folder out."""

from __future__ import annotations

from typing import Any

from topicloom.jobs.inputs import SparkChoice
from topicloom.model.progress import SILENT, Progress
from topicloom.spark.generate import generate_table, needs_spark
from topicloom.workloads.generate import workload_from_options


def generate_to(
    out: str,
    *,
    nodes: int,
    topics: int | None,
    subscriptions: str | None,
    popularity: str,
    seed: int,
    spark: SparkChoice,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """Write the workload to `out`, by its extension; what was written, as a dictionary."""
    start = progress.now()
    on_spark = needs_spark(out)
    workload = workload_from_options(nodes, topics, subscriptions, popularity, seed)
    session = spark.session(progress) if on_spark else None
    written = generate_table(session, workload, out, progress=progress)
    return {
        "out": out,
        "nodes": workload.nodes,
        "topics": workload.topics,
        "subscriptions": written,
        "popularity": str(workload.popularity),
        "sizes": str(workload.sizes),
        "seed": seed,
        "seconds": {"total": progress.now() - start},
    }
