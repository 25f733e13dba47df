"""The head of a page: what it is about, its size, and the one thing to know."""

from __future__ import annotations

from pathlib import Path

from topicloom.report.page_file import Title, Verdict
from topicloom.report.sections.words import counted
from topicloom.report.sources.meshes import find_split
from topicloom.report.sources.subject import (
    MeshSubject,
    OverlaySubject,
    PlanSubject,
    RoundsSubject,
    SimulationSubject,
    Subject,
)


def title_of(subject: Subject) -> Title:
    """Return the head for any subject."""
    if isinstance(subject, OverlaySubject):
        return _overlays(subject)
    if isinstance(subject, SimulationSubject):
        return _simulation(subject)
    if isinstance(subject, MeshSubject):
        return _mesh(subject)
    return _plan(subject) if isinstance(subject, PlanSubject) else _rounds(subject)


def _overlays(subject: OverlaySubject) -> Title:
    interest = subject.interest
    several = len(subject.builds) > 1
    name = (
        f"{subject.name}: {len(subject.builds)} overlays compared"
        if several
        else f"{subject.builds[0].name} on {subject.name}"
    )
    failed = [view.name for view in subject.builds if not view.verdict.topic_connected]
    whole = "every topic is connected" + (" in every build" if several else "")
    verdict = (
        Verdict(f"Not proved: topics are split in {', '.join(failed)}", "bad")
        if failed
        else Verdict(f"Proved: {whole}", "good")
    )
    return Title(
        eyebrow="Comparison of overlays" if several else "An overlay",
        title=name,
        facts=f"{counted(interest.n_nodes, 'node')}, {counted(interest.n_topics, 'topic')}, "
        f"{counted(interest.n_subscriptions, 'subscription')}.",
        verdict=verdict,
    )


def _simulation(subject: SimulationSubject) -> Title:
    summary, last = subject.summary, subject.snapshots[-1]
    split = int(last["topics_partitioned"])
    return Title(
        eyebrow="A simulation",
        title=f"{summary.protocol} on {counted(summary.nodes, 'node')}",
        facts=f"{counted(summary.topics, 'topic')}, {summary.simulated_seconds:,.0f} simulated seconds.",
        verdict=Verdict(f"At the end {counted(split, 'topic is', 'topics are')} split", "bad")
        if split
        else Verdict("Proved: at the end every topic is connected", "good"),
    )


def _mesh(subject: MeshSubject) -> Title:
    mesh, run = subject.mesh, subject.run
    split = len(find_split(mesh))
    verdict = (
        Verdict(f"As configured, {counted(split, 'topic is', 'topics are')} split", "bad")
        if split
        else Verdict("Proved: as configured, every topic is connected", "good")
    )
    if run is not None:
        verdict = (
            Verdict("Proved with real brokers: every message came exactly once", "good")
            if run.exact
            else Verdict("Not all was well in the last run", "bad")
        )
    return Title(
        eyebrow=f"A mesh of {mesh.kind} brokers",
        title=Path(subject.folder).name,
        facts=f"{counted(len(mesh.nodes), 'broker')}, {counted(len(mesh.links), 'link')}, "
        f"{counted(len(mesh.topics), 'topic')}.",
        verdict=verdict,
    )


def _plan(subject: PlanSubject) -> Title:
    found = subject.summary.figures
    return Title(
        eyebrow="A content plan",
        title=f"{subject.summary.algorithm} on {Path(subject.problem or subject.folder).name}",
        facts=f"{counted(found.users, 'user')}, {counted(found.brokers, 'broker')}, "
        f"{counted(found.channels, 'channel')}.",
        verdict=Verdict("The plan does not fit the capacities", "bad")
        if found.overflow
        else Verdict("The plan fits the capacities of all brokers", "good"),
    )


def _rounds(subject: RoundsSubject) -> Title:
    summary = subject.summary
    return Title(
        eyebrow="A simulation of content brokers",
        title=Path(subject.folder).name,
        facts=f"{counted(summary.users, 'user')}, {counted(summary.brokers, 'broker')}.",
        verdict=None,
    )
