"""Load against capacity of the brokers of a content plan."""

from __future__ import annotations

from topicloom.report.figures import Axis, Bar, BarChart, Column, Part, Row, Section, Table
from topicloom.report.sections.words import counted, percent
from topicloom.report.sources.subject import PlanSubject, Subject

MOST_BARS = 60


def make_loads(subject: Subject) -> Section | None:
    """Return load against capacity of every broker."""
    if not isinstance(subject, PlanSubject):
        return None
    rows = sorted(subject.loads.to_pylist(), key=lambda row: -row["load"] / max(row["capacity"], 1e-12))
    bars = [
        Bar(label=row["broker"], parts=[Part("load", row["load"])], limit=row["capacity"])
        for row in rows[:MOST_BARS]
    ]
    table = Table(
        key="loads",
        title="Brokers",
        columns=[
            Column("broker"),
            *(Column(title, number=True) for title in ("users", "load", "capacity", "full")),
        ],
        rows=[
            Row(
                [
                    row["broker"],
                    f"{row['users']:,}",
                    f"{row['load']:,.5g}",
                    f"{row['capacity']:,.5g}",
                    percent(row["load"] / max(row["capacity"], 1e-12)),
                ],
                [
                    None,
                    float(row["users"]),
                    row["load"],
                    row["capacity"],
                    row["load"] / max(row["capacity"], 1e-12),
                ],
            )
            for row in rows
        ],
    )
    full = sum(row["load"] > 0.9 * row["capacity"] for row in rows)
    crowded = counted(full, "broker is", "brokers are") if full else "No broker is"
    return Section(
        title="Load against capacity",
        lead=f"{crowded} more than nine tenths full.",
        charts=[
            BarChart(
                key="loads",
                title="Demand of each broker's users",
                about="The line is its capacity. The fullest come first.",
                x=Axis(title="messages per second"),
                bars=bars,
                names=["load"],
            )
        ],
        tables=[table],
    )
