"""Several builders on one interest: the same proof and the same figures for each."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from topicloom.files.atomic import replacing
from topicloom.files.build_folder import SUMMARY, check_replaceable, load_build, write_json
from topicloom.jobs.build import build_loaded
from topicloom.jobs.inputs import LoadedInterest, Notice, SparkChoice, load_interest, no_notice
from topicloom.jobs.request import BuildRequest
from topicloom.measures.degree import degree_histogram, percentiles
from topicloom.model.progress import SILENT, Progress
from topicloom.model.summaries import FORMAT
from topicloom.tables.source import TableSource
from topicloom.version import __version__


def compare_source(
    source: TableSource,
    requests: list[BuildRequest],
    *,
    out: Path | None,
    spark: SparkChoice,
    subscribers_only: bool = False,
    strict: bool = False,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """Read the interest once and build with each request; see `compare_loaded`."""
    if out is not None:
        check_replaceable(out)
    start = progress.now()
    with spark.workspace() as work:
        loaded = load_interest(
            source,
            spark=spark,
            work=work,
            subscribers_only=subscribers_only,
            strict=strict,
            notice=notice,
            progress=progress,
        )
        return compare_loaded(loaded, requests, out=out, spark=spark, start=start, progress=progress)


def compare_loaded(
    loaded: LoadedInterest,
    requests: list[BuildRequest],
    *,
    out: Path | None,
    spark: SparkChoice,
    start: float,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """The comparison: `rows` of summaries, each with its degree percentiles and histogram.

    With `out`, every build is kept there under its builder's name.
    """
    ingested = progress.now()
    with (
        tempfile.TemporaryDirectory(prefix="topicloom-") as scratch,
        replacing(out if out is not None else Path(scratch) / "comparison") as folder,
    ):
        folder.mkdir()
        rows = []
        for request in requests:
            # Each row's total is what this builder alone would take: ingest is counted for each.
            began = progress.now() - (ingested - start)
            place = folder / request.algorithm
            row = build_loaded(loaded, place, request, spark=spark, start=began, progress=progress)
            degrees = load_build(place).overlay.degrees()
            shape = {
                "degree_percentiles": percentiles(degrees),
                "degree_histogram": degree_histogram(degrees),
            }
            rows.append(row | shape)
        comparison = {
            "format": FORMAT,
            "kind": "comparison",
            "version": __version__,
            "rows": rows,
            "seconds": {"total": progress.now() - start},
        }
        write_json(comparison, folder / SUMMARY)
    return comparison
