"""Measure an overlay against its interest; profile an interest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from msgspec.structs import asdict, replace

from topicloom.base.addresses import is_address
from topicloom.base.counts import counted
from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import UNSET, Figures, Seconds, Summary, UnsetType
from topicloom.errors import RefusedInputError, UsageError
from topicloom.overlay.builders.default import TRY_NODES, choose_default, told_expectation
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.jobs.build_request import LOCAL_SUBSCRIPTIONS
from topicloom.overlay.jobs.certify import certify
from topicloom.overlay.jobs.constraints import ConstraintFiles, load_constraints
from topicloom.overlay.jobs.interest_table import InterestTable, LoadedInterest, check_agreement
from topicloom.overlay.measures.connectivity import node_codes, sound_edges
from topicloom.overlay.measures.deliveries import measure_deliveries, rates_of
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.measures.names import (
    AlikeNames,
    alike_told,
    find_alike,
    wildcard_topics,
    wildcards_told,
)
from topicloom.overlay.measures.profile import Profile, profile_interest
from topicloom.overlay.measures.registry import measure_overlay
from topicloom.overlay.measures.survival import check_survival
from topicloom.overlay.model.build import Certificate
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.spark.certify import certify_by_nodes
from topicloom.overlay.spark.encode import EncodedInterest, InterestRead
from topicloom.overlay.spark.measure import measure_encoded
from topicloom.overlay.spark.measure_topics import Sampled
from topicloom.overlay.spark.profile import (
    TOO_MANY_NAMES,
    alike_names,
    count_components,
    extent_of,
    profile_encoded,
)
from topicloom.tables.first_look import check_there
from topicloom.tables.local.limits import about_rows
from topicloom.tables.reader import TableRead
from topicloom.tables.source import TableSource
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.far_rows import about_far_rows
from topicloom.tables.spark.kept_place import KeptStore
from topicloom.tables.spark.links import shares_disk
from topicloom.tables.spark.raw_table import RawTable
from topicloom.tables.spark.read import read_table

NO_WEIGHTS = ConstraintFiles()


class Inspected(Summary, frozen=True):
    """What `topicloom inspect --json` prints: the profile, and what was left out of the table."""

    profile: Profile
    duplicates: int
    rejected: int
    names_alike: AlikeNames
    wildcard_topics: int
    unknown: dict[str, str] | UnsetType = UNSET  # why a figure is null

    FLAT = frozenset({"profile"})


class LeftOut(Summary, frozen=True):
    """Rows of an edge table that play no part."""

    unknown_nodes: int
    self_loops: int
    duplicate_edges: int


class Measured(Summary, frozen=True, kw_only=True):
    """What `topicloom measure --json` prints: all measures, and what was left out of the tables."""

    measures: Figures
    certificate: Certificate | UnsetType = UNSET
    unknown: dict[str, str] | UnsetType = UNSET  # why a figure is null
    sampled: Sampled | UnsetType = UNSET  # which figures are of a sample of topics
    left_out: LeftOut
    duplicates: int
    rejected: int
    interest_digest: str
    seconds: Seconds

    FLAT = frozenset({"measures", "certificate", "left_out"})


def measure_tables(
    interest: InterestTable,
    edges: TableSource,
    *,
    threads: int | None = None,
    bounds: bool = False,
    weights: ConstraintFiles = NO_WEIGHTS,
    survive: int = 0,
) -> Measured:
    """Measure the overlay in `edges`; with `bounds` tell how far it is from the best possible one.

    With `survive` the bounds are those of overlays in which every topic survives so many deaths.

    With `weights` (rates, round-trip times, costs) also what deliveries take and what all edges cost.
    """
    progress = interest.progress
    start = progress.now()
    check_there(edges)
    weights.check_there()
    with at_any_size(interest) as (loaded, read):
        if read is not None:
            if survive:
                raise UsageError("`survive` needs the interest in memory, and this one stays on Spark")
            if given := weights.kinds():
                raise UsageError(f"`{given[0]}` needs the interest in memory, and this one stays on Spark")
            return _measure_there(interest, read.encoded, edges, start, bounds=bounds)
    assert loaded is not None
    check_agreement(edges, interest.source, loaded.digest, interest.spark)
    overlay, left_out = load_overlay(edges, loaded.interest, interest)
    found = measure_overlay(loaded.interest, overlay, threads=threads, progress=progress)
    limits = load_constraints(weights, loaded, spark=interest.spark, progress=progress).constraints
    if len(limits.timed) and rates_of(loaded.interest, limits) is None:
        raise UsageError("`rtt` needs `rates`, or a column 'rate' in the interest's table")
    view = view_of(loaded.interest, overlay, threads=threads, progress=progress)
    found |= measure_deliveries(view, limits)
    certificate: Certificate | UnsetType = UNSET
    if bounds:
        options: dict[str, Any] = {"survive": survive, "constraints": limits}
        if survive:
            options["survives"] = check_survival(
                loaded.interest, overlay, survive, progress=progress
            ).survives
        certificate = certify(loaded.interest, found, threads=threads, progress=progress, **options)
    return Measured(
        measures=found,
        certificate=certificate,
        left_out=left_out,
        duplicates=loaded.duplicates,
        rejected=loaded.rejected,
        interest_digest=loaded.digest,
        seconds={"total": progress.now() - start},
    )


@contextmanager
def at_any_size(interest: InterestTable) -> Iterator[tuple[LoadedInterest | None, InterestRead | None]]:
    """Give an interest in memory, or one that stays on Spark: a large one, or if that is asked for."""
    raw = None
    with ExitStack() as opened:
        if interest.spark.engine != "spark":
            if interest.source.origin is not None:  # its rows are counted where they are kept
                raw = opened.enter_context(interest.opened())
            if not is_large(interest, raw):
                loaded = interest.load(raw)
                opened.close()
                yield loaded, None
                return
        work = opened.enter_context(_place(interest))
        read = interest.encode(work, raw=raw)
        opened.callback(read.raw.release)
        yield None, read


@contextmanager
def _place(interest: InterestTable) -> Iterator[str]:
    """Give a place for tables that only Spark reads: the executors, where they may see no disk of ours."""
    choice, progress = interest.spark, interest.progress
    if choice.given is None and shares_disk(choice.session(progress)):
        with choice.workspace(progress=progress) as folder:
            yield str(folder)
        return
    store = KeptStore()
    try:
        yield f"{store.root}/interest"
    finally:
        store.release()


def is_large(interest: InterestTable, raw: RawTable | None = None) -> bool:
    """Return whether a table has so many rows that it stays on Spark; files tell, or Spark counts."""
    if raw is not None:
        return raw.tally(progress=interest.progress)["rows"] > LOCAL_SUBSCRIPTIONS
    if interest.reads_here():
        return False
    source, progress = interest.source, interest.progress
    if not is_address(source.place):
        return about_rows(source) > LOCAL_SUBSCRIPTIONS
    return about_far_rows(interest.spark.session(progress), source, progress=progress) > LOCAL_SUBSCRIPTIONS


def _measure_there(
    table: InterestTable, encoded: EncodedInterest, edges: TableSource, start: float, *, bounds: bool
) -> Measured:
    """Measure on Spark: the pairs stay tables."""
    progress = table.progress
    check_agreement(edges, table.source, encoded.digest, table.spark)
    session = table.spark.session(progress)
    raw = read_table(session, edges, progress=progress)
    try:
        table.tell_read(raw)
        with spark_errors(f"{table.source.path} and {edges.path}"):
            found = measure_encoded(session, encoded, raw.rows, progress=progress)
            left_out = LeftOut(found.unknown_nodes, found.self_loops, found.duplicate_edges)
            refuse_unsound(table, edges, left_out)
            certificate: Certificate | UnsetType = UNSET
            if bounds:
                parts = count_components(session, encoded, progress=progress)
                certificate = certify_by_nodes(
                    session, encoded, found.figures, components=parts, progress=progress
                )
    finally:
        raw.release()
    return Measured(
        measures=found.figures,
        certificate=certificate,
        unknown=found.unknown,
        sampled=UNSET if found.sampled is None else found.sampled,
        left_out=left_out,
        duplicates=encoded.duplicates,
        rejected=encoded.rejected,
        interest_digest=encoded.digest,
        seconds={"total": progress.now() - start},
    )


def refuse_unsound(table: InterestTable, edges: TableSource, left_out: LeftOut) -> None:
    """Refuse rows of edges that play no part, if that is asked for."""
    counts = asdict(left_out)
    if table.strict and any(counts.values()):
        listed = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count)
        raise RefusedInputError(f"{edges.path} holds {listed}; without `strict` they are left out")


def load_overlay(
    edges: TableSource, interest: Interest, table: InterestTable, raw: TableRead | None = None
) -> tuple[Overlay, LeftOut]:
    """Load the overlay of an edge table, or of `raw` that was read; count the rows that played no part."""
    raw = table.read_told(edges) if raw is None else raw
    try:
        rows = raw.to_arrow(progress=table.progress, phase="read edges")
    finally:
        raw.release()
    u, v = (node_codes(rows.column(name), interest.node_ids) for name in ("u", "v"))
    sound = sound_edges(u, v, interest.n_nodes)
    left_out = LeftOut(sound.unknown, sound.loops, sound.duplicates)
    refuse_unsound(table, edges, left_out)
    return Overlay.from_edges(interest.node_ids, sound.low, sound.high), left_out


def unknown_told(edges: TableSource, count: int) -> str:
    """Say that so many rows of an edge table name an unknown node."""
    rows = counted(count, "row names", "rows name")
    return f"{edges.path}: {rows} a node that is not in the interest: left out"


def inspect_table(table: InterestTable, *, threads: int | None = None) -> Inspected:
    """Describe an interest table."""
    with at_any_size(table) as (loaded, read):
        if read is not None:
            return _inspect_there(table, read.encoded)
    assert loaded is not None
    profile = profile_of(loaded.interest, threads=threads, progress=table.progress)
    alike = find_alike(loaded.interest.node_ids, loaded.interest.topic_ids)
    filters = wildcard_topics(loaded.interest.topic_ids)
    remarks = [line for line in (alike_told(alike), wildcards_told(filters)) if line]
    return Inspected(
        profile=replace(profile, advice=(*profile.advice, *remarks)),
        duplicates=loaded.duplicates,
        rejected=loaded.rejected,
        names_alike=alike,
        wildcard_topics=len(filters),
    )


def _inspect_there(table: InterestTable, encoded: EncodedInterest) -> Inspected:
    """Describe an interest on Spark: the pairs stay tables."""
    session, progress = table.spark.session(table.progress), table.progress
    here = encoded.n_subscriptions <= LOCAL_SUBSCRIPTIONS
    with spark_errors(table.source.path):
        extent = extent_of(session, encoded, progress=progress)
        default = choose_default(extent, {}, bound=False, here=here).name, told_expectation(extent)
        profile = profile_encoded(session, encoded, default=default, progress=progress)
        alike = alike_names(session, encoded, progress=progress)
        filters = encoded.wildcard_topics(session)
    remarks = [line for line in (alike_told(alike), wildcards_told(filters)) if line]
    return Inspected(
        profile=replace(profile, advice=(*profile.advice, *remarks)),
        duplicates=encoded.duplicates,
        rejected=encoded.rejected,
        names_alike=alike,
        wildcard_topics=len(filters),
        unknown=UNSET if profile.components is not None else {"components": TOO_MANY_NAMES},
    )


def profile_of(interest: Interest, *, threads: int | None = None, progress: Progress = SILENT) -> Profile:
    """Describe an interest, and what to expect of an overlay of it."""
    # What a greedy overlay needs is no guess where building one takes no longer than the guess.
    greedy = None
    if 0 < interest.n_nodes <= TRY_NODES:
        greedy = float(build_gm(interest, threads=threads).overlay.degrees().mean())
    here = interest.n_subscriptions <= LOCAL_SUBSCRIPTIONS
    default = choose_default(interest, {}, bound=False, here=here).name, told_expectation(interest)
    return profile_interest(
        interest, threads=threads, greedy_degree=greedy, default=default, progress=progress
    )
