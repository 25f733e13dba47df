"""Builds in memory, as a report wants them."""

from __future__ import annotations

from collections.abc import Sequence

from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.jobs.save_build import summarise
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.report.sources.builds import distinct_names, find_bounds, view_build
from topicloom.report.sources.subject import OverlaySubject


def view_builds(
    interest: Interest,
    builds: Sequence[Build],
    *,
    name: str = "interest",
    bounds: bool = True,
    progress: Progress = SILENT,
) -> OverlaySubject:
    """Prove and measure builds of one interest."""
    summaries = [summarise(interest, build) for build in builds]
    names = distinct_names(summaries)
    views = tuple(
        view_build(interest, build, summary, label, label, progress)
        for build, summary, label in zip(builds, summaries, names, strict=True)
    )
    found = find_bounds(interest, views, progress=progress) if bounds else None
    return OverlaySubject(name=name, interest=interest, builds=views, bounds=found)
