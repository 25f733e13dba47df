"""`topicloom build`: a table in, a proved overlay out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from topicloom.builders.registry import BUILDERS
from topicloom.cli.groups import with_groups
from topicloom.cli.options import InterestOptions, OutputOptions, Seed, SparkOptions, Threads, notices
from topicloom.cli.tables import builder_list
from topicloom.errors import UsageError
from topicloom.jobs.build import BuildRequest, build_to_folder, check_engine

EXAMPLES = """
[bold]Examples[/bold]

  topicloom build table.csv --out my-overlay

  topicloom build table.tsv --no-header --algorithm gm-m --out my-overlay --json

  topicloom build table.parquet --algorithm gm --set redundancy=2 --out robust

  topicloom build --list
"""
DEFAULT = "gm"


def build(
    table: InterestOptions,
    spark: SparkOptions,
    output: OutputOptions,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the result (needed).", show_default=False)
    ] = None,
    algorithm: Annotated[
        str, typer.Option("--algorithm", help=f"Builder: {', '.join(BUILDERS)} (see --list).")
    ] = DEFAULT,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the builder (see --list)."),
    ] = None,
    seed: Seed = 0,
    engine: Annotated[str, typer.Option("--engine", help="auto or local.")] = "auto",
    threads: Threads = None,
    list_builders: Annotated[bool, typer.Option("--list", help="List all builders and leave.")] = False,
) -> None:
    """Build an overlay in which every topic's subscribers are connected, prove it, and write it to a folder.

    Exit 0: built and proved. Exit 1: built, but the proof failed (the folder is written all the same).
    """
    screen = output.screen()
    if list_builders:
        screen.show(builder_list())
        screen.emit({"builders": [_described(key) for key in BUILDERS]})
        return
    source = table.source()
    if out is None:
        raise UsageError("--out is missing; name the folder for the result")
    request = BuildRequest.of(algorithm, settings or [], seed=seed, threads=threads)
    check_engine(engine, algorithm)
    with screen.working() as progress:
        summary = build_to_folder(
            source,
            out,
            request,
            spark=spark.choice(),
            subscribers_only=table.subscribers_only,
            strict=table.strict,
            notice=notices(screen),
            progress=progress,
        )
    if summary["rejected"]:
        notices(screen)(f"{out / 'rejects.parquet'} lists every refused row with its reason")
    screen.show(*_told(summary, out))
    if not output.quiet:
        screen.show(f"next: topicloom measure {out} {out}")
    screen.emit(summary)
    if not summary["topic_connected"]:
        raise typer.Exit(1)


def _told(summary: dict[str, Any], out: Path) -> list[str]:
    if summary["topic_connected"]:
        proof = f"proved: each of the {summary['topics']:,} topics is connected"
    else:
        proof = f"NOT topic-connected: {summary['topics_partitioned']:,} topics are split"
    seconds = summary["seconds"]
    return [
        f"{summary['nodes']:,} nodes, {summary['topics']:,} topics, {summary['subscriptions']:,} "
        f"subscriptions ({summary['duplicates']:,} duplicate and {summary['rejected']:,} refused rows)",
        f"{summary['algorithm']}: {summary['edges']:,} edges, average degree {summary['degree_avg']:.2f}, "
        f"maximum {summary['degree_max']:,}",
        proof,
        f"ingest {seconds['ingest']:.1f} s, build {seconds['build']:.1f} s, verify {seconds['verify']:.1f} s",
        f"written to {out}",
    ]


def _described(key: str) -> dict[str, Any]:
    builder = BUILDERS[key]
    return {
        "algorithm": key,
        "aim": builder.aim,
        "guarantee": builder.guarantee,
        "complexity": builder.complexity,
        "paper": builder.paper,
        "engines": list(builder.engines),
        "seeded": builder.seeded,
        "parameters": {
            name: {"default": parameter.default, "help": parameter.help}
            for name, parameter in builder.parameters.items()
        },
    }


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog=EXAMPLES)(with_groups(build))
