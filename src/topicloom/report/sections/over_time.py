"""A simulation over time: degree, split topics, messages, deliveries, with churn, crashes and cuts marked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from topicloom.report.figures import Axis, Band, LineChart, Mark, Section, Series
from topicloom.report.sources.subject import SimulationSubject, Subject

MOST_MARKS = 150  # more would cover the lines: then only snapshots with crashes are marked
Value = Callable[[dict[str, Any]], float | None]


def make_over_time(subject: Subject) -> Section | None:
    """Return the charts over time; one snapshot has no course."""
    if not isinstance(subject, SimulationSubject) or len(subject.snapshots) < 2:
        return None
    rows = subject.snapshots
    marks, bands = find_marks(rows), find_bands(subject.summary)
    charts = [
        _chart(
            "course-degree",
            "Degree",
            "How many links a node keeps, on average and at the busiest one.",
            "links of a node",
            [
                _line("average", 0, rows, lambda row: row["degree_avg"]),
                _line("largest", 1, rows, lambda row: row["degree_max"]),
            ],
        ),
        _chart(
            "course-split",
            "Split topics",
            "Topics whose subscribers do not all reach each other. 0 is good.",
            "topics",
            [_line("split", 1, rows, lambda row: row["topics_partitioned"])],
            whole=True,
        ),
        _chart(
            "course-nodes",
            "Nodes and links",
            "How many nodes are present, and links between them.",
            "nodes, links",
            [
                _line("nodes", 0, rows, lambda row: row["nodes"]),
                _line("links", 2, rows, lambda row: row["links"]),
            ],
        ),
        _chart(
            "course-messages",
            "Messages",
            "What all nodes together sent since the snapshot before.",
            "messages",
            _messages(rows),
        ),
    ]
    if rows[-1].get("published"):
        charts.append(
            _chart(
                "course-deliveries",
                "Deliveries",
                "Since the start: what subscribers should have got, got, and got more than once.",
                "deliveries",
                _due(rows),
            )
        )
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


def find_bands(summary: Mapping[str, Any]) -> list[Band]:
    """Return the cuts and freezes of the run, by parameters or by a trace.

    >>> cut = {"kind": "cut", "start": 20.0, "end": 80.0, "nodes": 30}
    >>> [(one.start, one.end, one.label) for one in find_bands({"nodes": 60, "outages": [cut]})]
    [(20.0, 80.0, 'cut: 30 of 60 nodes do not reach the others')]
    """
    told = {"cut": "do not reach the others", "freeze": "are frozen"}
    return [
        Band(
            start=one["start"],
            end=one["end"],
            kind=one["kind"],
            label=f"{one['kind']}: {one['nodes']:,} of {summary['nodes']:,} nodes {told[one['kind']]}",
        )
        for one in summary.get("outages", ())
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
        _line("got", 2, rows, lambda row: row["expected"] - row["missing"]),
        _line("more than once", 4, rows, lambda row: row["duplicates"]),
    ]


def _chart(
    key: str, title: str, about: str, axis: str, series: list[Series], *, whole: bool = False
) -> LineChart:
    return LineChart(
        key=key,
        title=title,
        about=about,
        x=Axis(title="simulated time", unit=" s"),
        y=Axis(title=axis, whole=whole),
        series=series,
        timed=True,
        height=240,
    )
