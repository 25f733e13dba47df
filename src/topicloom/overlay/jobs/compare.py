"""Several builders on one interest: the same proof and the same figures for each."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from msgspec.structs import asdict

from topicloom.base.atomic_write import replacing
from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import UNSET, Figures, ResultSummary, Seconds, UnsetType
from topicloom.overlay.jobs.build import build_loaded
from topicloom.overlay.jobs.build_request import BuildRequest
from topicloom.overlay.jobs.interest_table import InterestTable, LoadedInterest
from topicloom.overlay.measures.degree import degree_histogram, percentiles
from topicloom.overlay.measures.diameter import measure_topic_diameter
from topicloom.overlay.measures.hops import measure_hops
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.model.build import Build, BuildSummary
from topicloom.overlay.model.build_folder import check_replaceable
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.tables.folder import SUMMARY, write_json


class ComparedBuild(BuildSummary, frozen=True, kw_only=True):
    """A build beside others; in the demo with all measures, and the name of the workload."""

    degree_percentiles: dict[str, float]
    degree_histogram: dict[str, int]
    diameter_topic_max: int | None
    hops_mean: float
    hops_p95: int
    measures: Figures | UnsetType = UNSET
    workload: str | UnsetType = UNSET


class Comparison(ResultSummary, frozen=True, kw_only=True):
    """The content of summary.json; a `plot` is told on the screen only."""

    kind: str = "comparison"
    rows: list[ComparedBuild]
    seconds: Seconds
    plot: str | UnsetType = UNSET


def compare_table(table: InterestTable, requests: list[BuildRequest], *, out: Path | None) -> Comparison:
    """Read the interest once and build with each request; see `compare_loaded`."""
    if out is not None:
        check_replaceable(out)
    began = table.progress.now()
    return compare_loaded(table.load(), requests, table, out=out, began=began)[0]


def compare_loaded(
    loaded: LoadedInterest,
    requests: list[BuildRequest],
    table: InterestTable,
    *,
    out: Path | None,
    began: float,
) -> tuple[Comparison, list[Build]]:
    """Return the comparison (each row with its degree percentiles and histogram) and the builds.

    With `out`, every build is kept there under its builder's name, and proved from there.
    """
    progress = table.progress
    ingested = progress.now()
    rows, builds = [], []
    with replacing(out) if out is not None else nullcontext() as folder:
        if folder is not None:
            folder.mkdir()
        for request in requests:
            # Each row's total is what this builder alone would take: ingest is counted for each.
            alone = progress.now() - (ingested - began)
            place = None if folder is None else folder / request.algorithm
            summary, build = build_loaded(
                loaded, request, place, spark=table.spark, began=alone, progress=progress
            )
            degrees = build.overlay.degrees()
            rows.append(
                ComparedBuild(
                    **asdict(summary),
                    degree_percentiles=percentiles(degrees),
                    degree_histogram=degree_histogram(degrees),
                    **hops_inside(loaded.interest, build.overlay, threads=request.threads, progress=progress),
                )
            )
            builds.append(build)
        comparison = Comparison(rows=rows, seconds={"total": progress.now() - began})
        if folder is not None:
            write_json(comparison, folder / SUMMARY)
    return comparison, builds


def hops_inside(
    interest: Interest, overlay: Overlay, *, threads: int | None = None, progress: Progress = SILENT
) -> Figures:
    """Measure the hops inside topics: largest, mean, 95th percentile."""
    view = view_of(interest, overlay, threads=threads, progress=progress)
    found = measure_topic_diameter(view) | measure_hops(view)
    return {key: found[key] for key in ("diameter_topic_max", "hops_mean", "hops_p95")}
