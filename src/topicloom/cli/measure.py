"""`topicloom measure`: the figures of an overlay."""

from __future__ import annotations

import typer
from msgspec.structs import asdict

from topicloom.base.summaries import Figures
from topicloom.cli.groups import with_groups
from topicloom.cli.options import (
    Certify,
    EdgeOptions,
    InterestOptions,
    OutputOptions,
    SparkOptions,
    Threads,
)
from topicloom.cli.tables import figures_table
from topicloom.overlay.jobs.certify import certificate_told
from topicloom.overlay.jobs.measure import LeftOut, measure_tables

EXAMPLES = """
[bold]Examples[/bold]

  topicloom measure my-overlay my-overlay

  topicloom measure table.csv edges.csv --json

  topicloom measure my-overlay my-overlay --certify
"""


def measure(
    interest: InterestOptions,
    edges: EdgeOptions,
    spark: SparkOptions,
    output: OutputOptions,
    threads: Threads = None,
    bounds: Certify = False,
) -> None:
    """Degrees, components, diameters, topics per edge, filtering cost and load of an overlay."""
    screen = output.screen()
    with screen.working() as progress:
        found = measure_tables(
            interest.table(spark, screen, progress), edges.source(), threads=threads, bounds=bounds
        )
    measures = found.measures
    certificate = certificate_told(
        found.certificate,
        edges=measures["edges"],
        degree_max=measures["degree_max"],
        connected=measures["topic_connected"],
    )
    screen.show(figures_table(None, _figures(measures, found.left_out)), *certificate)
    screen.emit(found)


def _figures(found: Figures, left_out: LeftOut) -> list[tuple[str, str]]:
    percentiles = found["degree_percentiles"]
    load = found["load_percentiles"]
    connected = (
        "yes, all topics" if found["topic_connected"] else f"NO, {found['topics_partitioned']:,} topics split"
    )
    return [
        ("nodes", f"{found['nodes']:,}"),
        ("topics", f"{found['topics']:,}"),
        ("subscriptions", f"{found['subscriptions']:,}"),
        ("edges", f"{found['edges']:,}"),
        ("degree, average", f"{found['degree_avg']:.2f}"),
        ("degree, maximum", f"{found['degree_max']:,}"),
        ("degree of 50% / 90% / 99% up to", _three(percentiles)),
        ("topic-connected", connected),
        ("topic components", f"{found['topic_components']:,}"),
        ("diameter of the overlay", _bounded(found, "diameter_overlay")),
        ("diameter within topics, largest", _bounded(found, "diameter_topic_max")),
        ("diameter within topics, average", _bounded(found, "diameter_topic_avg")),
        ("topics per edge, average", f"{found['topics_per_edge_avg']:.2f}"),
        ("filtering cost (uninterested nodes crossed)", f"{found['filtering_cost']:,}"),
        (f"load per node, average ({found['load_unit']})", f"{found['load_avg']:.1f}"),
        ("load of 50% / 90% / 99% up to", _three(load)),
        ("load, maximum", f"{found['load_max']:,.0f}"),
        *(
            (f"left out: {name.replace('_', ' ')}", f"{count:,}")
            for name, count in asdict(left_out).items()
            if count
        ),
    ]


def _three(percentiles: dict[str, float]) -> str:
    return " / ".join(f"{percentiles[key]:,.0f}" for key in ("50", "90", "99"))


def _bounded(found: Figures, key: str) -> str:
    low, high = found[f"{key}_bounds"]
    if high is None:
        return "none: no topic is connected"
    shown = "{:,.2f}" if isinstance(high, float) else "{:,}"
    if low == high:
        return shown.format(high)
    return f"between {shown.format(low)} and {shown.format(high)}"


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog=EXAMPLES)(with_groups(measure))
