"""How connections are spread over the nodes."""

from __future__ import annotations

import numpy as np

from topicloom.report.figures import Axis, LineChart, Section, Series
from topicloom.report.sections.compared import average_degree
from topicloom.report.sections.words import decimal, overlay_of
from topicloom.report.sources.subject import BuildView, Subject

LONG_TAIL = 60  # from this largest degree on, and ten times the average, the axis is logarithmic


def make_degrees(subject: Subject) -> Section | None:
    """Return the degree distributions of all builds."""
    found = overlay_of(subject)
    if found is None or not found.interest.n_nodes:
        return None
    largest = max(int(view.figures.degrees.max(initial=0)) for view in found.builds)
    log = largest >= LONG_TAIL and largest >= 10 * max(1.0, min(map(average_degree, found.builds)))
    chart = LineChart(
        key="degrees",
        title="Nodes with at least so many neighbors",
        about="A line further to the left means fewer connections. Its right end is the busiest node.",
        x=Axis(title="neighbors of a node (degree)", log=log, whole=True),
        y=Axis(title="share of nodes", log=True, unit="%", from_zero=False),
        series=[_line(view, color, 1 if log else 0) for color, view in enumerate(found.builds)],
        step="before",
        link="build",
    )
    return Section(
        title="Degree distribution",
        lead="How many connections do nodes keep, from most of them to the busiest one?",
        charts=[chart],
    )


def _line(view: BuildView, color: int, first: int) -> Series:
    """Return the share of nodes with at least d neighbors for each d that some node has."""
    degrees = view.figures.degrees
    counts = np.bincount(degrees, minlength=1)
    at_least = np.cumsum(counts[::-1])[::-1]
    shown = sorted({first, *(int(d) for d in np.flatnonzero(counts) if d > first)} & set(range(len(counts))))
    return Series(
        name=view.name,
        color=color,
        x=[float(d) for d in shown],
        y=[float(f"{100 * at_least[d] / max(len(degrees), 1):.5g}") for d in shown],
        texts=[
            f"{int(at_least[d]):,} nodes have at least {d:,}\naverage {decimal(average_degree(view))}"
            for d in shown
        ],
        keys=[str(d) for d in shown],
    )
