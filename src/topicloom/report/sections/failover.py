"""What happened when brokers were killed."""

from __future__ import annotations

from topicloom.mesh.jobs.run import RunSummary
from topicloom.report.figures import (
    Axis,
    Column,
    LineChart,
    Row,
    Section,
    Series,
    Table,
)
from topicloom.report.sections.words import counted, run_of
from topicloom.report.sources.subject import Subject


def make_failover(subject: Subject) -> Section | None:
    """Return what happened when brokers were killed."""
    run = run_of(subject)
    if run is None or not run.failover:
        return None
    rows = []
    for one in run.failover:
        numbers = [
            float(one.interrupted),
            float(one.recovered),
            float(one.apart),
            float(one.lost),
            one.seconds_max,
        ]
        cells = [one.node, *(f"{int(number or 0):,}" for number in numbers[:4])]
        cells += ["–" if one.seconds_max is None else f"{one.seconds_max:.1f} s"]
        cells += ["yes" if one.exact_again else "NO"]
        rows.append(Row(cells, [None, *numbers, None], key=one.node))
    titles = (
        "killed broker",
        "topics interrupted",
        "joined by a backup",
        "wait for its return",
        "not recovered",
        "longest outage",
        "exact after its return",
    )
    table = Table(
        key="failover",
        title="Killed brokers",
        columns=[Column(title, number=0 < place < 6) for place, title in enumerate(titles)],
        rows=rows,
    )
    held, n = sum(one.held for one in run.failover), len(run.failover)
    return Section(
        title="Failover",
        lead=f"{counted(n, 'broker was', 'brokers were')} killed{', one after the other' if n > 1 else ''}. "
        f"{held:,} of {n:,} left nothing broken behind: topics that a backup could join flowed again, the "
        "others waited for the return, and then all was exact.",
        charts=[_outages(run)] if any(one.seconds_max is not None for one in run.failover) else [],
        tables=[table],
    )


def _outages(run: RunSummary) -> LineChart:
    waits = sorted(
        one.seconds
        for failed in run.failover
        for one in failed.by_topic
        if one.seconds is not None and one.apart < one.parts
    )
    return LineChart(
        key="outages",
        title="Topics that flowed again within so many seconds",
        about="Interrupted topics of all killed brokers that backups joined again.",
        x=Axis(title="time since the kill", unit=" s"),
        y=Axis(title="share of interrupted topics", unit="%"),
        series=[
            Series(
                name="recovered",
                color=0,
                x=[float(f"{wait:.3g}") for wait in waits],
                y=[100 * (place + 1) / len(waits) for place in range(len(waits))],
            )
        ],
        step="after",
    )
