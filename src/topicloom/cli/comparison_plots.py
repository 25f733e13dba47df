"""The plots of `topicloom compare`: where they go, and what is in them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from rich.table import Table

from topicloom.base.progress import Progress
from topicloom.base.summaries import UNSET
from topicloom.cli.console import table
from topicloom.errors import UsageError

if TYPE_CHECKING:
    from topicloom.overlay.jobs.compare import Comparison
    from topicloom.overlay.jobs.frontier import FrontierPoint

PLOT, HOPS, SPLITS, FRONTIER = "degrees.png", "hops.png", "splits.png", "frontier.png"


@dataclass(frozen=True, slots=True)
class PlotFiles:
    """Files for plots; a folder for the result has them all."""

    PANEL: ClassVar[str] = "Plots (.png, .svg, .pdf, .html)"

    plot: Annotated[Path | None, "Where to save the plot of degrees."] = None
    hops_plot: Annotated[Path | None, "Where to save degree against hops."] = None
    splits_plot: Annotated[Path | None, "Where to save degree against the topics that one death splits."] = (
        None
    )
    frontier_plot: Annotated[Path | None, "With --frontier: edges against degree and hops."] = None

    def check(self, *, frontier: bool) -> None:
        """Refuse what cannot be drawn, before any work."""
        from topicloom.base.charts import check_chart_path

        for path in (self.plot, self.hops_plot, self.splits_plot, self.frontier_plot):
            if path is not None:
                check_chart_path(path)
        if self.frontier_plot is not None and not frontier:
            raise UsageError("--frontier-plot goes with --frontier")

    def draw(self, comparison: Comparison, name: str, out: Path | None, progress: Progress) -> dict[str, str]:
        """Save the plots that are asked for; return their files by key."""
        from topicloom.base.charts import degree_chart, save_chart
        from topicloom.overlay.charts import Dot, FrontierDot, frontier_chart, hops_scatter, splits_scatter

        first = dict.fromkeys(row.algorithm for row in comparison.rows)  # of several workloads the first
        rows = [next(row for row in comparison.rows if row.algorithm == key) for key in first]
        places = {
            "plot": self.plot or (out and out / PLOT),
            "hops_plot": self.hops_plot or (out and out / HOPS),
            "splits_plot": self.splits_plot or (out and out / SPLITS),
            "frontier_plot": self.frontier_plot or (out and out / FRONTIER),
        }
        charts: dict[str, Any] = {}
        if places["plot"]:
            histograms = {row.algorithm: row.degree_histogram for row in rows}
            charts["plot"] = degree_chart(histograms, f"Degrees of overlays for {name}")
        if places["hops_plot"] and any(row.diameter_topic_max for row in rows):
            dots = {
                row.algorithm: Dot(row.degree_avg, row.diameter_topic_max or 0, "builder") for row in rows
            }
            charts["hops_plot"] = hops_scatter(dots, f"Degree against hops for {name}")
        if places["splits_plot"] and any(row.edges for row in rows):
            dots = {row.algorithm: Dot(row.degree_avg, row.splits_avg, "builder") for row in rows}
            charts["splits_plot"] = splits_scatter(dots, f"Degree against splits for {name}")
        if places["frontier_plot"] and comparison.frontier is not UNSET:
            marks = [
                FrontierDot(one.edges, one.degree_max, one.diameter_topic_max, *_asked(one))
                for one in comparison.frontier
            ]
            charts["frontier_plot"] = frontier_chart(marks, f"What balanced can trade for {name}")
        if charts:
            progress.phase("draw")
        return {key: str(save_chart(chart, Path(str(places[key])))) for key, chart in charts.items()}


def _asked(point: FrontierPoint) -> tuple[str, str]:
    """Return what was varied, and its value."""
    if point.max_degree != "auto":
        return "max_degree", str(point.max_degree)
    return ("max_hops", str(point.max_hops)) if point.max_hops != "auto" else ("by itself", "auto")


def frontier_table(points: list[FrontierPoint]) -> Table:
    """Return one line per build of the sweep."""
    headings = ("max_degree", "max_hops", "edges", "maximum\ndegree", "most\nhops", "mean\nhops")
    rows = [
        [
            str(one.max_degree),
            str(one.max_hops),
            f"{one.edges:,}",
            f"{one.degree_max:,}",
            "" if one.diameter_topic_max is None else f"{one.diameter_topic_max:,}",
            f"{one.hops_mean:.2f}",
        ]
        for one in points
    ]
    return table(
        "balanced: what was asked for, and what came out", [(one, "right") for one in headings], rows
    )
