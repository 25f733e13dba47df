"""Several builders on one interest: the same proof and the same figures for each."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from msgspec.structs import asdict

from topicloom.base.atomic_write import replacing
from topicloom.base.progress import Progress
from topicloom.base.summaries import UNSET, Figures, ResultSummary, Seconds, Summary, UnsetType
from topicloom.overlay.jobs.build import build_loaded
from topicloom.overlay.jobs.build_request import BuildRequest
from topicloom.overlay.jobs.frontier import FrontierPoint, hops_inside, sweep_frontier
from topicloom.overlay.jobs.interest_table import InterestTable, LoadedInterest
from topicloom.overlay.measures.degree import degree_histogram, percentiles
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.measures.splits import measure_splits
from topicloom.overlay.model.build import Build, BuildSummary
from topicloom.overlay.model.build_folder import check_replaceable
from topicloom.overlay.model.interest import Interest
from topicloom.tables.folder import SUMMARY, write_json


class ComparedBuild(BuildSummary, frozen=True, kw_only=True):
    """A build beside others; in the demo with all measures, and the name of the workload."""

    degree_percentiles: dict[str, float]
    degree_histogram: dict[str, int]
    diameter_topic_max: int | None
    hops_mean: float
    hops_p95: int
    splits_avg: float
    splits_max: int
    bridges: int
    measures: Figures | UnsetType = UNSET
    workload: str | UnsetType = UNSET


class Interval(Summary, frozen=True):
    """A mean over workloads, and where 95% of such means would lie (Student's t)."""

    mean: float
    low: float
    high: float


class ComparedMeans(Summary, frozen=True, kw_only=True):
    """One builder on several drawn workloads."""

    algorithm: str
    seeds: list[int]
    edges: Interval
    degree_avg: Interval
    degree_max: Interval
    diameter_topic_max: Interval | None
    hops_mean: Interval
    hops_p95: Interval
    splits_avg: Interval
    splits_max: Interval
    bridges: Interval
    seconds_build: Interval
    topic_connected: bool


class Comparison(ResultSummary, frozen=True, kw_only=True):
    """The content of summary.json; plots are told on the screen only.

    With several drawn workloads `rows` has every build, and `means` what they have in common.
    """

    kind: str = "comparison"
    rows: list[ComparedBuild]
    means: list[ComparedMeans] | UnsetType = UNSET
    frontier: list[FrontierPoint] | UnsetType = UNSET
    seconds: Seconds
    plot: str | UnsetType = UNSET
    hops_plot: str | UnsetType = UNSET
    splits_plot: str | UnsetType = UNSET
    frontier_plot: str | UnsetType = UNSET


def compare_table(
    table: InterestTable, requests: list[BuildRequest], *, out: Path | None, frontier: bool = False
) -> Comparison:
    """Read the interest once and build with each request; see `compare_loaded`."""
    if out is not None:
        check_replaceable(out)
    began = table.progress.now()
    loaded = table.load()
    points: list[FrontierPoint] | UnsetType = UNSET
    if frontier:
        points = sweep_frontier(loaded.interest, requests[0], progress=table.progress)
    return compare_loaded(loaded, requests, table, out=out, began=began, frontier=points)[0]


def compare_loaded(
    loaded: LoadedInterest,
    requests: list[BuildRequest],
    table: InterestTable,
    *,
    out: Path | None,
    began: float,
    frontier: list[FrontierPoint] | UnsetType = UNSET,
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
            rows.append(compared(loaded.interest, summary, build, request.threads, progress))
            builds.append(build)
        comparison = Comparison(rows=rows, frontier=frontier, seconds={"total": progress.now() - began})
        if folder is not None:
            write_json(comparison, folder / SUMMARY)
    return comparison, builds


def compared(
    interest: Interest, summary: BuildSummary, build: Build, threads: int | None, progress: Progress
) -> ComparedBuild:
    """Return the row of one build."""
    degrees = build.overlay.degrees()
    return ComparedBuild(
        **asdict(summary),
        degree_percentiles=percentiles(degrees),
        degree_histogram=degree_histogram(degrees),
        **hops_inside(interest, build.overlay, threads=threads, progress=progress),
        **measure_splits(view_of(interest, build.overlay, threads=threads, progress=progress)),
    )
