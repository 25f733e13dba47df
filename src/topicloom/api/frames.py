"""DataFrames of Spark in and out: what `topicloom.spark` stands on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from topicloom.api.arguments import EdgesLike, InterestLike, as_interest, as_rows
from topicloom.api.tables import column_choice, described
from topicloom.base.addresses import is_address
from topicloom.base.notebook import html_table, text_table
from topicloom.base.progress import Progress
from topicloom.base.summaries import UNSET, plain
from topicloom.base.warn import warn_caller
from topicloom.overlay.builders.default import DEFAULT, FALLBACK
from topicloom.overlay.builders.registry import BUILDERS, check_parameters
from topicloom.overlay.jobs.build import build_to_folder
from topicloom.overlay.jobs.build_place import KeptBuild, place_of
from topicloom.overlay.jobs.build_request import BuildRequest, BuildTask
from topicloom.overlay.jobs.improve_spark import SparkImproveTask, improve_there
from topicloom.overlay.jobs.interest_table import InterestTable
from topicloom.overlay.jobs.measure import inspect_table, measure_tables
from topicloom.overlay.measures.profile import Profile
from topicloom.overlay.model.build import Build, BuildSummary
from topicloom.overlay.model.build_folder import EDGES, INTEREST
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.python_tables import is_spark, refuse
from topicloom.overlay.spark.write_build import named_pairs
from topicloom.tables.folder import REJECTS
from topicloom.tables.origins import FRAME, Origin
from topicloom.tables.source import TableSource, edges_source, interest_source
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.kept_place import KeptStore
from topicloom.tables.spark.links import is_stopped, settled, shares_tables
from topicloom.tables.spark.places import load_table
from topicloom.tables.spark.session import active_session, arrow_frame, get_session, passing_session
from topicloom.tables.spark.spark_choice import SparkChoice

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparkBuilt:
    """A proved overlay on Spark: its edges, what was built for, and what there is to say of it.

    `edges` has `u`, `v` (names, u < v by UTF-8 bytes), `interest` has `node`, `topic` and maybe `role` and
    `rate`, each pair once; `rejects` has `file`, `row`, `reason`, and is None where no row was refused.
    Built without `out`, they stay with the executors as long as they are referred to.
    """

    edges: DataFrame
    summary: BuildSummary
    interest: DataFrame
    rejects: DataFrame | None = None

    def __repr__(self) -> str:
        return text_table("SparkBuilt", self._figures())

    def _repr_html_(self) -> str:
        return html_table("SparkBuilt", self._figures())

    def _figures(self) -> dict[str, Any]:
        names = ("algorithm", "engine", "nodes", "topics", "subscriptions", "rejected", "edges")
        names += ("degree_avg", "degree_max", "topic_connected")  # type: ignore[assignment]
        return {name: getattr(self.summary, name) for name in names}


def table_of(
    df: Any,
    node_column: str | int | None = None,
    topic_column: str | int | None = None,
    *,
    subscribers_only: bool = False,
    strict: bool = False,
    progress: Progress,
    engine: str = "auto",
) -> InterestTable:
    """Return the interest in a DataFrame, to be read in its own session."""
    session = session_of(df, "df")
    source = interest_source(
        origin=Origin(frame=df),
        first=column_choice("node_column", node_column),
        second=column_choice("topic_column", topic_column),
    )
    choice = SparkChoice(engine=engine, given=session)
    return InterestTable(source, choice, subscribers_only, strict, warn_caller, progress)


def session_of(df: Any, argument: str) -> SparkSession:
    """Return the session of a DataFrame; refuse what is none, or of a session that cannot be used."""
    if not is_spark(df):
        raise refuse(argument, "a DataFrame of Spark", df)
    session: SparkSession = df.sparkSession
    if is_stopped(session):
        raise refuse(argument, "a DataFrame of a session that runs; its own was stopped", df)
    return session


def edges_of(
    table: InterestTable, edges: DataFrame | EdgesLike, u_column: str | None, v_column: str | None
) -> TableSource:
    """Return edges beside an interest: a DataFrame, a build at an address, or other edges, sent to Spark."""
    session = table.spark.session()
    columns: dict[str, Any] = {
        "first": column_choice("u_column", u_column),
        "second": column_choice("v_column", v_column),
    }
    if isinstance(edges, str) and is_address(edges):
        return edges_source(edges, **columns)
    if is_spark(edges):
        if not shares_tables(session, session_of(edges, "edges")):
            raise refuse("edges", "a DataFrame of the same session as `df`, or edges in this process", edges)
        frame: Any = edges
    else:
        rows = as_rows(edges)
        rows = rows.to_arrow() if isinstance(rows, Overlay) else rows
        frame = arrow_frame(session, rows.cast(pa.schema([(name, pa.string()) for name in ("u", "v")])))
    return edges_source(origin=Origin(frame=frame), **columns)


def built_of(
    table: InterestTable,
    algorithm: str | None,
    parameters: Mapping[str, Any],
    *,
    out: str | None,
    resume: bool,
    seed: int,
    threads: int | None,
    certify: bool = False,
) -> SparkBuilt:
    """Build what `topicloom.spark.build` promises."""
    name = algorithm or (FALLBACK if table.spark.engine == "spark" else DEFAULT)
    checked = check_parameters(name, parameters)
    session = table.spark.session()
    fixed = bool(parameters)
    named = algorithm is not None
    request = BuildRequest(name, checked, seed, threads, certify=certify, named=named, fixed=fixed)
    choice = table.spark
    if "spark" in BUILDERS[name].engines and named:
        choice = SparkChoice(engine="spark", given=session)
    table = InterestTable(
        table.source, choice, table.subscribers_only, table.strict, table.notice, table.progress
    )
    place: Any = KeptBuild(session, FRAME) if out is None else place_of(out, choice, table.progress)
    return _result(session, place, out, build_to_folder(BuildTask(table, place, request, resume=resume)))


def improved_of(table: InterestTable, edges: TableSource, *, out: str | None, **options: Any) -> SparkBuilt:
    """Improve what `topicloom.spark.improve` promises; `options` are those of the task."""
    session = table.spark.session()
    place: Any = KeptBuild(session, FRAME) if out is None else place_of(out, table.spark, table.progress)
    return _result(session, place, out, improve_there(SparkImproveTask(table, edges, place, **options)))


def _result(session: SparkSession, place: Any, out: str | None, summary: BuildSummary) -> SparkBuilt:
    frames = place.frames if out is None else _written(session, out, summary)
    return SparkBuilt(frames[EDGES], summary, frames[INTEREST], frames.get(REJECTS))


def build_there(
    interest: InterestLike,
    algorithm: str | None,
    parameters: Mapping[str, Any],
    seed: int,
    threads: int | None,
    progress: Progress,
) -> Build:
    """Build on Spark what is in this process or in a DataFrame, and bring the edges back."""
    with passing_session():
        found = None if is_spark(interest) else as_interest(interest)
        if found is None:
            table = table_of(interest, progress=progress, engine="spark")
        else:
            frame = arrow_frame(active_session() or get_session(), found.to_arrow())
            table = table_of(frame, "node", "topic", progress=progress, engine="spark")
        name = algorithm or FALLBACK
        made = built_of(table, name, parameters, out=None, resume=False, seed=seed, threads=threads)
        with spark_errors(FRAME):
            # A DataFrame may have other rows now: those that were built for are kept.
            found = Interest.from_spark(made.interest) if found is None else found
            edges = run_watched(made.edges.sparkSession, made.edges.toArrow, progress=progress)
    overlay = Overlay.from_arrow(found.node_ids, edges).with_interest(found)
    summary = made.summary
    return Build(
        overlay,
        summary.algorithm,
        summary.parameters,
        seed=seed,
        seconds=summary.phases,
        report=summary.report,
        interest=found,
    )


def _written(session: SparkSession, out: str, summary: BuildSummary) -> dict[str, DataFrame]:
    """Return the tables of a build folder."""
    there = {} if summary.tables is UNSET else summary.tables
    names = [EDGES, INTEREST, *([REJECTS] if summary.rejected else [])]
    root = out if is_address(out) else str(Path(out).absolute())
    return {name: load_table(session, f"{root}/{there.get(name, name)}") for name in names}


# --- what is measured ----------------------------------------------------------------------------------


def measured(
    table: InterestTable, edges: TableSource, *, threads: int | None, certify: bool
) -> dict[str, Any]:
    """Measure edges, on Spark where the interest is large.

    There `unknown` tells why a figure is null, and `sampled` which ones are of a sample of the topics.
    """
    found = measure_tables(table, edges, threads=threads, bounds=certify)
    bounds = {} if found.certificate is UNSET else plain(found.certificate)
    more = {name: getattr(found, name) for name in ("unknown", "sampled")}
    return {
        **found.measures,
        **bounds,
        **{name: plain(one) for name, one in more.items() if one is not UNSET},
    }


def inspected(table: InterestTable, *, threads: int | None) -> Profile:
    """Describe an interest: here, or on Spark where it is large."""
    return inspect_table(table, threads=threads).profile


# --- reading -------------------------------------------------------------------------------------------


def read_encoded(
    path: Any,
    named: Mapping[str, Any],
    session: SparkSession | None,
    reading: Mapping[str, Any],
    *,
    subscribers_only: bool,
    strict: bool,
    progress: Progress,
) -> DataFrame:
    """Return an interest with its numbers, each pair once, kept by the executors."""
    session = session or (path.sparkSession if is_spark(path) else active_session() or get_session())
    choice = SparkChoice(given=session)
    source = described(path, **named, **reading)
    store = KeptStore()
    try:
        table = InterestTable(source, choice, subscribers_only, strict, warn_caller, progress)
        read = table.encode(f"{store.root}/read")
        read.raw.release()
        return run_watched(session, lambda: settled(named_pairs(session, read.encoded)), progress=progress)
    finally:
        store.release()
