"""The frontier of `balanced`: edges against the maximum degree and against hops, build by build."""

from __future__ import annotations

from typing import Any

from topicloom.base.progress import SILENT, Progress, QuietProgress
from topicloom.base.summaries import Figures, Summary
from topicloom.overlay.builders.balanced import default_work
from topicloom.overlay.builders.default import DEFAULT
from topicloom.overlay.builders.registry import run_builder
from topicloom.overlay.jobs.build_request import BuildRequest
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.measures.diameter import measure_topic_diameter
from topicloom.overlay.measures.hops import measure_hops
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

# The caps and the bounds of a sweep, as shares of what `balanced` takes by itself.
DEGREE_STEPS = (0.7, 0.85, 1.25, 1.6, 2.5)
HOP_STEPS = (0.3, 0.45, 0.6, 0.8, 1.5)


class FrontierPoint(Summary, frozen=True, kw_only=True):
    """One build of a sweep of `balanced`: what was asked for, and what came out."""

    max_degree: int | str
    max_hops: int | str
    edges: int
    degree_max: int
    degree_avg: float
    diameter_topic_max: int | None
    hops_mean: float
    hops_p95: int
    topic_connected: bool


def sweep_frontier(interest: Interest, request: BuildRequest, *, progress: Progress) -> list[FrontierPoint]:
    """Build with `balanced` under caps on degrees and bounds on hops around what it takes by itself.

    Seed and threads are those of `request`. The values follow from the interest alone. All make the same
    number of moves per edge, so that a number of hops, which would get more by itself, is compared fairly.
    """

    def build(max_degree: int | str, max_hops: int | str) -> FrontierPoint:
        values: dict[str, Any] = {"max_degree": max_degree, "max_hops": max_hops}
        progress.phase(f"frontier: max_degree {max_degree}, max_hops {max_hops}")
        made = run_builder(
            DEFAULT,
            interest,
            seed=request.seed,
            threads=request.threads,
            progress=QuietProgress(progress),
            work=round(default_work(interest.n_nodes)),
            **values,
        )
        verdict = check_overlay(interest, made.overlay)
        return FrontierPoint(
            **values,
            edges=made.n_edges,
            degree_max=made.degree_max,
            degree_avg=2 * made.n_edges / max(interest.n_nodes, 1),
            **hops_inside(interest, made.overlay, threads=request.threads),
            topic_connected=verdict.topic_connected,
        )

    first = build("auto", "auto")
    degree, hops = first.degree_max, first.diameter_topic_max or 1
    caps = sorted({max(round(degree * share), 2) for share in DEGREE_STEPS} - {degree})
    bounds = sorted({max(round(hops * share), 2) for share in HOP_STEPS} - {hops})
    return [
        first,
        *(build(cap, "auto") for cap in caps),
        *(build("auto", bound) for bound in bounds),
        build("auto", "none"),
    ]


def hops_inside(
    interest: Interest, overlay: Overlay, *, threads: int | None = None, progress: Progress = SILENT
) -> Figures:
    """Measure the hops inside topics: largest, mean, 95th percentile."""
    view = view_of(interest, overlay, threads=threads, progress=progress)
    found = measure_topic_diameter(view) | measure_hops(view)
    return {key: found[key] for key in ("diameter_topic_max", "hops_mean", "hops_p95")}
