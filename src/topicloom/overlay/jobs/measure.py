"""Measure an overlay against its interest; profile an interest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import asdict, replace

from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import UNSET, Figures, Seconds, Summary, UnsetType
from topicloom.errors import InputError
from topicloom.overlay.builders.default import TRY_NODES, choose_default, told_expectation
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.jobs.build_request import LOCAL_SUBSCRIPTIONS
from topicloom.overlay.jobs.certify import certify
from topicloom.overlay.jobs.interest_table import InterestTable, LoadedInterest, check_agreement
from topicloom.overlay.measures.connectivity import node_codes, sound_edges
from topicloom.overlay.measures.names import (
    AlikeNames,
    alike_told,
    find_alike,
    wildcard_topics,
    wildcards_told,
)
from topicloom.overlay.measures.profile import Profile, profile_interest
from topicloom.overlay.measures.registry import measure_overlay
from topicloom.overlay.model.build import Certificate
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.spark.certify import certify_by_nodes
from topicloom.overlay.spark.encode import EncodedInterest, InterestRead
from topicloom.overlay.spark.measure import measure_encoded
from topicloom.overlay.spark.profile import (
    TOO_MANY_NAMES,
    alike_names,
    count_components,
    profile_encoded,
)
from topicloom.tables.first_look import check_there
from topicloom.tables.local.limits import n_parquet_rows
from topicloom.tables.source import TableSource
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.origins import count_rows
from topicloom.tables.spark.read import read_table


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
    left_out: LeftOut
    duplicates: int
    rejected: int
    interest_digest: str
    seconds: Seconds

    FLAT = frozenset({"measures", "certificate", "left_out"})


def measure_tables(
    interest: InterestTable, edges: TableSource, *, threads: int | None = None, bounds: bool = False
) -> Measured:
    """Measure the overlay in `edges`; with `bounds` tell how far it is from the best possible one."""
    progress = interest.progress
    start = progress.now()
    check_there(edges)
    with at_any_size(interest) as (loaded, read):
        if read is not None:
            return _measure_there(interest, read.encoded, edges, start, bounds=bounds)
    assert loaded is not None
    check_agreement(edges, interest.source, loaded.digest, interest.spark)
    overlay, left_out = load_overlay(edges, loaded.interest, interest)
    found = measure_overlay(loaded.interest, overlay, threads=threads, progress=progress)
    return Measured(
        measures=found,
        certificate=certify(loaded.interest, found, threads=threads, progress=progress) if bounds else UNSET,
        left_out=left_out,
        duplicates=loaded.duplicates,
        rejected=loaded.rejected,
        interest_digest=loaded.digest,
        seconds={"total": progress.now() - start},
    )


@contextmanager
def at_any_size(interest: InterestTable) -> Iterator[tuple[LoadedInterest | None, InterestRead | None]]:
    """Give an interest in memory, or one that stays on Spark: a large one, or if that is asked for."""
    if interest.spark.engine != "spark" and not is_large(interest):
        yield interest.load(), None
        return
    with interest.spark.workspace(progress=interest.progress) as work:
        read = interest.encode(work)
        try:
            yield None, read
        finally:
            read.raw.release()


def is_large(interest: InterestTable) -> bool:
    """Return whether a table has so many rows that it stays on Spark: Parquet says so, Spark can be asked."""
    if interest.reads_here():
        return False
    source, progress = interest.source, interest.progress
    if source.origin is None:
        return n_parquet_rows(source) > LOCAL_SUBSCRIPTIONS
    session = interest.spark.session(progress)
    return count_rows(session, source.origin, progress=progress) > LOCAL_SUBSCRIPTIONS


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
            _refuse_unsound(table, edges, left_out)
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
        left_out=left_out,
        duplicates=encoded.duplicates,
        rejected=encoded.rejected,
        interest_digest=encoded.digest,
        seconds={"total": progress.now() - start},
    )


def _refuse_unsound(table: InterestTable, edges: TableSource, left_out: LeftOut) -> None:
    counts = asdict(left_out)
    if table.strict and any(counts.values()):
        listed = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count)
        raise InputError(f"{edges.path} holds {listed}; leave out `strict` to measure the rest")


def load_overlay(edges: TableSource, interest: Interest, table: InterestTable) -> tuple[Overlay, LeftOut]:
    """Load the overlay of an edge table, and count the rows that played no part in it."""
    raw = table.read_told(edges)
    try:
        rows = raw.to_arrow(progress=table.progress, phase="read edges")
    finally:
        raw.release()
    u, v = (node_codes(rows.column(name), interest.node_ids) for name in ("u", "v"))
    sound = sound_edges(u, v, interest.n_nodes)
    left_out = LeftOut(sound.unknown, sound.loops, sound.duplicates)
    _refuse_unsound(table, edges, left_out)
    return Overlay.from_edges(interest.node_ids, sound.low, sound.high), left_out


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
    default = choose_default(encoded, {}, bound=False, here=here).name, told_expectation(encoded)
    with spark_errors(table.source.path):
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
