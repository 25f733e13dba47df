"""Generate a synthetic table: options in, a file or folder out."""

from __future__ import annotations

from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import Seconds, Summary
from topicloom.overlay.spark.generate import check_replaceable, generate_table, needs_spark
from topicloom.overlay.workloads.generate import Workload
from topicloom.tables.spark.spark_choice import SparkChoice


class Generated(Summary, frozen=True):
    """What was drawn and written, by which laws."""

    out: str
    nodes: int
    topics: int
    subscriptions: int
    popularity: str
    sizes: str
    seed: int
    seconds: Seconds


def generate_to(
    out: str, workload: Workload, *, spark: SparkChoice, progress: Progress = SILENT
) -> Generated:
    """Write the workload to `out`, by its extension; return what was written."""
    start = progress.now()
    check_replaceable(out)
    session = spark.session(progress) if needs_spark(out) else None
    written = generate_table(session, workload, out, progress=progress)
    return Generated(
        out=out,
        nodes=workload.nodes,
        topics=workload.topics,
        subscriptions=written,
        popularity=str(workload.popularity),
        sizes=str(workload.sizes),
        seed=workload.seed,
        seconds={"total": progress.now() - start},
    )
