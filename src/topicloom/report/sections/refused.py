"""Rows of the table that were refused, by reason."""

from __future__ import annotations

from topicloom.report.figures import Axis, Bar, BarChart, Part, Section
from topicloom.report.sections.words import counted, overlay_of
from topicloom.report.sources.subject import SimulationSubject, Subject


def make_refused(subject: Subject) -> Section | None:
    """Return refused rows by reason; a table without any says so in one sentence."""
    found = overlay_of(subject)
    if found is None:
        return None
    # The last moment of a simulation was not read from a table.
    summary = subject.summary if isinstance(subject, SimulationSubject) else found.builds[0].summary
    rejected, duplicates, subscriptions = summary.rejected, summary.duplicates, summary.subscriptions
    repeated = f"{counted(duplicates, 'row')} repeated a pair and counted once." if duplicates else ""
    if not rejected:
        return Section(
            title="Refused rows",
            lead="Every row of the table was used.",
            notes=[repeated] if repeated else [],
        )
    rows = rejected + subscriptions + duplicates
    lead = f"{counted(rejected, 'row')} of {rows:,} could not be used."
    bars = [Bar(label=reason, parts=[Part("rows", float(count))]) for reason, count in found.rejects.items()]
    charts = [
        BarChart(
            key="refused",
            title="Refused rows by reason",
            about="They are in rejects.parquet of the build, with file and reason.",
            x=Axis(title="rows", whole=True),
            bars=bars,
            names=["rows"],
        )
    ]
    return Section(
        title="Refused rows", lead=lead, notes=[repeated] if repeated else [], charts=charts if bars else []
    )
