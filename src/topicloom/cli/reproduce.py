"""`topicloom reproduce`: tables and figures of the papers run again; the same comparison for any table."""

from __future__ import annotations

import os
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topicloom.base.counts import counted
from topicloom.cli.console import Screen
from topicloom.cli.options import EngineOptions, InterestOptions, Threads
from topicloom.errors import UsageError

if TYPE_CHECKING:
    from topicloom.cli.listings import Listing
    from topicloom.experiments.reproduce import Reproduction
    from topicloom.experiments.run import Outcome

EXAMPLES = """
topicloom reproduce --list
topicloom reproduce chockler2007a-fig2 --out reproduced
topicloom reproduce chen2010 --full --out reproduced     (all of a paper, at its sizes)
topicloom reproduce all --out reproduced                 (everything; what is there already is not run again)
topicloom reproduce table.csv --out reproduced           (the builders of the papers on your table)
"""
BUILDERS = "balanced,short-gm,gm,gm-m,low-oda,minmax-oda,dcbr-m,2d-oda,cd-oda-ii,ring-pt"
COMPARISON = "comparison.md"
GIBIBYTE = 1 << 30


@dataclass(frozen=True, slots=True)
class NamedOptions(InterestOptions):
    """The name of an experiment, or a table."""

    interest: Annotated[
        str,
        typer.Argument(
            metavar="NAME|INTEREST",
            help="An experiment, a paper or all (see --list); or a table of (node, topic) pairs, for a page "
            "of tables that compare the builders on it.",
        ),
    ] = ""


def reproduce(
    interest: NamedOptions,
    spark: EngineOptions,
    screen: Screen,
    list_: Annotated[bool, "List all experiments and leave."] = False,
    quick: Annotated[bool, "Few seeds, and sizes that take minutes in all (the default)."] = False,
    full: Annotated[bool, "The papers' sizes, and seeds enough for 95% intervals."] = False,
    algorithms: Annotated[str, "Builders to compare on INTEREST, separated by commas."] = BUILDERS,
    out: Annotated[Path | None, "Folder for the page, the figures and every repetition."] = None,
    seed: Annotated[int, "The first seed."] = 0,
    threads: Threads = None,
) -> None:
    """Run a table or figure of a paper again: our numbers beside the printed ones, each with a verdict.

    Exit 0 whatever the verdicts are: they are findings. With --out a run that was interrupted goes on where
    it ended, and what has not changed is not run again.
    """
    from topicloom.experiments.registry import find_experiments, is_known

    if list_:
        return screen.report(*_listing(), always=True)
    name = interest.interest
    if interest.named:
        if full or quick:
            raise UsageError(f"--{'full' if full else 'quick'} is for experiments, and this is a table")
        return _compare(interest, spark, screen, algorithms, out, seed, threads)
    if quick and full:
        raise UsageError("--quick and --full exclude each other: give one of them")
    if not name:
        raise UsageError("NAME is missing; name an experiment (see --list), a paper, all, or a table")
    if not is_known(name):
        if not _may_be_table(name):
            raise UsageError(
                f"{name} is neither an experiment nor a table; `topicloom reproduce --list` lists experiments"
            )
        if full or quick:
            raise UsageError(f"--{'full' if full else 'quick'} is for experiments, and {name} is a table")
        return _compare(interest, spark, screen, algorithms, out, seed, threads)
    if algorithms != BUILDERS:
        raise UsageError("--algorithms is for a table; an experiment has its own builders")
    from topicloom.experiments.reproduce import reproduce_experiments

    with screen.working() as progress:
        found, outcomes = reproduce_experiments(
            find_experiments(name),
            full=full,
            seed=seed,
            out=out,
            spark=spark.choice(),
            machine=_machine(),
            clock=time.process_time,
            progress=progress,
        )
    screen.report(found, *_told(found, outcomes, out))


def _may_be_table(name: str) -> bool:
    return name == "-" or "://" in name or os.path.lexists(name)


def _machine() -> str:
    """Say in neutral words what this machine is."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIBIBYTE
    return f"{counted(len(os.sched_getaffinity(0)), 'core')}, {memory:.0f} GiB"


def _listing() -> tuple[Listing, str]:
    from topicloom.cli.listings import Listing
    from topicloom.experiments.registry import EXPERIMENTS
    from topicloom.experiments.rows import paper_of

    entries = [
        {
            "name": name,
            "paper": paper_of(name),
            "item": one.item,
            "title": one.title,
            "claims": [claim.text for claim in one.claims],
        }
        for name, one in EXPERIMENTS.items()
    ]
    width = max(len(name) for name in EXPERIMENTS)
    lines = [
        f"{name:<{width}}  [{paper_of(name)}, {one.item}] {one.title} ({counted(len(one.claims), 'claim')})"
        for name, one in EXPERIMENTS.items()
    ]
    return Listing({"experiments": entries}), "\n".join(lines)


def _told(found: Reproduction, outcomes: list[Outcome], out: Path | None) -> list[object]:
    """Return a block for each experiment: two lines for each claim fit any terminal."""
    from topicloom.experiments.page import counts_told, number, ours_told
    from topicloom.experiments.rows import paper_of

    parts: list[object] = []
    for one in outcomes:
        lines = [f"{paper_of(one.name)}, {one.experiment.item}: {one.experiment.title}"]
        for row in one.rows:
            lines.append(f"  {row.verdict}: {row.claim}")
            lines.append(f"      printed {number(row.printed)}, ours {ours_told(row)} ({row.reason})")
        parts.append("\n".join(lines) + "\n")
    parts.append(counts_told(found.rows))
    if found.left_out:
        parts.append(f"{counted(found.left_out, 'claim')} more with --full")
    parts.append(
        f"page and figures: {out}/reproduction.md" if out else "--out DIR keeps a page and the figures"
    )
    return parts


def _compare(
    interest: InterestOptions,
    spark: EngineOptions,
    screen: Screen,
    algorithms: str,
    out: Path | None,
    seed: int,
    threads: int | None,
) -> None:
    """Compare the builders on a table and write one page: Markdown, LaTeX, and what no overlay can beat."""
    from topicloom.base.atomic_write import check_writable, replacing
    from topicloom.cli.compare import requests_of
    from topicloom.cli.comparison_text import comparison_page
    from topicloom.overlay.jobs.compare import compare_loaded
    from topicloom.overlay.measures.bounds import bound_overlays

    if out is not None:
        check_writable(out / COMPARISON, f"--out {out}")
    requests = requests_of(algorithms, [], seed, threads)
    with screen.working() as progress:
        began = progress.now()
        given = interest.ready(spark, screen, progress)
        loaded = given.load()
        comparison, _ = compare_loaded(loaded, requests, given, out=None, began=began)
        bounds = bound_overlays(loaded.interest, threads=threads, progress=progress)
    named = interest.interest or interest.shown
    text = comparison_page(
        comparison,
        interest.shown,
        edges_bound=bounds.edges_bound,
        degree_max_bound=bounds.degree_max_bound,
        command=shlex.join(
            ["topicloom", "reproduce", named, "--algorithms", algorithms, "--seed", str(seed)]
        ),
    )
    if out is not None:
        with replacing(out / COMPARISON) as temporary:
            temporary.write_text(text, "utf-8")
        screen.say(f"page: {out / COMPARISON}")
    holds = all(row.topic_connected for row in comparison.rows)
    screen.report(comparison, text, holds=holds, always=True)
