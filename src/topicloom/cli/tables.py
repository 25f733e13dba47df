"""The tables that people read: one place for how figures are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.table import Table

from topicloom.base.counts import counted
from topicloom.base.summaries import UNSET
from topicloom.cli.console import table

if TYPE_CHECKING:
    from topicloom.overlay.jobs.compare import ComparedBuild, ComparedMeans, Interval


def comparison_table(title: str, rows: list[ComparedBuild]) -> Table:
    """Return one line per build: how many connections it needs, and whether it is proved."""
    figures: dict[str, Callable[[ComparedBuild], str]] = {
        "builder": lambda row: row.algorithm,
        "edges": lambda row: f"{row.edges:,}",
        "of\nrings": lambda row: f"{row.edges / ring:.0%}",
        "average\ndegree": lambda row: f"{row.degree_avg:.2f}",
        "maximum\ndegree": lambda row: f"{row.degree_max:,}",
        "99% have\nat most": lambda row: f"{row.degree_percentiles['99']:.0f}",
        "build\nsec.": lambda row: f"{row.seconds['build']:.2f}",
        "topics/\nedge": lambda row: f"{_measure(row, 'topics_per_edge_avg'):.1f}",
        "most\nhops": lambda row: "" if row.diameter_topic_max is None else f"{row.diameter_topic_max:,}",
        "mean\nhops": lambda row: f"{row.hops_mean:.1f}",
        "95%\nhops": lambda row: f"{row.hops_p95:,}",
        "topic-\nconnected": _proof,
    }
    ring = next((row.edges for row in rows if row.algorithm == "ring-pt"), 0)
    measured = all(row.measures for row in rows)
    left_out = {"99% have\nat most", "build\nsec.", "95%\nhops"}
    if not measured:
        left_out = {"topics/\nedge", "99% have\nat most"}
    if not ring:
        left_out.add("of\nrings")
    shown = {heading: figure for heading, figure in figures.items() if heading not in left_out}
    words = ("builder", "topic-\nconnected")
    columns = [(heading, "left" if heading in words else "right") for heading in shown]
    return table(title, columns, [[figure(row) for figure in shown.values()] for row in rows])


def means_table(title: str, rows: list[ComparedMeans]) -> Table:
    """Return one line per builder: means over drawn workloads, and half of their 95% intervals."""

    def shown(found: Interval | None, decimals: int) -> str:
        # Two lines: side by side they would not fit a terminal.
        form = f",.{decimals}f"
        return "" if found is None else f"{found.mean:{form}}\n±{found.high - found.mean:{form}}"

    figures: dict[str, Callable[[ComparedMeans], str]] = {
        "builder": lambda row: row.algorithm,
        "edges": lambda row: shown(row.edges, 1),
        "average\ndegree": lambda row: shown(row.degree_avg, 2),
        "maximum\ndegree": lambda row: shown(row.degree_max, 1),
        "most\nhops": lambda row: shown(row.diameter_topic_max, 1),
        "mean\nhops": lambda row: shown(row.hops_mean, 2),
        "95%\nhops": lambda row: shown(row.hops_p95, 1),
        "build\nsec.": lambda row: shown(row.seconds_build, 2),
        "topic-\nconnected": lambda row: "proved" if row.topic_connected else "NO",
    }
    words = ("builder", "topic-\nconnected")
    columns = [(heading, "left" if heading in words else "right") for heading in figures]
    return table(title, columns, [[figure(row) for figure in figures.values()] for row in rows])


def deaths_table(rows: list[ComparedBuild] | list[ComparedMeans]) -> Table:
    """Return one line per builder: what one death breaks, and how many edges topics hang on."""

    def shown(found: Interval | float, decimals: int) -> str:
        if isinstance(found, float | int):
            return f"{found:,.{decimals}f}"
        decimals = max(decimals, 1)  # a mean of counts is none
        return f"{found.mean:,.{decimals}f} ±{found.high - found.mean:,.{decimals}f}"

    headings = ("builder", "topics split by\na death, mean", "topics split by\na death, most", "bridges")
    lines = [
        [row.algorithm, shown(row.splits_avg, 2), shown(row.splits_max, 0), shown(row.bridges, 0)]
        for row in rows
    ]
    columns = [(heading, "right" if place else "left") for place, heading in enumerate(headings)]
    return table("what the death of one node, or the loss of one edge, would split", columns, lines)


def _proof(row: ComparedBuild) -> str:
    return "proved" if row.topic_connected else f"NO: {counted(row.topics_partitioned, 'topic')} split"


def _measure(row: ComparedBuild, name: str) -> float:
    return 0.0 if row.measures is UNSET else row.measures[name]


def figures_table(title: str | None, figures: list[tuple[str, str]]) -> Table:
    """Return a table of two columns: names and figures."""
    drawn = table(title, [("", "left"), ("", "right")], [[name, value] for name, value in figures])
    drawn.show_header = False
    return drawn
