"""How far messages travel within their topics."""

from __future__ import annotations

import numpy as np

from topicloom.overlay.measures.hops import EXACT_SUBSCRIBERS
from topicloom.report.figures import Axis, LineChart, Section, Series
from topicloom.report.sections.words import decimal, overlay_of
from topicloom.report.sources.subject import BuildView, Subject


def make_hops(subject: Subject) -> Section | None:
    """Return the distribution of hops between two subscribers of a topic."""
    found = overlay_of(subject)
    if found is None or all(view.figures.hops_avg is None for view in found.builds):
        return None
    builds = [(color, view) for color, view in enumerate(found.builds) if view.figures.hops_avg is not None]
    chart = LineChart(
        key="hops",
        title="Pairs of subscribers that are at most so many hops apart",
        about="Paths lead through subscribers of the topic only. A line that rises early means short paths.",
        x=Axis(title="hops", whole=True),
        y=Axis(title="share of pairs", unit="%"),
        series=[_line(view, color) for color, view in builds],
        step="after",
        link="build",
    )
    told = ", ".join(f"{view.name} {decimal(view.figures.hops_avg or 0)}" for _, view in builds)
    if len(builds) == 1:
        told = decimal(builds[0][1].figures.hops_avg or 0)
    notes = []
    if not all(view.figures.hops_exact for _, view in builds):
        notes.append(
            f"Counted from {EXACT_SUBSCRIBERS} subscribers of each topic that has more, drawn by lot."
        )
    return Section(
        title="Hops within topics",
        lead=f"Hops from one subscriber to another, on average: {told}.",
        notes=notes,
        charts=[chart],
    )


def _line(view: BuildView, color: int) -> Series:
    hops = view.figures.hops
    share = 100 * np.cumsum(hops) / max(float(hops.sum()), 1.0)
    return Series(
        name=view.name,
        color=color,
        x=[float(hop) for hop in range(len(hops))],
        y=[float(f"{value:.5g}") for value in share],
        texts=[f"{value:.1f}% of the pairs are at most {hop} hops apart" for hop, value in enumerate(share)],
    )
