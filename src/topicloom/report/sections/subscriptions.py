"""Do nodes that want more keep more connections? Degree against subscription size."""

from __future__ import annotations

import numpy as np

from topicloom.report.figures import Axis, DotChart, Section, Series
from topicloom.report.sections.words import counted, overlay_of
from topicloom.report.sources.subject import BuildView, OverlaySubject, Subject

MOST_DOTS = 1500  # of one build; more of them are put on a coarser grid


def make_subscriptions(subject: Subject) -> Section | None:
    """Return one chart for all builds; dots of equal nodes are one."""
    found = overlay_of(subject)
    if found is None or not found.interest.n_nodes:
        return None
    largest = max(int(view.figures.degrees.max(initial=0)) for view in found.builds)
    median = float(np.median(found.builds[0].figures.degrees))
    chart = DotChart(
        key="subscriptions",
        title="Neighbors of a node by the topics it wants",
        about="A dot stands for all nodes with so many topics and neighbors; larger dots are more nodes. "
        "Drag over dots to select their nodes in the drawing.",
        x=Axis(title="topics that a node wants", whole=True, from_zero=False),
        y=Axis(title="neighbors of a node (degree)", log=largest > 40 * max(median, 1.0), whole=True),
        series=[_dots(found, view, color) for color, view in enumerate(found.builds)],
        link="degree",
        height=360,
    )
    return Section(
        title="Degree against subscription size",
        lead="A node that wants many topics often keeps more connections, because it helps more topics to "
        "hang together.",
        charts=[chart],
    )


def _dots(subject: OverlaySubject, view: BuildView, color: int) -> Series:
    sizes, degrees = subject.interest.subscription_sizes(), view.figures.degrees
    step = 1
    while True:
        places, counts = np.unique(
            np.stack((sizes // step * step, degrees // step * step), axis=1), axis=0, return_counts=True
        )
        if len(places) <= MOST_DOTS:
            break
        step *= 2
    order = np.argsort(-counts, kind="stable")
    places, counts = places[order], counts[order]
    about = "" if step == 1 else f" to {step - 1} more"
    return Series(
        name=view.name,
        color=color,
        x=[float(x) for x in places[:, 0]],
        y=[float(y) for y in places[:, 1]],
        sizes=[float(count) for count in counts],
        texts=[
            f"{counted(int(count), 'node')} with {counted(int(x), 'topic')} and "
            f"{counted(int(y), 'neighbor')}{about}"
            for (x, y), count in zip(places, counts, strict=True)
        ],
        keys=[],
    )
