"""`topicloom export`: a build as broker configurations or as a graph file."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from topicloom.base.counts import counted
from topicloom.cli.console import Screen
from topicloom.cli.option_names import in_options
from topicloom.cli.options import EdgeReadingOptions, ReadingOptions, SparkOptions
from topicloom.errors import UsageError
from topicloom.mesh.jobs.export import (
    DEFAULT_BACKUPS,
    DEFAULT_QUEUE,
    DescribedExporter,
    ExportOptions,
    ExportSummary,
    described_exporters,
    export_build,
    export_edges,
    exporters,
)
from topicloom.mesh.kinds.registry import KINDS, runnable

EXAMPLES = """
topicloom export mosquitto my-overlay --out brokers
topicloom export nats my-overlay --hosts hosts.csv --credentials logins.csv --out brokers
topicloom export mosquitto my-overlay --hosts hosts.csv --tls certificates --backups 2 --out brokers
topicloom export mosquitto my-overlay --hosts hosts.csv --durable --out brokers
topicloom export zenoh my-overlay --out routers --json
topicloom export graphml edges.csv --interest table.csv --out graph     (edges of your own)
topicloom export --list          (all kinds and their options)
"""


def _takers(option: str) -> str:
    """The kinds that honour an option."""
    return ", ".join(kind for kind, found in exporters().items() if option in found.options)


def _host_columns() -> str:
    """Columns that only some kinds read."""
    return "".join(
        f", for {name} {', '.join(kind.host_columns)}" for name, kind in KINDS.items() if kind.host_columns
    )


@dataclass(frozen=True, slots=True)
class BrokerOptions(ExportOptions):
    """The options of an export in the words of the command line."""

    PANEL: ClassVar[str] = "Brokers"

    hosts: Annotated[
        Path | None,
        f"CSV with columns node, host and maybe port{_host_columns()}; without it all brokers "
        "are on 127.0.0.1.",
        "FILE",
    ] = None
    credentials: Annotated[
        Path | None,
        "CSV with columns node, user, password for clients; made up for brokers elsewhere if not given.",
        "FILE",
    ] = None
    tls: Annotated[
        Path | None,
        "Folder with ca.crt and, for each node, NODE.crt and NODE.key; named in the "
        "configurations, not copied.",
        "DIR",
    ] = None
    tls_at: Annotated[
        Path | None,
        "Where the files of --tls are on the machines of the brokers; those that are also in DIR are tried.",
        "PATH",
    ] = None
    backups: Annotated[
        int | None,
        "Brokers that a link may turn to when its other end is gone, where that is safe "
        f"({_takers('backups')}; default {DEFAULT_BACKUPS}; 0: none).",
        "N",
    ] = None
    split: Annotated[
        int | None,
        "Up to N links in each direction of an edge, so that more of them have a safe backup "
        f"({_takers('split')}; default 1: fewest links).",
        "N",
    ] = None
    durable: Annotated[
        bool,
        typer.Option(
            "--durable",
            help="Messages wait for a link that is down, in both directions, and are kept while a broker is "
            f"restarted ({_takers('durable')}; no backups then).",
        ),
    ] = False
    queue: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help=f"With --durable: messages that wait for each link at most (default {DEFAULT_QUEUE:,}).",
        ),
    ] = None
    trees: Annotated[
        str | None,
        "Trees of topics: hops (the fewest between any two subscribers) or spread (the load over all "
        f"brokers) ({_takers('trees')}; default spread).",
        "hops|spread",
    ] = None
    seed: Annotated[
        int | None,
        "For tests only: keys that follow from this number, so that anybody can make them again "
        f"({_takers('seed')}; default: keys nobody can guess).",
        "K",
    ] = None
    filters: Annotated[
        bool, "Topics with wildcards of the brokers stand for all names that they match; none may overlap."
    ] = False
    literal: Annotated[bool, "Topics with wildcards are names by themselves, escaped at the brokers."] = False
    open_: Annotated[bool, "Let everybody log in, also from other machines."] = False
    overwrite: Annotated[bool, "Replace an earlier export also if its files were edited since."] = False


@dataclass(frozen=True, slots=True)
class OwnTable(ReadingOptions):
    """How to read the table of `--interest`."""

    PANEL: ClassVar[str] = "Interest table (with --interest)"


@dataclass(frozen=True, slots=True)
class OwnEdges(EdgeReadingOptions):
    """How to read an edge table of one's own."""

    PANEL: ClassVar[str] = "Edge table (with --interest)"


