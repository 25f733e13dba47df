"""`topicloom compare`: several builders on one interest, one table, plots."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer
from msgspec.structs import replace

from topicloom.base.counts import counted
from topicloom.base.summaries import UNSET
from topicloom.cli.comparison_plots import PlotFiles
from topicloom.cli.comparison_text import FORMATS, check_format, comparison_text
from topicloom.cli.console import Screen
from topicloom.cli.options import EngineOptions, InterestOptions, ReportFile, Seed, Threads
from topicloom.cli.reports import result_folder, write_page
from topicloom.cli.tables import comparison_table, deaths_table, means_table
from topicloom.errors import UsageError

if TYPE_CHECKING:
    from topicloom.overlay.jobs.build_request import BuildRequest
    from topicloom.overlay.jobs.compare import Comparison
    from topicloom.overlay.workloads.generate import Workload

EXAMPLES = """
topicloom compare table.csv --algorithms balanced,gm,gm-m,ring-pt
topicloom compare table.csv --algorithms balanced,gm --set balanced:work=100 --output-format latex
topicloom compare --nodes 1000 --topics 200 --subscriptions 10:90 --seeds 5     (means of 5 drawn tables)
topicloom compare table.csv --algorithms gm,gm-m --out comparison     (keeps the builds and plots)
topicloom compare table.csv --frontier --frontier-plot frontier.pdf   (edges against degree and hops)
topicloom compare table.csv --report comparison.html                  (a page to look at and pass on)
"""
MOST_SEEDS = 1_000


@dataclass(frozen=True, slots=True)
class DrawnOptions:
    """A workload that is drawn here, in place of a table."""

    PANEL: ClassVar[str] = "Drawn workload (in place of INTEREST; as for generate)"

    nodes: Annotated[int | None, typer.Option(min=1, help="Number of nodes.")] = None
    topics: Annotated[int | None, typer.Option(min=1, help="Number of topics; a preset has its own.")] = None
    subscriptions: Annotated[str | None, "Topics per node."] = None
    popularity: Annotated[str, "Law of the topics' popularity, or a preset."] = "uniform"
    seeds: Annotated[
        int | None,
        typer.Option(
            min=2, max=MOST_SEEDS, help="Draw so many workloads, from --seed on; means with 95% intervals."
        ),
    ] = None

    def workload(self, table: str, seed: int) -> Workload | None:
        """Return what is to be drawn; None where a table is given."""
        from topicloom.overlay.workloads.generate import workload_from_options

        if self.nodes is None:
            wrong = {"--seeds": self.seeds, "--topics": self.topics, "--subscriptions": self.subscriptions}
            for option, value in wrong.items():
                if value is not None:
                    raise UsageError(f"{option} is for drawn workloads: give --nodes in place of INTEREST")
            return None
        if table:
            raise UsageError(f"INTEREST {table} and --nodes exclude each other: give a table or draw one")
        return workload_from_options(self.nodes, self.topics, self.subscriptions, self.popularity, seed)


def compare(
    interest: InterestOptions,
    drawn: DrawnOptions,
    plots: PlotFiles,
    spark: EngineOptions,
    screen: Screen,
    algorithms: Annotated[
        str, "Builders, separated by commas (see topicloom build --list)."
    ] = "balanced,gm,gm-m,ring-pt",
    set_: Annotated[
        list[str] | None,
        typer.Option(metavar="BUILDER:KEY=VALUE", help="A parameter of one builder (see build --list)."),
    ] = None,
    frontier: Annotated[
        bool, "Build with balanced under several caps on degrees and bounds on hops too."
    ] = False,
    output_format: Annotated[str, f"How to print the table: {', '.join(FORMATS)}."] = "table",
    out: Annotated[Path | None, "Folder for all builds and the plots."] = None,
    report: ReportFile = None,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Build with several algorithms, prove each overlay, and show them side by side.

    Exit 1 if one of the overlays is not topic-connected.
    """
    check_format(output_format)
    requests = requests_of(algorithms, set_ or [], seed, threads)
    plots.check(frontier=frontier)
    workload = drawn.workload(interest.shown if interest.given else "", seed)
    if report is not None and drawn.seeds is not None:
        raise UsageError("--report goes without --seeds: it is about one interest")
    name = f"{workload.nodes:,} drawn nodes" if workload is not None else interest.shown
    with screen.working() as progress, result_folder(out, report, name.partition(".")[0]) as folder:
        if workload is None:
            from topicloom.overlay.jobs.compare import compare_table

            table = interest.ready(spark, screen, progress)
            comparison = compare_table(table, requests, out=folder, frontier=frontier)
        else:
            from topicloom.overlay.jobs.compare_drawn import compare_drawn

            comparison = compare_drawn(
                workload, requests, seeds=drawn.seeds or 1, out=folder, frontier=frontier, progress=progress
            )
        write_page(report, [folder], out, screen, progress)
        drawings = plots.draw(comparison, name, out, progress)
    told = [f"{key.replace('_', ' ')}: {path}" for key, path in drawings.items()]
    if not drawings:
        told = ["--plot FILE saves a plot, --out DIR keeps the builds too"]
    if out is not None:
        several = drawn.seeds is not None
        kept = [f"{row.algorithm}-{row.seed}" if several else row.algorithm for row in comparison.rows]
        told.append(f"builds: {', '.join(str(out / one) for one in kept)}")
    comparison = replace(comparison, **drawings)
    if output_format == "table":
        parts = [*_tables(comparison), *told]
    else:
        parts = [comparison_text(comparison, output_format)]
        for line in told:
            screen.say(line)
    screen.report(
        comparison,
        *parts,
        holds=all(row.topic_connected for row in comparison.rows),
        always=output_format != "table",
    )


def requests_of(algorithms: str, settings: list[str], seed: int, threads: int | None) -> list[BuildRequest]:
    """Return what to build; settings go to the builder they name."""
    from topicloom.overlay.jobs.build_request import BuildRequest

    names = [name.strip() for name in algorithms.split(",") if name.strip()]
    if not names or len(set(names)) < len(names):
        raise UsageError(f"--algorithms {algorithms}: name each builder once, separated by commas")
    own: dict[str, list[str]] = {name: [] for name in names}
    for setting in settings:
        name, colon, rest = setting.partition(":")
        if not colon or "=" in name:
            raise UsageError(f"--set {setting}: write it as BUILDER:key=value, e.g. {names[0]}:{setting}")
        if name not in own:
            raise UsageError(f"--set {setting}: {name} is none of the builders compared: {', '.join(names)}")
        own[name].append(rest)
    return [BuildRequest.of(name, own[name], seed=seed, threads=threads) for name in names]


def _tables(comparison: Comparison) -> list[object]:
    first = comparison.rows[0]
    title = (
        f"{counted(first.nodes, 'node')}, {counted(first.topics, 'topic')}, "
        f"{counted(first.subscriptions, 'subscription')}"
    )
    if comparison.means is UNSET:
        parts: list[object] = [comparison_table(title, comparison.rows)]
    else:
        count = len(comparison.means[0].seeds)
        parts = [means_table(f"{count} drawn workloads, the first: {title}", comparison.means)]
    parts.append(deaths_table(comparison.rows if comparison.means is UNSET else comparison.means))
    if comparison.frontier is not UNSET:
        from topicloom.cli.comparison_plots import frontier_table

        parts.append(frontier_table(comparison.frontier))
    return parts
