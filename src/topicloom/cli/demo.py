"""`topicloom demo`: the whole way from a table to proved overlays, on two workloads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topicloom.base.summaries import Seconds, Summary
from topicloom.cli.console import Screen
from topicloom.cli.options import EngineOptions, Seed
from topicloom.cli.tables import comparison_table

if TYPE_CHECKING:
    from topicloom.overlay.jobs.compare import ComparedBuild

PLOT, REPORT = "degrees.png", "report.html"


class DemoSummary(Summary, frozen=True):
    """What `topicloom demo --json` prints: every build of every workload."""

    rows: list[ComparedBuild]
    report: str
    plot: str
    seconds: Seconds


def demo(
    spark: EngineOptions,
    screen: Screen,
    out: Annotated[Path, "Folder for everything."] = Path("demo-output"),
    seed: Seed = 1,
) -> None:
    """Generate a workload, read it and a real table, build overlays, prove, compare and plot them."""
    from topicloom.base.charts import degree_panel, save_chart
    from topicloom.overlay.jobs.demo import ALGORITHMS, TABLE, run_demo
    from topicloom.report.write import write_report

    with screen.working() as progress:
        start = progress.now()
        quick = replace(spark.choice(), quick=True)
        results = list(run_demo(out, seed=seed, spark=quick, notice=screen.notice, progress=progress))
        progress.phase("draw")
        panel = {
            result.title: {row.algorithm: row.degree_histogram for row in result.rows} for result in results
        }
        save_chart(degree_panel(panel, "How many connections nodes need"), out / PLOT)
        write_report([results[0].folder], out / REPORT, progress=progress)
        seconds = progress.now() - start
    rows = [row for result in results for row in result.rows]
    screen.report(
        DemoSummary(rows, str(out / REPORT), str(out / PLOT), {"total": seconds}),
        *(comparison_table(f"\n{result.title}", result.rows) for result in results),
        "",
        "A topic is connected when its subscribers reach each other through nodes that want it, so no",
        "message ever crosses a node that does not. gm aims at the fewest connections, gm-m at the lowest",
        "peak, low-oda at something between, balanced at both; a ring per topic is the obvious way.",
        "",
        f"report    {out / REPORT}   (open it in a browser)",
        f"table     {out / TABLE}",
        *(
            f"builds    {result.folder}/{{{','.join(row.algorithm for row in result.rows)}}}"
            for result in results
        ),
        f"plot      {out / PLOT}",
        f"took      {seconds:.0f} s",
        "",
        "Try next:",
        f"  topicloom inspect {out / TABLE}",
        f"  topicloom measure {out / 'rss' / ALGORITHMS[0]} {out / 'rss' / ALGORITHMS[0]}",
        "  topicloom build YOUR_TABLE.csv --out my-overlay",
        "  topicloom build --list",
        holds=all(row.topic_connected for row in rows),
    )
