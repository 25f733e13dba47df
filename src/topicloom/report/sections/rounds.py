"""Content brokers that plan by themselves: cost and migrations over the rounds."""

from __future__ import annotations

from topicloom.report.figures import (
    Axis,
    Figure,
    LineChart,
    Rule,
    Section,
    Series,
)
from topicloom.report.sections.words import counted, percent
from topicloom.report.sources.subject import RoundsSubject, Subject


def make_rounds(subject: Subject) -> Section | None:
    """Return cost and migrations over the rounds of brokers that plan by themselves."""
    if not isinstance(subject, RoundsSubject):
        return None
    rows, summary = subject.rounds, subject.summary
    x = [float(row["round"]) for row in rows]
    rules = [Rule(axis="y", at=summary.cost_random, label="random")]
    if summary.cost_central is not None:
        rules.append(Rule(axis="y", at=summary.cost_central, label="planner that knows everything"))
    cost = LineChart(
        key="rounds-cost",
        title="Cost over the rounds",
        about="Messages per second times the prices of the links they cross.",
        x=Axis(title="round", whole=True),
        y=Axis(title="cost per second"),
        series=[
            Series(name=name, color=color, x=x, y=[row[key] for row in rows])
            for color, (name, key) in enumerate(
                (("all", "cost"), ("access", "access_cost"), ("core", "core_cost"))
            )
        ],
        rules=rules,
    )
    moves = LineChart(
        key="rounds-moves",
        title="Migrations",
        about="Users that changed their broker in a round.",
        x=Axis(title="round", whole=True),
        y=Axis(title="migrations", whole=True),
        series=[Series(name="migrations", color=3, x=x, y=[row["migrations"] for row in rows])],
    )
    return Section(
        title="Brokers that plan by themselves",
        lead="No broker knows the whole problem: they exchange users until nothing gets cheaper.",
        figures=_figures(subject),
        charts=[cost, moves],
    )


def _figures(subject: RoundsSubject) -> list[Figure]:
    summary = subject.summary
    start, end, central = summary.cost_start, summary.cost_end, summary.cost_central
    found = [
        Figure(
            "cost per second at the end",
            f"{end:,.5g}",
            f"It was {start:,.5g} at the start; a random plan costs {summary.cost_random:,.5g}.",
        ),
        Figure(
            "migrations",
            f"{summary.migrations:,}",
            f"Users changed their broker so often in {counted(len(subject.rounds) - 1, 'round')}.",
        ),
    ]
    if central:
        more = percent(abs(end / central - 1))
        found.insert(
            1,
            Figure(
                "beside a central planner",
                f"{'+' if end >= central else '−'}{more}",
                f"A planner that knows everything finds a plan for {central:,.5g} per second.",
            ),
        )
    return found
