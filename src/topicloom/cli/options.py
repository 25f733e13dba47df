"""The option groups of all commands, and what the jobs get from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from topicloom.base.progress import Progress
from topicloom.cli.console import Screen
from topicloom.cli.spark_tables import named_table
from topicloom.cli.standard_input import path_of
from topicloom.errors import UsageError

if TYPE_CHECKING:  # help needs none of them
    from topicloom.overlay.jobs.constraints import ConstraintFiles
    from topicloom.overlay.jobs.interest_table import InterestTable
    from topicloom.tables.source import TableSource
    from topicloom.tables.spark.spark_choice import SparkChoice

Settings = Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A parameter (see --list).")]
Seed = Annotated[int, "Seed of everything random."]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads of the kernels; all cores by default.")]
Certify = Annotated[bool, "Prove how far the overlay is from the best possible one."]
ReportFile = Annotated[
    Path | None, typer.Option(metavar="FILE.html", help="Write a page about the result too.")
]


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How to read an interest table, whatever names it."""

    PANEL: ClassVar[str] = "Interest table"

    node_column: Annotated[str | None, "Name or position (from 1) of the node column."] = None
    topic_column: Annotated[str | None, "Name or position (from 1) of the topic column."] = None
    format: Annotated[
        str | None, "csv, tsv, json or parquet, where its name does not tell; standard input is csv."
    ] = None
    no_header: Annotated[bool, "CSV or TSV without a header row."] = False
    separator: Annotated[str | None, "Field separator, one character."] = None
    quote: Annotated[bool, "TSV fields may be quoted as in CSV."] = False
    multiline: Annotated[bool, "Quoted fields may hold line breaks."] = False
    encoding: Annotated[
        str, "Encoding of text: utf-8, or one with a byte per character such as latin-1, windows-1252."
    ] = "utf-8"
    subscribers_only: Annotated[bool, "Leave out rows whose role is pub."] = False
    strict: Annotated[bool, "Any refused row is an error (exit 2)."] = False
    table: Annotated[str | None, "A table of Spark's catalog instead: catalog.schema.name.", "NAME"] = None
    sql: Annotated[str | None, "The result of a query of Spark instead.", "QUERY"] = None
    input_format: Annotated[
        str | None, "A format that Spark reads by itself: orc, avro, jdbc, delta, iceberg ...", "FORMAT"
    ] = None
    option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="An option for that format or table.")
    ] = None

    @property
    def named(self) -> bool:
        """Is the table named by an option of Spark's?"""
        given = self.table, self.sql, self.input_format, self.option or None
        return any(one is not None for one in given)

    def source_at(self, table: str, word: str) -> TableSource:
        """Return the table of this name as described; `word` is the option or argument that named it."""
        from topicloom.tables.source import interest_source

        text = {"format": self.format, "no_header": self.no_header, "separator": self.separator}
        text |= {"quote": self.quote, "multiline": self.multiline, "encoding": self.encoding != "utf-8"}
        origin = named_table(table, word, self.table, self.sql, self.input_format, self.option, text)
        if origin is not None:
            return interest_source(origin=origin, first=self.node_column, second=self.topic_column)
        path, content = path_of(table, word)
        return interest_source(
            path,
            content=content,
            format=self.format or ("csv" if content else None),
            first=self.node_column,
            second=self.topic_column,
            header=not self.no_header,
            separator=self.separator,
            quote=True if self.quote else None,
            multiline=self.multiline,
            encoding=self.encoding,
        )

    def table_of(
        self, source: TableSource, spark: SparkChoice, screen: Screen, progress: Progress
    ) -> InterestTable:
        """Return what the jobs need to read it."""
        from topicloom.overlay.jobs.interest_table import InterestTable

        return InterestTable(source, spark, self.subscribers_only, self.strict, screen.notice, progress)


@dataclass(frozen=True, slots=True)
class InterestOptions(ReadingOptions):
    """The interest table."""

    interest: Annotated[
        str,
        typer.Argument(
            help="Table of (node, topic) pairs: CSV, TSV, JSON lines or Parquet; a file, a folder of files, "
            "a build, or - for standard input.",
        ),
    ] = ""

    @property
    def given(self) -> bool:
        """Is there a table at all?"""
        return bool(self.interest) or self.named

    @property
    def shown(self) -> str:
        """Return what charts and pages call it."""
        return Path(self.interest).name or self.table or self.input_format or "query"

    def source(self) -> TableSource:
        """Return the table as described."""
        if not self.given:
            raise UsageError("INTEREST is missing; name a table of (node, topic) pairs")
        return self.source_at(self.interest, "INTEREST")

    def ready(self, spark: EngineOptions, screen: Screen, progress: Progress) -> InterestTable:
        """Return what the jobs need to read it."""
        source = self.source()
        return self.table_of(source, spark.choice_of(source), screen, progress)


