"""Measure an overlay against its interest; profile an interest."""

from __future__ import annotations

from typing import Any

from topicloom.builders.default import choose_default, expected_seconds
from topicloom.builders.gm import build_gm
from topicloom.errors import InputError
from topicloom.jobs.certify import certify
from topicloom.jobs.inputs import (
    LoadedInterest,
    Notice,
    SparkChoice,
    check_agreement,
    load_interest,
    no_notice,
    read_told,
)
from topicloom.measures.connectivity import node_codes, sound_edges
from topicloom.measures.profile import Profile, profile_interest
from topicloom.measures.summary import measure_overlay
from topicloom.model.overlay import Overlay
from topicloom.model.progress import SILENT, Progress
from topicloom.model.summaries import Summary
from topicloom.spark.failures import spark_errors
from topicloom.spark.watch import watched
from topicloom.tables.source import TableSource, check_there

TRY_NODES = 5_000
"""Up to so many nodes `inspect` builds an overlay to tell what to expect of one."""


class Inspected(Summary, frozen=True):
    """What `topicloom inspect --json` prints: the profile, and what was left out of the table."""

    profile: Profile
    duplicates: int
    rejected: int

    FLAT = frozenset({"profile"})


def measure_sources(
    interest: TableSource,
    edges: TableSource,
    *,
    spark: SparkChoice,
    subscribers_only: bool = False,
    strict: bool = False,
    threads: int | None = None,
    bounds: bool = False,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """All measures of the overlay in `edges`, as `topicloom measure --json` prints them.

    With `bounds` also how far it is from the best possible overlay.
    """
    start = progress.now()
    check_there(edges)
    with spark.workspace() as work:
        loaded = load_interest(
            interest,
            spark=spark,
            work=work,
            subscribers_only=subscribers_only,
            strict=strict,
            notice=notice,
            progress=progress,
        )
        check_agreement(edges, interest, loaded.digest)
        overlay, oddities = load_overlay(
            edges, loaded, spark=spark, strict=strict, notice=notice, progress=progress
        )
    found = measure_overlay(loaded.interest, overlay, threads=threads, progress=progress)
    if bounds:
        found |= certify(loaded.interest, found, threads=threads, progress=progress)
    table = {
        "duplicates": loaded.duplicates,
        "rejected": loaded.rejected,
        "interest_digest": loaded.digest,
        "seconds": {"total": progress.now() - start},
    }
    return found | oddities | table


def load_overlay(
    edges: TableSource,
    loaded: LoadedInterest,
    *,
    spark: SparkChoice,
    strict: bool = False,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> tuple[Overlay, dict[str, int]]:
    """The overlay of an edge table, and how many rows played no part in it."""
    session = spark.session(progress)
    raw = read_told(edges, spark=spark, strict=strict, notice=notice, progress=progress)
    with spark_errors(edges.path):
        table = watched(session, raw.rows.toArrow, progress=progress, phase="read edges")
    raw.release()
    interest = loaded.interest
    u, v = (node_codes(table.column(name), interest.node_ids) for name in ("u", "v"))
    sound = sound_edges(u, v, interest.n_nodes)
    oddities = {
        "unknown_nodes": sound.unknown,
        "self_loops": sound.loops,
        "duplicate_edges": sound.duplicates,
    }
    if strict and any(oddities.values()):
        listed = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in oddities.items() if count)
        raise InputError(f"{edges.path} holds {listed}; leave out --strict to measure the rest")
    return Overlay.from_edges(interest.node_ids, sound.low, sound.high), oddities


def inspect_source(
    interest: TableSource,
    *,
    spark: SparkChoice,
    subscribers_only: bool = False,
    strict: bool = False,
    threads: int | None = None,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> Inspected:
    """What an interest table looks like, as `topicloom inspect --json` prints it."""
    with spark.workspace() as work:
        loaded = load_interest(
            interest,
            spark=spark,
            work=work,
            subscribers_only=subscribers_only,
            strict=strict,
            notice=notice,
            progress=progress,
        )
    # What a greedy overlay needs is no guess where building one takes no longer than the guess.
    greedy = None
    if loaded.interest.n_nodes <= TRY_NODES:
        greedy = float(build_gm(loaded.interest, threads=threads).overlay.degrees().mean())
    default = choose_default(loaded.interest, {}, bound=False).algorithm, expected_seconds(loaded.interest)
    profile = profile_interest(
        loaded.interest, threads=threads, greedy_degree=greedy, default=default, progress=progress
    )
    return Inspected(profile=profile, duplicates=loaded.duplicates, rejected=loaded.rejected)