def export(
    screen: Screen,
    options: BrokerOptions,
    reading: OwnTable,
    edge_reading: OwnEdges,
    spark: SparkOptions,
    kind: Annotated[str | None, typer.Argument(help=f"{', '.join(exporters())}.")] = None,
    build: Annotated[
        Path | None,
        typer.Argument(help="A build folder; with --interest also an edge table, columns u, v."),
    ] = None,
    out: Annotated[Path | None, "Folder to write."] = None,
    interest: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE", help="The (node, topic) table that goes with an edge table of your own."
        ),
    ] = None,
    list_: Annotated[bool, "List kinds and leave."] = False,
) -> None:
    """Write a build as configurations of real brokers, or as a file for graph tools.

    Brokers get a spanning tree for each topic, so that nothing goes round in circles, and manifest.json says
    who dials whom, what each topic is called there and in which order to start. Spark is needed for its own
    tables only.
    """
    if list_:
        found = described_exporters()
        return screen.report(found, *(_line(entry) for entry in found.exporters), always=True)
    own = interest is not None or reading.named
    if kind is None or (build is None and not (own and edge_reading.named)):
        raise UsageError("KIND or BUILD is missing; write topicloom export KIND BUILD --out DIR (see --list)")
    if out is None:
        raise UsageError("--out is missing; name the folder to write")
    with screen.working() as progress:
        if own:
            source = reading.source_at(interest or "", "--interest")
            edges = edge_reading.source_at(str(build or ""), "BUILD")
            engine = "local" if source.origin is None and edges.origin is None else "auto"
            table = reading.table_of(source, spark.choice(engine=engine), screen, progress)
            summary = export_edges(kind, edges, table, out=out, options=options)
            return screen.report(summary, *_told(summary))
        assert build is not None  # or it would be one's own
        _check_alone(build, reading, edge_reading)
        summary = export_build(kind, build, out=out, options=options, notice=screen.notice, progress=progress)
    screen.report(summary, *_told(summary))


def _check_alone(build: Path, reading: OwnTable, edge_reading: OwnEdges) -> None:
    """Refuse an edge table that comes without its interest, and what tells how to read tables."""
    for group, unused in ((reading, OwnTable()), (edge_reading, OwnEdges())):
        for field in fields(group):
            if getattr(group, field.name) != getattr(unused, field.name):
                raise UsageError(f"`{field.name}` tells how to read a table; give `interest` too")
    if build.is_file():
        raise UsageError(
            f"BUILD {build} is a file, not a build folder; for an edge table give --interest TABLE"
        )


def _line(entry: DescribedExporter) -> str:
    options = " ".join(f"--{name}" for name in entry.options)
    return f"{entry.kind}: {entry.description}" + (f" ({options})" if options else "")


def _told(summary: ExportSummary) -> list[str]:
    kind, out = summary.kind, summary.out
    if kind not in KINDS:
        return [
            f"{counted(summary.nodes, 'node')}, {counted(summary.links, 'link')}, "
            f"{counted(summary.topics, 'topic')}",
            f"written to {out}: {counted(len(summary.files), 'file')}",
        ]
    lines = [
        f"{counted(summary.nodes, 'broker')}, {counted(summary.links, 'link')}, at most "
        f"{summary.connections_per_node_max:,} at one broker; {counted(summary.topics, 'topic')}"
        + (f" in {counted(summary.accounts, 'account')}" if summary.accounts else "")
    ]
    if summary.hops_max is not None:
        line = f"a message takes at most {counted(summary.hops_max, 'hop')}"
        if summary.hops_overlay is not None and summary.hops_overlay < summary.hops_max:
            able = "; --trees hops takes the shortest trees" if "trees" in KINDS[kind].options else ""
            line += f", in the overlay {summary.hops_overlay:,}{able}"
        lines.append(line)
    if "backups" in KINDS[kind].options:
        have = "has" if summary.backups == 1 else "have"
        lines.append(f"{summary.backups:,} of the links {have} a backup")
    if summary.renamed:
        topic, name = next(iter(summary.renamed.items()))
        lines.append(
            f"{counted(len(summary.renamed), 'topic has another name', 'topics have other names')} there, "
            "which clients must use: "
            f"{topic[:40]!r} is {name[:60]}; manifest.json has them all"
        )
    lines.extend(map(in_options, summary.remarks))
    what = f"; next: topicloom run {kind} {out} --messages 100" if kind in runnable() else ""
    lines.append(f"written to {out}: {counted(len(summary.files), 'file')}{what}")
    return lines
