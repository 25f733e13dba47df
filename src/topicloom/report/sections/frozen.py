"""What happened when brokers were frozen."""

from __future__ import annotations

from topicloom.report.figures import Column, Row, Section, Table
from topicloom.report.sections.words import part_of, run_of
from topicloom.report.sources.subject import Subject


def make_frozen(subject: Subject) -> Section | None:
    """Return which neighbors noticed that a broker hung, and when."""
    run = run_of(subject)
    if run is None or not run.frozen:
        return None
    rows = [
        Row(
            [
                one.node,
                f"{one.noticed:,} of {one.neighbors:,}",
                "–" if one.seconds_max is None else f"{one.seconds_max:.1f} s",
                f"{one.seconds_back:.1f} s",
                "yes" if one.exact_again else "NO",
            ],
            [None, float(one.noticed), one.seconds_max, one.seconds_back, None],
            key=one.node,
        )
        for one in run.frozen
    ]
    held = sum(one.held for one in run.frozen)
    return Section(
        title="Frozen brokers",
        lead="A frozen broker says nothing, as if its machine hung. "
        f"{part_of(held, len(run.frozen), 'such broker', ('was', 'were'))} noticed in time by all "
        "neighbors, with everything exact once it went on.",
        tables=[
            Table(
                key="frozen",
                title="Brokers that were frozen",
                columns=[
                    Column("frozen broker"), Column("neighbors that noticed", number=True),
                    Column("the last after", number=True), Column("links back after", number=True),
                    Column("exact afterwards"),
                ],
                rows=rows,
            )
        ],
    )  # fmt: skip
