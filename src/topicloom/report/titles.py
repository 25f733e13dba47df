"""The head of a page: what it is about, its size, and the one thing to know."""

from __future__ import annotations

from dataclasses import dataclass

from topicloom.report.page_file import Verdict
from topicloom.report.sections.words import counted
from topicloom.report.sources.subject import OverlaySubject, Subject


@dataclass(frozen=True, slots=True)
class Title:
    """What stands above all sections."""

    eyebrow: str
    title: str
    facts: str
    verdict: Verdict | None


def title_of(subject: Subject) -> Title:
    """Return the head for any subject."""
    if isinstance(subject, OverlaySubject):
        return _overlays(subject)
    raise TypeError(type(subject).__name__)


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
