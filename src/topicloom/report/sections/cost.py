"""The cost of a content plan: access and core, beside random plans and the bound."""

from __future__ import annotations

from topicloom.report.figures import (
    Axis,
    Bar,
    BarChart,
    Part,
    Section,
)
from topicloom.report.sources.subject import PlanSubject, Subject


def make_cost(subject: Subject) -> Section | None:
    """Return cost of access and core, beside random plans and the bound."""
    if not isinstance(subject, PlanSubject):
        return None
    found = subject.summary.figures
    random_core = found.random_cost * found.random_core_share
    bars = [
        Bar(
            label="this plan",
            parts=[Part("access", found.access_cost), Part("core", found.core_cost)],
            limit=found.bound,
        ),
        Bar(
            label="random plans",
            parts=[Part("access", found.random_cost - random_core), Part("core", random_core)],
            limit=found.bound,
        ),
    ]
    return Section(
        title="What it costs",
        lead=f"Links between users and brokers (access) cost {found.access_cost:,.5g} per second, links "
        f"among brokers (core) {found.core_cost:,.5g}.",
        charts=[
            BarChart(
                key="cost",
                title="Cost of access and core",
                about="The line is the lower bound: no plan within the capacities costs less.",
                x=Axis(title="cost per second"),
                bars=bars,
                names=["access", "core"],
            )
        ],
    )
