"""`topicloom generate`: a synthetic interest table."""

from __future__ import annotations

from typing import Annotated

import typer

from topicloom.base.counts import counted
from topicloom.cli.console import Screen
from topicloom.cli.options import Seed, SparkOptions

EXAMPLES = """
topicloom generate table.csv --nodes 2000 --popularity rss --seed 1
topicloom generate table.parquet --nodes 1000000 --topics 10000 --subscriptions 20 --popularity zipf:0.5
"""


def generate(
    out: Annotated[str, typer.Argument(help="Where to write: .parquet, .csv or .tsv.")],
    nodes: Annotated[int, typer.Option(min=1, help="Number of nodes.")],
    spark: SparkOptions,
    screen: Screen,
    topics: Annotated[int | None, typer.Option(min=1, help="Number of topics; a preset has its own.")] = None,
    subscriptions: Annotated[
        str | None, "Topics per node: 10, 10:90 (uniform), or lognormal:MEDIAN:SIGMA:LOW:HIGH."
    ] = None,
    popularity: Annotated[
        str,
        "uniform, zipf:A, exponential:S, geometric:R, or a preset: rss, nyse, chen-uniform, chen-zipf, "
        "chen-exp.",
    ] = "uniform",
    seed: Seed = 0,
) -> None:
    """Write a synthetic interest table: so many nodes, each wanting some topics by a popularity law."""
    from topicloom.overlay.jobs.generate import generate_to
    from topicloom.overlay.workloads.generate import workload_from_options

    with screen.working() as progress:
        workload = workload_from_options(nodes, topics, subscriptions, popularity, seed)
        report = generate_to(out, workload, spark=spark.choice(), progress=progress)
    screen.report(
        report,
        f"{counted(report.subscriptions, 'subscription')} of {counted(report.nodes, 'node')} written "
        f"to {out} in {report.seconds['total']:.1f} s",
    )
