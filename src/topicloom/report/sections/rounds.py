"""Content brokers that plan by themselves: cost and migrations over the rounds."""

from __future__ import annotations

from topicloom.report.figures import (
    Axis,
    LineChart,
    Rule,
    Section,
    Series,
)
from topicloom.report.sections.words import counted
from topicloom.report.sources.subject import RoundsSubject, Subject


def make_rounds(subject: Subject) -> Section | None:
    """Return cost and migrations over the rounds of brokers that plan by themselves."""
    if not isinstance(subject, RoundsSubject):
        return None
    rows, summary = subject.rounds, subject.summary
    x = [float(row["round"]) for row in rows]
    rules = []
    for key, label in (("cost_central", "planner that knows everything"), ("cost_random", "random")):
        if summary.get(key) is not None:
            rules.append(Rule(axis="y", at=float(summary[key]), label=label))
    cost = LineChart(
        key="rounds-cost",
        title="Cost over the rounds",
        about="Messages per second times prices.",
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
        lead=f"From {summary.get('cost_start', 0):,.5g} to {summary.get('cost_end', 0):,.5g} in "
        f"{counted(len(rows), 'round')}, with {counted(int(summary.get('migrations', 0)), 'migration')}.",
        charts=[cost, moves],
    )
