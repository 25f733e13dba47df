"""A build in memory becomes a folder: proved from what was written, and summarised as the command does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from topicloom.base.atomic_write import replacing
from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import UNSET
from topicloom.errors import UsageError
from topicloom.overlay.jobs.build_request import BuildRequest, summarise_build
from topicloom.overlay.jobs.interest_table import LoadedInterest
from topicloom.overlay.jobs.verify import judge_here
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.measures.digest import interest_digest
from topicloom.overlay.measures.survival import check_survival
from topicloom.overlay.model.build import Build, BuildSummary
from topicloom.overlay.model.build_folder import (
    EDGES,
    INTEREST,
    check_replaceable,
    is_build,
    load_build,
    read_summary,
)
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.verdict import Verdict
from topicloom.tables.folder import SUMMARY, write_json, write_table


def save_build(build: Build, out: Path, *, progress: Progress = SILENT) -> BuildSummary:
    """Write the folder of a build, whole or not at all."""
    interest = build.interest
    if interest is None:
        raise UsageError("`save`: this build does not know its interest; make it with topicloom.build")
    check_replaceable(out)
    if (there := _saved_there(build, interest, out)) is not None:
        return there
    with replacing(out) as folder:
        folder.mkdir()
        progress.phase("write tables")
        write_table(build.overlay.to_arrow(), folder / EDGES)
        write_table(interest.to_arrow(), folder / INTEREST)
        began = progress.now()
        verdict = judge_here(folder / INTEREST, folder / EDGES, progress=progress)
        summary = summarise(interest, build, verdict, verify=progress.now() - began)
        write_json(summary, folder / SUMMARY)
    return summary


def _saved_there(build: Build, interest: Interest, out: Path) -> BuildSummary | None:
    """Return the summary of a folder that holds this very build: it knows more of the table, and stays."""
    if not is_build(out):
        return None
    summary = read_summary(out, BuildSummary)
    asked = (build.algorithm, dict(build.parameters), build.seed, interest_digest(interest))
    if (summary.algorithm, dict(summary.parameters), summary.seed, summary.interest_digest) != asked:
        return None
    same = load_build(out, interest=False).overlay.to_arrow().equals(build.overlay.to_arrow())
    return summary if same else None


def summarise(
    interest: Interest, build: Build, verdict: Verdict | None = None, *, verify: float = 0.0
) -> BuildSummary:
    """Return the summary that the folder of such a build has; without a verdict it is proved here."""
    phases = dict(build.seconds)
    seconds = phases
    if "total" not in phases:  # as the builder told them; those of a loaded build are whole
        built = sum(phases.values())
        seconds = {"build": built, "total": built}
        if verdict is not None:
            seconds = {"ingest": 0.0, "build": built, "verify": verify, "total": built + verify}
    verdict = verdict or check_overlay(interest, build.overlay)
    if (deaths := int(build.parameters.get("survive", 0))) and verdict.survival is UNSET:
        verdict = replace(verdict, survival=check_survival(interest, build.overlay, deaths))
    request = BuildRequest(build.algorithm, build.parameters, build.seed)
    loaded = LoadedInterest(interest, interest_digest(interest))
    return summarise_build(request, "local", loaded, build, verdict, phases, seconds)
