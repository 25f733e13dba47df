"""What a run with real brokers has proved."""

from __future__ import annotations

from topicloom.report.figures import (
    Figure,
    Section,
)
from topicloom.report.sections.words import counted, run_of, seconds
from topicloom.report.sources.subject import Subject


def make_run(subject: Subject) -> Section | None:
    """Return the proof of the last run, with real brokers."""
    run = run_of(subject)
    if run is None:
        return None
    missing = run.expected - run.delivered
    if missing or run.duplicates or run.strays:
        lead = (
            f"Not exact: {counted(missing, 'delivery', 'deliveries')} missing, "
            f"{counted(run.duplicates, 'duplicate')}, {counted(run.strays, 'stray')}."
        )
    else:
        lead = (
            "Proved with real brokers: every subscriber got every message exactly once, and no broker "
            "carried what it does not want."
        )
        if not run.exact:
            lead += " But not all was well when brokers were killed, frozen or attacked."
    figures = [
        Figure(
            "delivered",
            f"{run.delivered:,} / {run.expected:,}",
            "Deliveries made, of those that were due.",
            "bad" if missing else "good",
        ),
        Figure(
            "duplicates",
            f"{run.duplicates:,}",
            "Messages that came more than once.",
            "bad" if run.duplicates else "good",
        ),
        Figure(
            "strays",
            f"{run.strays:,}",
            "Messages on brokers that do not want them.",
            "bad" if run.strays else "good",
        ),
        Figure(
            "ready after",
            seconds(run.seconds_ready),
            "From the start of the first broker until all links stood.",
        ),
        Figure(
            "memory of all brokers",
            f"{run.memory_bytes / 1e6:,.0f} MB",
            f"They used {run.cpu_seconds:.1f} s of processor time in all.",
        ),
    ]
    return Section(title="The last run", lead=lead, figures=figures)
