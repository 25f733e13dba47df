"""A simulation over time: degree, split topics, messages, deliveries, with churn and crashes marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from topicloom.report.figures import Axis, LineChart, Mark, Section, Series
from topicloom.report.sources.subject import SimulationSubject, Subject

MOST_MARKS = 150  # more would cover the lines: then only snapshots with crashes or cuts are marked
Value = Callable[[dict[str, Any]], float | None]


def make_over_time(subject: Subject) -> Section | None:
    """Return the charts over time; one snapshot has no course."""
    if not isinstance(subject, SimulationSubject) or len(subject.snapshots) < 2:
        return None
    rows = subject.snapshots
    marks = find_marks(rows)
    charts = [
        _chart(
            "course-degree",
            "Degree",
            "links of a node",
            marks,
            [
                _line("average", 0, rows, lambda row: row["degree_avg"]),
                _line("largest", 1, rows, lambda row: row["degree_max"]),
            ],
        ),
        _chart(
            "course-split",
            "Topics split",
            "topics",
            marks,
            [_line("split", 1, rows, lambda row: row["topics_partitioned"])],
            whole=True,
        ),
        _chart(
            "course-nodes",
            "Nodes and links",
            "count",
            marks,
            [
                _line("nodes", 0, rows, lambda row: row["nodes"]),
                _line("links", 2, rows, lambda row: row["links"]),
            ],
        ),
        _chart("course-messages", "Messages since the snapshot before", "messages", marks, _messages(rows)),
    ]
    if rows[-1].get("published"):
        charts.append(
            _chart("course-deliveries", "Deliveries", "deliveries since the start", marks, _due(rows))
        )
    told = {mark.kind for mark in marks}
    legend = [
        text
        for kind, text in (
            ("join", "green: nodes joined"),
            ("leave", "red: nodes left"),
            ("crash", "tall red: nodes crashed"),
            ("cut", "dotted lines: the network was cut"),
        )
        if kind in told
    ]
    return Section(
        title="Over time",
        lead="One point per snapshot. Move the slider under the drawing to see the links of a moment.",
        notes=[f"Marks on the axis, {'; '.join(legend)}."] if legend else [],
        charts=charts,
    )


def find_marks(rows: Sequence[dict[str, Any]]) -> list[Mark]:
    """Return what happened between snapshots: joins, departures, crashes, cuts.

    >>> rows = [{"time": 1.0, "joins": 3, "departures": 0, "crashes": 0},
    ...         {"time": 2.0, "joins": 4, "departures": 2, "crashes": 1}]
    >>> [(mark.at, mark.kind, mark.label) for mark in find_marks(rows)]
    [(2.0, 'crash', '1 joined, 1 left, 1 crashed')]
    """
    found = []
    for before, row in pairwise(rows):
        joined, gone, crashed = (int(row[key] - before[key]) for key in ("joins", "departures", "crashes"))
        cut = int(row.get("cuts", 0) - before.get("cuts", 0))
        parts = [(joined, "joined"), (gone - crashed, "left"), (crashed, "crashed"), (cut, "cut")]
        text = ", ".join(f"{count:,} {word}" for count, word in parts if count)
        if text:
            kind = "cut" if cut else "crash" if crashed else "leave" if gone else "join"
            found.append(Mark(at=row["time"], kind=kind, label=text))
    if len(found) > MOST_MARKS:
        found = [mark for mark in found if mark.kind in ("crash", "cut")]
    return found if len(found) <= MOST_MARKS else []


def _line(name: str, color: int, rows: Sequence[dict[str, Any]], value: Value) -> Series:
    return Series(
        name=name, color=color, x=[float(row["time"]) for row in rows], y=[value(row) for row in rows]
    )


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
        _line("due", 6, rows, lambda row: row["expected"]),
        _line("made", 2, rows, lambda row: row["expected"] - row["missing"]),
        _line("again", 4, rows, lambda row: row["duplicates"]),
    ]


def _chart(
    key: str, title: str, axis: str, marks: list[Mark], series: list[Series], *, whole: bool = False
) -> LineChart:
    return LineChart(
        key=key,
        title=title,
        about="",
        x=Axis(title="simulated seconds", unit=" s"),
        y=Axis(title=axis, whole=whole),
        series=series,
        marks=marks,
        timed=True,
        height=240,
    )
