"""Builds in memory, as a report wants them."""

from __future__ import annotations

from collections.abc import Sequence

from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.measures.digest import interest_digest
from topicloom.overlay.model.build import Build, BuildSummary
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


def summarise(interest: Interest, build: Build) -> BuildSummary:
    """Return the summary that the folder of such a build would have."""
    verdict = check_overlay(interest, build.overlay)
    seconds = {"build": sum(build.seconds.values())}
    return BuildSummary(
        algorithm=build.algorithm,
        engine="local",
        parameters=build.parameters,
        seed=build.seed,
        nodes=interest.n_nodes,
        topics=interest.n_topics,
        subscriptions=interest.n_subscriptions,
        duplicates=0,
        rejected=0,
        interest_digest=interest_digest(interest),
        edges=build.n_edges,
        degree_max=build.degree_max,
        degree_avg=2 * build.n_edges / max(interest.n_nodes, 1),
        topic_components=verdict.topic_components,
        topics_partitioned=verdict.topics_partitioned,
        topic_connected=verdict.topic_connected,
        phases=dict(build.seconds),
        report=build.report,
        seconds={**seconds, "total": seconds["build"]},
    )
