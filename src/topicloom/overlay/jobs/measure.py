"""Measure an overlay against its interest; profile an interest."""

from __future__ import annotations

from msgspec.structs import asdict, replace

from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import UNSET, Figures, Seconds, Summary, UnsetType
from topicloom.errors import InputError
from topicloom.overlay.builders.default import TRY_NODES, choose_default, told_expectation
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.jobs.certify import certify
from topicloom.overlay.jobs.interest_table import InterestTable, check_agreement
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
from topicloom.tables.first_look import check_there
from topicloom.tables.source import TableSource


class Inspected(Summary, frozen=True):
    """What `topicloom inspect --json` prints: the profile, and what was left out of the table."""

    profile: Profile
    duplicates: int
    rejected: int
    names_alike: AlikeNames
    wildcard_topics: int

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
    loaded = interest.load()
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
    counts = asdict(left_out)
    if table.strict and any(counts.values()):
        listed = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count)
        raise InputError(f"{edges.path} holds {listed}; leave out `strict` to measure the rest")
    return Overlay.from_edges(interest.node_ids, sound.low, sound.high), left_out


def inspect_table(table: InterestTable, *, threads: int | None = None) -> Inspected:
    """Describe an interest table."""
    loaded = table.load()
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


def profile_of(interest: Interest, *, threads: int | None = None, progress: Progress = SILENT) -> Profile:
    """Describe an interest, and what to expect of an overlay of it."""
    # What a greedy overlay needs is no guess where building one takes no longer than the guess.
    greedy = None
    if 0 < interest.n_nodes <= TRY_NODES:
        greedy = float(build_gm(interest, threads=threads).overlay.degrees().mean())
    default = choose_default(interest, {}, bound=False).algorithm, told_expectation(interest)
    return profile_interest(
        interest, threads=threads, greedy_degree=greedy, default=default, progress=progress
    )
