"""The option groups of all commands, and what the jobs get from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topicloom.base.progress import Progress
from topicloom.cli.console import Screen
from topicloom.errors import UsageError

if TYPE_CHECKING:  # help needs none of them
    from topicloom.overlay.jobs.constraints import ConstraintFiles
    from topicloom.overlay.jobs.interest_table import InterestTable
    from topicloom.tables.source import TableSource
    from topicloom.tables.spark.spark_choice import SparkChoice

_TABLE, _EDGES, _SPARK, _OUTPUT = "Interest table", "Edge table", "Spark", "Output"
_LIMITS = "Constraints (tables as for INTEREST; columns by name)"

SetOptions = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A parameter (see --list).")
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.")]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, help="Threads of the kernels; all cores by default.")
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE.html", help="Write a page about the result too.", show_default=False
    ),
]
Certify = Annotated[
    bool, typer.Option("--certify", help="Prove how far the overlay is from the best possible one.")
]


def _option(name: str, help_text: str, panel: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, help=help_text, rich_help_panel=panel)
    return option


@dataclass(frozen=True, slots=True)
class InterestOptions:
    """The interest table."""

    interest: Annotated[
        str,
        typer.Argument(
            metavar="INTEREST",
            help="Table of (node, topic) pairs: CSV, TSV, JSON lines or Parquet; a file, a folder of files "
            "or a build.",
            show_default=False,
        ),
    ] = ""
    node_column: Annotated[
        str | None, _option("--node-column", "Name or position (from 1) of the node column.", _TABLE)
    ] = None
    topic_column: Annotated[
        str | None, _option("--topic-column", "Name or position (from 1) of the topic column.", _TABLE)
    ] = None
    no_header: Annotated[bool, _option("--no-header", "CSV or TSV without a header row.", _TABLE)] = False
    separator: Annotated[str | None, _option("--separator", "Field separator, one character.", _TABLE)] = None
    quote: Annotated[bool, _option("--quote", "TSV fields may be quoted as in CSV.", _TABLE)] = False
    multiline: Annotated[bool, _option("--multiline", "Quoted fields may hold line breaks.", _TABLE)] = False
    subscribers_only: Annotated[
        bool, _option("--subscribers-only", "Leave out rows whose role is pub.", _TABLE)
    ] = False
    strict: Annotated[bool, _option("--strict", "Any refused row is an error (exit 2).", _TABLE)] = False

    def source(self) -> TableSource:
        """Return the table as described."""
        from topicloom.tables.source import interest_source

        if not self.interest:
            raise UsageError("INTEREST is missing; name a table of (node, topic) pairs")
        return interest_source(
            self.interest,
            first=self.node_column,
            second=self.topic_column,
            header=not self.no_header,
            separator=self.separator,
            quote=True if self.quote else None,
            multiline=self.multiline,
        )

    def table(self, spark: SparkOptions, screen: Screen, progress: Progress) -> InterestTable:
        """Return what the jobs need to read it."""
        from topicloom.overlay.jobs.interest_table import InterestTable

        return InterestTable(
            self.source(),
            spark.choice(self.interest),
            self.subscribers_only,
            self.strict,
            notices(screen),
            progress,
        )


@dataclass(frozen=True, slots=True)
class EdgeOptions:
    """The edge table."""

    edges: Annotated[
        str,
        typer.Argument(
            metavar="EDGES", help="A build folder, or a table with columns u, v.", show_default=False
        ),
    ] = ""
    u_column: Annotated[str | None, _option("--u-column", "Name or position of one end.", _EDGES)] = None
    v_column: Annotated[str | None, _option("--v-column", "Name or position of the other.", _EDGES)] = None
    edges_no_header: Annotated[bool, _option("--edges-no-header", "No header row there.", _EDGES)] = False
    edges_separator: Annotated[str | None, _option("--edges-separator", "Its field separator.", _EDGES)] = (
        None
    )

    def source(self) -> TableSource:
        """Return the table as described."""
        from topicloom.tables.source import edges_source

        if not self.edges:
            raise UsageError("EDGES is missing; name a build folder or a table with columns u, v")
        return edges_source(
            self.edges,
            first=self.u_column,
            second=self.v_column,
            header=not self.edges_no_header,
            separator=self.edges_separator,
        )


@dataclass(frozen=True, slots=True)
class LimitOptions:
    """What an overlay must respect."""

    caps: Annotated[
        str | None,
        _option(
            "--caps", "Most edges of nodes: a table with columns node, cap (node *: all others).", _LIMITS
        ),
    ] = None
    forbid: Annotated[str | None, _option("--forbid", "Pairs without an edge: columns u, v.", _LIMITS)] = None
    require: Annotated[str | None, _option("--require", "Pairs with an edge: columns u, v.", _LIMITS)] = None
    start: Annotated[
        str | None, _option("--start", "Edges that exist and stay: a build, or columns u, v.", _LIMITS)
    ] = None
    costs: Annotated[
        str | None, _option("--costs", "Costs of edges: columns u, v, cost; other pairs cost 1.", _LIMITS)
    ] = None

    def files(self) -> ConstraintFiles:
        """Return what the jobs need to read them."""
        from topicloom.overlay.jobs.constraints import ConstraintFiles

        return ConstraintFiles(self.caps, self.forbid, self.require, self.costs, self.start)


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """Where Spark runs."""

    master: Annotated[
        str | None, _option("--master", "Spark master URL; all cores of this machine by default.", _SPARK)
    ] = None
    spark_conf: Annotated[
        list[str] | None,
        typer.Option("--spark-conf", metavar="KEY=VALUE", help="A Spark setting.", rich_help_panel=_SPARK),
    ] = None
    event_log: Annotated[
        str | None, _option("--event-log", "Folder for Spark's event log, a file per run.", _SPARK)
    ] = None

    def choice(self, *inputs: str) -> SparkChoice:
        """Return what the jobs need to start a session, a quick one if all `inputs` are known and small."""
        from topicloom.tables.source import are_small
        from topicloom.tables.spark.settings import event_log_conf
        from topicloom.tables.spark.spark_choice import SparkChoice

        conf = {} if self.event_log is None else event_log_conf(self.event_log)
        for setting in self.spark_conf or ():
            key, equals, value = setting.partition("=")
            if not equals:
                raise UsageError(f"--spark-conf {setting}: write it as key=value")
            conf[key] = value
        return SparkChoice(self.master, conf, quick=bool(inputs) and are_small(*inputs))


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """How results and remarks are shown."""

    json: Annotated[
        bool, _option("--json", "Print one JSON object on stdout and nothing else there.", _OUTPUT)
    ] = False
    quiet: Annotated[bool, _option("--quiet", "No progress bars, no remarks.", _OUTPUT)] = False

    def screen(self) -> Screen:
        """Return the command's view."""
        return Screen(quiet=self.quiet, json=self.json)


def notices(screen: Screen) -> Callable[[str], None]:
    """Return what the jobs call to tell the user something that must not be missed, even with --quiet."""
    return lambda text: screen.say(text, always=True)
