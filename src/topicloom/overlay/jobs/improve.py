"""Improve the overlay of an edge table: read both tables, search, keep the best so far in a build folder.

The folder is whole whenever a better overlay was found and some seconds have passed since the last time; so
an interrupted run leaves its best, proved, and `resume` goes on from there under the bounds of the first run.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from msgspec.structs import asdict
from msgspec.structs import replace as replace_fields

from topicloom.base.addresses import refuse_address
from topicloom.base.atomic_write import replacing
from topicloom.base.progress import Progress
from topicloom.base.summaries import UNSET
from topicloom.errors import Interrupted, UsageError
from topicloom.overlay.builders.improve import improve_overlay
from topicloom.overlay.builders.improve_goals import check_objective
from topicloom.overlay.jobs.build import written_overlay
from topicloom.overlay.jobs.build_request import BuildRequest, summarise_build
from topicloom.overlay.jobs.certify import certify
from topicloom.overlay.jobs.constraints import ConstraintFiles, load_constraints, unused_told
from topicloom.overlay.jobs.interest_table import InterestTable, LoadedInterest, check_agreement
from topicloom.overlay.jobs.measure import load_overlay, unknown_told
from topicloom.overlay.jobs.verify import judge_here
from topicloom.overlay.measures.survival import check_survival
from topicloom.overlay.model.build import Build, BuildSummary, Certificate
from topicloom.overlay.model.build_folder import (
    EDGES,
    INTEREST,
    check_replaceable,
    is_build,
    load_build,
    read_summary,
)
from topicloom.overlay.model.constraints import Constraints
from topicloom.overlay.model.overlay import Overlay
from topicloom.tables.first_look import check_there
from topicloom.tables.folder import REJECTS, SUMMARY, write_json, write_table
from topicloom.tables.reader import write_rejects
from topicloom.tables.source import TableSource

KEPT_EVERY = 10.0  # seconds: a better overlay is written, at the earliest, so long after the last one
# What a resumed run may not change.
SAME = ("objective", "survive", "extra_edges", "max_hops", "max_degree", "max_edges")


@dataclass(frozen=True, slots=True)
class ImproveTask:
    """From which tables to which folder, and how."""

    table: InterestTable
    edges: TableSource
    out: Path
    settings: dict[str, Any]
    limits: ConstraintFiles = field(default_factory=ConstraintFiles)
    seed: int = 0
    threads: int | None = None
    resume: bool = False
    certify: bool = False

    @property
    def progress(self) -> Progress:
        return self.table.progress

    def check(self) -> None:
        """Refuse what cannot be done."""
        refuse_address(self.out, f"`out={self.out}`")
        check_replaceable(self.out)
        check_there(self.edges)
        self.limits.check_there()
        for objective, kind in (("cost", "costs"), ("rate-ms", "rtt")):
            if self.settings["objective"] == objective and getattr(self.limits, kind) is None:
                check_objective(objective, Constraints())
        if self.resume and not is_build(self.out):
            raise UsageError(f"`resume`: {self.out} holds nothing to go on with; leave it out")


def improve_to_folder(task: ImproveTask) -> BuildSummary:
    """Carry out the task; the summary is the one in the folder."""
    task.check()
    progress, began = task.progress, task.progress.now()
    loaded = task.table.load()
    check_agreement(task.edges, task.table.source, loaded.digest, task.table.spark)
    constraints, _ = load_constraints(
        task.limits, loaded, spark=task.table.spark, notice=task.table.notice, progress=progress
    )
    for told in unused_told(task.limits, constraints, task.settings["objective"]):
        task.table.notice(told)
    overlay, left_out = load_overlay(task.edges, loaded.interest, task.table)
    if left_out.unknown_nodes:
        task.table.notice(unknown_told(task.edges, left_out.unknown_nodes))
    settings, earlier = dict(task.settings), None
    if task.resume:
        earlier = _earlier(task, loaded, constraints)
        overlay, settings = earlier.overlay, settings | _bounds_of(earlier)
    keeper = _Keeper(task, loaded, began, earlier, constraints)
    try:
        build = improve_overlay(
            loaded.interest,
            overlay,
            constraints=constraints,
            seed=task.seed if earlier is None else task.seed + int(earlier.report.get("runs", 1)),
            threads=task.threads,
            progress=progress,
            checkpoint=keeper.keep,
            **settings,
        )
    except (Interrupted, KeyboardInterrupt):
        if keeper.kept:
            task.table.notice(f"the best overlay so far is in {task.out}; `resume` goes on from there")
        raise
    return keeper.write(build, last=True)


def _earlier(task: ImproveTask, loaded: LoadedInterest, constraints: Constraints) -> Build:
    """Return what an earlier run of the same task has found."""
    summary = read_summary(task.out)
    if summary.algorithm != "improve" or summary.interest_digest != loaded.digest:
        raise UsageError(f"`resume`: {task.out} is no improvement of an overlay for this table")
    if "bounds" not in summary.report:
        raise UsageError(
            f"`resume`: {task.out} was improved with `engine=spark`: name it as EDGES, without `resume`"
        )
    found = load_build(task.out)
    for key in SAME:
        if (there := found.parameters.get(key)) != task.settings[key]:
            asked = task.settings[key]
            raise UsageError(f"`resume`: {task.out} was improved with {key}={there}, not {asked}")
    known, now = found.report.get("constraints_digests", {}), constraints.digests()
    for kind in [*known, *now]:
        if known.get(kind) != now.get(kind):
            raise UsageError(f"`resume`: {task.out} was improved with other `{kind}`")
    return found


def _bounds_of(earlier: Build) -> dict[str, Any]:
    """Return the bounds of the first run, which hold for all that follow; deaths survived are found again."""
    bounds = earlier.report["bounds"]
    hops = "none" if bounds["hops"] is None else bounds["hops"]
    edges = "none" if bounds["edges"] is None else bounds["edges"]
    return {"max_degree": bounds["degree_max"], "max_hops": hops, "max_edges": edges}


@dataclass(slots=True)
class _Keeper:
    """Writes the folder: now and then while the search runs, and at the end."""

    task: ImproveTask
    loaded: LoadedInterest
    began: float
    earlier: Build | None
    constraints: Constraints
    kept: bool = False
    last: float = 0.0

    def keep(self, build: Build) -> None:
        """Write a better overlay, unless one was written a moment ago."""
        now = self.task.progress.now()
        if now - max(self.last, self.began) >= KEPT_EVERY:
            self.write(build)
            self.last = self.task.progress.now()

    def write(self, build: Build, *, last: bool = False) -> BuildSummary:
        """Write the folder and prove what was written; certify what is `last` if that is asked for."""
        task, loaded, progress = self.task, self.loaded, self.task.progress
        build = self._whole(build)
        with replacing(task.out) as folder:
            folder.mkdir()
            write_table(build.overlay.to_arrow(), folder / EDGES)
            write_table(loaded.interest.to_arrow(), folder / INTEREST)
            if loaded.rejected and loaded.raw is not None:
                write_rejects(loaded.raw, folder / REJECTS)
            start = progress.now()
            verdict = judge_here(folder / INTEREST, folder / EDGES, progress=progress)
            if deaths := int(build.report["bounds"]["survive"]):
                overlay: Overlay = written_overlay(folder, loaded.interest)
                survival = check_survival(loaded.interest, overlay, deaths, progress=progress)
                verdict = replace(verdict, survival=survival)
            proved = progress.now()
            seconds = {"verify": proved - start, "total": proved - self.began}
            request = BuildRequest("improve", build.parameters, task.seed)
            summary = summarise_build(request, "local", loaded, build, verdict, build.seconds, seconds)
            if task.certify and last:
                summary = replace_fields(summary, certificate=self._certified(build, summary))
            write_json(summary, folder / SUMMARY)
        self.kept = True
        return summary

    def _certified(self, build: Build, summary: BuildSummary) -> Certificate:
        """Bound the overlays that this one stands among: those that survive what it was asked to."""
        return certify(
            self.loaded.interest,
            asdict(summary) | {"cost_total": build.report.get("cost_total")},
            survive=int(self.task.settings["survive"]),
            survives=summary.survival is UNSET or summary.survival.survives,
            constraints=self.constraints,
            threads=self.task.threads,
            progress=self.task.progress,
        )

    def _whole(self, build: Build) -> Build:
        """Return the build with what earlier runs report: their start, their time."""
        report, asked = dict(build.report), dict(build.parameters)
        report["runs"] = 1
        if digests := self.constraints.digests():
            report["constraints_digests"] = digests
        if self.earlier is not None:
            first = self.earlier.report
            kept = ("edges_start", "degree_start", "objective_start", "bounds")
            report |= {key: first[key] for key in kept if key in first}
            report["runs"] = int(first.get("runs", 1)) + 1
            asked |= {key: self.task.settings[key] for key in SAME}
        return replace(build, report=report, parameters=asked)
