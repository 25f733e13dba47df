"""A simulation over time: degree, split topics, messages, deliveries, with churn, crashes and cuts marked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from topicloom.report.figures import Axis, Band, LineChart, Mark, Section, Series
from topicloom.report.sources.subject import Outage, SimulationSubject, Subject

MOST_MARKS = 150  # more would cover the lines: then only snapshots with crashes are marked


class Course(NamedTuple):
    """A chart over time, without its lines."""

    key: str
    title: str
    about: str
    axis: str
    whole: bool = False


DEGREE = Course(
    "course-degree",
    "Degree",
    "How many links a node keeps, on average and at the busiest one.",
    "links of a node",
)
SPLIT = Course(
    "course-split",
    "Split topics",
    "Topics whose subscribers do not all reach each other. 0 is good.",
    "topics",
    whole=True,
)
NODES = Course(
    "course-nodes", "Nodes and links", "How many nodes are present, and links between them.", "nodes, links"
)
MESSAGES = Course(
    "course-messages", "Messages", "What all nodes together sent since the snapshot before.", "messages"
)
DELIVERIES = Course(
    "course-deliveries",
    "Deliveries",
    "Since the start: what subscribers should have got, got, and got more than once.",
    "deliveries",
)


def make_over_time(subject: Subject) -> Section | None:
    """Return the charts over time; one snapshot has no course."""
    if not isinstance(subject, SimulationSubject) or len(subject.snapshots) < 2:
        return None
    rows = subject.snapshots
    marks, bands = find_marks(rows), find_bands(subject.summary.outages, subject.summary.nodes)
    drawn = [
        (DEGREE, [_line("average", 0, rows, "degree_avg"), _line("largest", 1, rows, "degree_max")]),
        (SPLIT, [_line("split", 1, rows, "topics_partitioned")]),
        (NODES, [_line("nodes", 0, rows, "nodes"), _line("links", 2, rows, "links")]),
        (MESSAGES, _messages(rows)),
    ]
    if rows[-1].get("published"):
        drawn.append((DELIVERIES, _due(rows)))
    charts = [_chart(course, series) for course, series in drawn]
    legend = _legend({mark.kind for mark in marks}, bands)
    return Section(
        title="Over time",
        lead="One point per snapshot. Move the slider under the drawing to see the links of a moment.",
        notes=legend,
        charts=[msgspec.structs.replace(chart, marks=marks, bands=bands) for chart in charts],
    )


def _legend(marks: set[str], bands: Sequence[Band]) -> list[str]:
    """Say what marks and bands mean, those that are there."""
    below = (("join", "nodes joined (green)"), ("leave", "left (red)"), ("crash", "crashed (long red)"))
    behind = (("cut", "the network was cut in two (grey)"), ("freeze", "nodes were frozen (blue)"))
    told = {band.kind for band in bands}
    found = [text for kind, text in below if kind in marks]
    lines = [f"Marks below the axis: {', '.join(found)}."] if found else []
    found = [text for kind, text in behind if kind in told]
    return [*lines, f"Bands: {', '.join(found)}."] if found else lines


def find_bands(outages: Sequence[Outage], nodes: int) -> list[Band]:
    """Return the cuts and freezes of the run, by parameters or by a trace.

    >>> [(one.start, one.end, one.label) for one in find_bands([Outage("cut", 20.0, 80.0, 30)], 60)]
    [(20.0, 80.0, 'cut: 30 of 60 nodes do not reach the others')]
    """
    told = {"cut": "do not reach the others", "freeze": "are frozen"}
    return [
        Band(
            start=one.start,
            end=one.end,
            kind=one.kind,
            label=f"{one.kind}: {one.nodes:,} of {nodes:,} nodes {told[one.kind]}",
        )
        for one in outages
    ]


def find_marks(rows: Sequence[dict[str, Any]]) -> list[Mark]:
    """Return what happened between snapshots: joins, departures, crashes.

    >>> rows = [{"time": 1.0, "joins": 3, "departures": 0, "crashes": 0},
    ...         {"time": 2.0, "joins": 4, "departures": 2, "crashes": 1}]
    >>> [(mark.at, mark.kind, mark.label) for mark in find_marks(rows)]
    [(2.0, 'crash', '1 joined, 1 left, 1 crashed')]
    """
    found = []
    for before, row in pairwise(rows):
        joined, gone, crashed = (int(row[key] - before[key]) for key in ("joins", "departures", "crashes"))
        parts = [(joined, "joined"), (gone - crashed, "left"), (crashed, "crashed")]
        text = ", ".join(f"{count:,} {word}" for count, word in parts if count)
        if text:
            kind = "crash" if crashed else "leave" if gone else "join"
            found.append(Mark(at=row["time"], kind=kind, label=text))
    if len(found) > MOST_MARKS:
        found = [mark for mark in found if mark.kind == "crash"]
    return found if len(found) <= MOST_MARKS else []


def _line(name: str, color: int, rows: Sequence[dict[str, Any]], key: str, less: str = "") -> Series:
    values = [row[key] - (row[less] if less else 0) for row in rows]
    return Series(name=name, color=color, x=[float(row["time"]) for row in rows], y=values)


def _messages(rows: Sequence[dict[str, Any]]) -> list[Series]:
    found = []
    kinds = (
        ("control", "control_messages"),
        ("heartbeats", "heartbeats"),
        ("events", "event_messages"),
        ("lost", "messages_lost"),
    )
    for color, (name, key) in enumerate(kinds):
        before = [0, *(row[key] for row in rows[:-1])]
        values: list[float | None] = [float(row[key] - last) for row, last in zip(rows, before, strict=True)]
        if any(values):
            found.append(Series(name=name, color=color, x=[float(row["time"]) for row in rows], y=values))
    return found


def _due(rows: Sequence[dict[str, Any]]) -> list[Series]:
    return [
        _line("due", 6, rows, "expected"),
        _line("got", 2, rows, "expected", less="missing"),
        _line("more than once", 4, rows, "duplicates"),
    ]


def _chart(course: Course, series: list[Series]) -> LineChart:
    return LineChart(
        key=course.key,
        title=course.title,
        about=course.about,
        x=Axis(title="simulated time", unit=" s"),
        y=Axis(title=course.axis, whole=course.whole),
        series=series,
        timed=True,
        height=240,
    )
