"""What somebody could do with the files of one broker."""

from __future__ import annotations

from topicloom.report.figures import Column, Row, Section, Table
from topicloom.report.sections.words import counted, run_of
from topicloom.report.sources.subject import Subject

SHOWN = 12  # topics that were read or written


def make_attacks(subject: Subject) -> Section | None:
    """Return the attacks of the last run, and what they could read or write."""
    run = run_of(subject)
    if run is None or not run.attacks:
        return None
    rows = [
        Row(
            [
                one.node,
                *(f"{number:,}" for number in (one.attempts, one.logins, one.foreign_topics)),
                ", ".join(one.read[:SHOWN]) or "nothing",
                ", ".join(one.written[:SHOWN]) or "nothing",
            ],
            [None, float(one.attempts), float(one.logins), float(one.foreign_topics), None, None],
            key=one.node,
        )
        for one in run.attacks
    ]
    held = sum(one.held for one in run.attacks)
    limits = sorted({one.limit for one in run.attacks if one.limit})
    titles = ("known to", "logins tried", "let in", "topics it must not have", "read of them", "written")
    return Section(
        title="Attacks",
        lead="Somebody who has all files and passwords of one broker tries them at every other one. "
        f"{held:,} of {counted(len(run.attacks), 'attack')} reached nothing that the broker does not carry."
        + "".join(f" Not tried: {limit}." for limit in limits),
        tables=[
            Table(
                key="attacks",
                title="Attacks with the files of one broker",
                columns=[Column(title, number=0 < place < 4) for place, title in enumerate(titles)],
                rows=rows,
            )
        ],
    )
