"""`topicloom compare`: several builders on one interest, one table, one plot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from msgspec.structs import replace

from topicloom.base.counts import counted
from topicloom.base.summaries import UNSET
from topicloom.cli.console import Screen
from topicloom.cli.options import EngineOptions, InterestOptions, ReportFile, Seed, Threads
from topicloom.cli.reports import result_folder, write_page
from topicloom.cli.tables import comparison_table
from topicloom.errors import UsageError

EXAMPLES = """
topicloom compare table.csv --algorithms balanced,gm,gm-m,ring-pt
topicloom compare table.csv --algorithms gm,gm-m --out comparison     (keeps the builds and a plot)
topicloom compare table.csv --report comparison.html                  (a page to look at and pass on)
"""
PLOT = "degrees.png"


def compare(
    interest: InterestOptions,
    spark: EngineOptions,
    screen: Screen,
    algorithms: Annotated[
        str, "Builders, separated by commas (see topicloom build --list)."
    ] = "balanced,gm,gm-m,ring-pt",
    out: Annotated[Path | None, "Folder for all builds and the plot."] = None,
    plot: Annotated[Path | None, "Where to save the plot (.png, .svg, .html)."] = None,
    report: ReportFile = None,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Build with several algorithms, prove each overlay, and show them side by side.

    Exit 1 if one of the overlays is not topic-connected.
    """
    from topicloom.base.charts import check_chart_path, degree_chart, save_chart
    from topicloom.overlay.jobs.build_request import BuildRequest
    from topicloom.overlay.jobs.compare import compare_table

    names = [name.strip() for name in algorithms.split(",") if name.strip()]
    if not names or len(set(names)) < len(names):
        raise UsageError(f"--algorithms {algorithms}: name each builder once, separated by commas")
    if plot is not None:
        check_chart_path(plot)
    kept = Path(interest.interest).name.partition(".")[0]
    with screen.working() as progress, result_folder(out, report, kept) as folder:
        comparison = compare_table(
            interest.table(spark, screen, progress),
            [BuildRequest.of(name, [], seed=seed, threads=threads) for name in names],
            out=folder,
        )
        write_page(report, [folder], out, screen, progress)
        where = plot or (out / PLOT if out is not None else None)
        if where is not None:
            progress.phase("draw")
            histograms = {row.algorithm: row.degree_histogram for row in comparison.rows}
            title = f"Degrees of overlays for {Path(interest.interest).name}"
            save_chart(degree_chart(histograms, title), where)
    first = comparison.rows[0]
    title = (
        f"{counted(first.nodes, 'node')}, {counted(first.topics, 'topic')}, "
        f"{counted(first.subscriptions, 'subscription')}"
    )
    told = [f"plot: {where}" if where else "--plot FILE saves a plot, --out DIR keeps the builds too"]
    if out is not None:
        told.append(f"builds: {', '.join(str(out / name) for name in names)}")
    screen.report(
        replace(comparison, plot=str(where) if where else UNSET),
        comparison_table(title, comparison.rows),
        *told,
        holds=all(row.topic_connected for row in comparison.rows),
    )
