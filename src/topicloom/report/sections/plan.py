"""The headline of a content plan."""

from __future__ import annotations

from topicloom.report.figures import (
    Figure,
    Section,
)
from topicloom.report.sections.words import counted, decimal, percent
from topicloom.report.sources.subject import PlanSubject, Subject


def make_plan(subject: Subject) -> Section | None:
    """Return the headline of a plan."""
    if not isinstance(subject, PlanSubject):
        return None
    found = subject.summary.figures
    within = (
        "No bound is known."
        if found.gap is None
        else (
            "No plan that fits costs less: it is optimal."
            if found.gap <= 1e-9
            else f"No plan that fits costs less; this one is within {percent(found.gap)} of it."
        )
    )
    beside = "" if found.crr is None else f"Random plans cost {decimal(found.crr)} times as much."
    return Section(
        title="At a glance",
        lead=f"{counted(found.users, 'user')} on {found.brokers_used:,} of {found.brokers:,} brokers.",
        figures=[
            Figure(
                "cost per second",
                f"{found.cost:,.5g}",
                f"Messages per second times the prices of the links they cross. {beside}",
            ),
            Figure(
                "lower bound",
                f"{found.bound:,.5g}",
                within,
                "good" if found.gap is not None and found.gap < 0.05 else "",
            ),
            Figure(
                "core share",
                percent(found.core_share),
                "of the cost arises between brokers, the rest between users and brokers.",
            ),
            Figure(
                "fullest broker",
                percent(found.load_max_share),
                "of its capacity is used."
                if not found.overflow
                else f"of its capacity: {found.overflow:,.4g} messages per second do not fit.",
                "bad" if found.overflow else "",
            ),
        ],
    )