@dataclass(frozen=True, slots=True)
class EdgeReadingOptions:
    """How to read an edge table, whatever names it."""

    PANEL: ClassVar[str] = "Edge table"

    u_column: Annotated[str | None, "Name or position of one end."] = None
    v_column: Annotated[str | None, "Name or position of the other."] = None
    edges_no_header: Annotated[bool, "No header row there."] = False
    edges_separator: Annotated[str | None, "Its field separator."] = None
    edges_encoding: Annotated[str, "Its encoding."] = "utf-8"
    edges_table: Annotated[str | None, "A table of Spark's catalog instead.", "NAME"] = None
    edges_sql: Annotated[str | None, "The result of a query of Spark instead.", "QUERY"] = None
    edges_input_format: Annotated[str | None, "A format that Spark reads by itself.", "FORMAT"] = None
    edges_option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="An option for that format or table.")
    ] = None

    @property
    def named(self) -> bool:
        """Is the table named by an option of Spark's?"""
        given = self.edges_table, self.edges_sql, self.edges_input_format, self.edges_option or None
        return any(one is not None for one in given)

    def source_at(self, table: str, word: str) -> TableSource:
        """Return the table of this name as described; `word` is the argument that named it."""
        from topicloom.tables.source import edges_source

        text = {"edges_no_header": self.edges_no_header, "edges_separator": self.edges_separator}
        text["edges_encoding"] = self.edges_encoding != "utf-8"
        named = self.edges_table, self.edges_sql, self.edges_input_format, self.edges_option
        origin = named_table(table, word, *named, text, prefix="edges_")
        if origin is not None:
            return edges_source(origin=origin, first=self.u_column, second=self.v_column)
        path, content = path_of(table, word)
        return edges_source(
            path,
            content=content,
            format="csv" if content else None,
            first=self.u_column,
            second=self.v_column,
            header=not self.edges_no_header,
            separator=self.edges_separator,
            encoding=self.edges_encoding,
        )


@dataclass(frozen=True, slots=True)
class EdgeOptions(EdgeReadingOptions):
    """The edge table."""

    edges: Annotated[
        str, typer.Argument(help="A build folder, or a table with columns u, v; - for standard input (CSV).")
    ] = ""

    def source(self) -> TableSource:
        """Return the table as described."""
        if not self.edges and not self.named:
            raise UsageError("EDGES is missing; name a build folder or a table with columns u, v")
        return self.source_at(self.edges, "EDGES")


def in_turn(interest: InterestOptions, edges: EdgeOptions) -> tuple[InterestOptions, EdgeOptions]:
    """Return both tables where one word may stand for either: arguments name what no option names.

    With INTEREST named by an option, a word that stands alone is EDGES.
    """
    if interest.named and interest.interest and not edges.edges and not edges.named:
        return replace(interest, interest=""), replace(edges, edges=interest.interest)
    return interest, edges


PairCosts = Annotated[str | None, "Costs of edges: columns u, v, cost; other pairs cost 1."]
Rates = Annotated[
    str | None, "Messages of topics per unit of time: columns topic, rate; other topics have none."
]
RoundTrips = Annotated[
    str | None, "Round-trip times of pairs: columns u, v, ms; other pairs take as long as the slowest."
]


@dataclass(frozen=True, slots=True)
class LimitOptions:
    """What an overlay must respect."""

    PANEL: ClassVar[str] = "Constraints (files, or table:NAME or sql:QUERY of Spark; columns by name)"

    caps: Annotated[
        str | None,
        "Most edges of nodes: columns node, cap (node *: all others); column load: the most to forward.",
    ] = None
    forbid: Annotated[str | None, "Pairs without an edge: columns u, v."] = None
    require: Annotated[str | None, "Pairs with an edge: columns u, v."] = None
    start: Annotated[str | None, "Edges that exist and stay: a build, or columns u, v."] = None
    costs: PairCosts = None
    rates: Rates = None
    rtt: RoundTrips = None

    def files(self, encoding: str) -> ConstraintFiles:
        """Return what the jobs need to read them."""
        from topicloom.overlay.jobs.constraints import ConstraintFiles

        return ConstraintFiles(
            self.caps, self.forbid, self.require, self.costs, self.start, encoding, self.rates, self.rtt
        )


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """Where Spark runs."""

    PANEL: ClassVar[str] = "Spark"

    master: Annotated[str | None, "Spark master URL; all cores of this machine by default."] = None
    spark_conf: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A Spark setting.")] = None
    event_log: Annotated[str | None, "Folder for Spark's event log, a file per run."] = None
    spark_plans: Annotated[Path | None, "File for the plans of Spark's queries.", "FILE"] = None

    def choice(self, *inputs: str, engine: str = "auto") -> SparkChoice:
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
        return SparkChoice(self.master, conf, bool(inputs) and are_small(*inputs), engine)


@dataclass(frozen=True, slots=True)
class EngineOptions(SparkOptions):
    """Who reads tables: Spark, and where it runs, or this process."""

    PANEL: ClassVar[str] = "Engine"

    engine: Annotated[
        str,
        "local: read, build and prove in this process, files up to 256 MiB; spark: everything on Spark; "
        "auto: Spark reads and proves tables, folders that topicloom wrote are read here.",
    ] = "auto"

    def choice(self, *inputs: str, engine: str | None = None) -> SparkChoice:
        """Return what the jobs need to read tables."""
        return SparkOptions.choice(self, *inputs, engine=engine or self.engine)

    def choice_of(self, source: TableSource) -> SparkChoice:
        """Return what the jobs need to read this table; nobody knows how large one is that is no file."""
        return self.choice(*([source.place] if source.origin is None else []))
