"""Topics by popularity: how large they are, how long their paths, how many edges carry them."""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Longs
from topicloom.report.figures import Axis, Column, DotChart, Row, Section, Series, Table
from topicloom.report.sections.words import best_of, counted, overlay_of
from topicloom.report.sources.subject import BuildView, OverlaySubject, Subject

MOST_ROWS = 400
MOST_DOTS = 2_000


def make_topics(subject: Subject) -> Section | None:
    """Return charts and a table of the topics in the build that the headline is about."""
    found = overlay_of(subject)
    if found is None or not found.interest.n_topics:
        return None
    view = best_of(found.builds)
    sizes = found.interest.topic_sizes()
    order = np.argsort(-sizes, kind="stable")
    share = sizes[order][: max(1, len(sizes) // 10)].sum() / max(int(sizes.sum()), 1)
    lead = (
        f"The most popular tenth of the topics has {100 * share:.0f}% of all subscriptions. Numbers of the "
        f"overlay are those of {view.name}. Choose a topic to see it in the drawing."
    )
    charts = [_popularity(found, view, order), _diameters(found, view, order)]
    return Section(title="Topics", lead=lead, charts=charts, tables=[_table(found, view, order)])


def _texts(subject: OverlaySubject, view: BuildView, order: Longs) -> list[str]:
    sizes = subject.interest.topic_sizes()
    return [
        "\n".join(
            (
                counted(int(sizes[topic]), "subscriber"),
                f"{counted(int(view.figures.topic_edges[topic]), 'edge')} among them",
                _diameter(view, int(topic)),
            )
        )
        for topic in order
    ]


def _diameter(view: BuildView, topic: int) -> str:
    found = int(view.figures.topic_diameters[topic])
    return "split" if found < 0 else f"longest path {counted(found, 'hop')}"


def _popularity(subject: OverlaySubject, view: BuildView, order: Longs) -> DotChart:
    sizes, names = subject.interest.topic_sizes(), subject.interest.topic_ids
    shown = order[np.unique(np.geomspace(1, len(order), MOST_DOTS).astype(np.int64)) - 1]
    shown = order if len(order) <= MOST_DOTS else shown
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(1, len(order) + 1)
    keys = [names[int(topic)].as_py() for topic in shown]
    texts = _texts(subject, view, shown)
    x = [float(rank[topic]) for topic in shown]
    log = len(order) > 30
    return DotChart(
        key="popularity",
        title="Subscribers and load by popularity",
        about="Topics from the most popular to the rarest: how many nodes want it, how many edges carry it.",
        x=Axis(title="rank of the topic", log=log, whole=True),
        y=Axis(title="subscribers, edges", log=log, whole=True),
        series=[
            Series(
                name="subscribers",
                color=0,
                x=x,
                y=[float(sizes[topic]) for topic in shown],
                keys=keys,
                texts=texts,
            ),
            Series(
                name="edges that carry it",
                color=1,
                x=x,
                y=[float(view.figures.topic_edges[topic]) or None for topic in shown],
                keys=keys,
                texts=texts,
            ),
        ],
        link="topic",
    )


def _diameters(subject: OverlaySubject, view: BuildView, order: Longs) -> DotChart:
    sizes, names = subject.interest.topic_sizes(), subject.interest.topic_ids
    shown = [int(topic) for topic in order[:MOST_DOTS] if view.figures.topic_diameters[topic] >= 0]
    return DotChart(
        key="diameters",
        title="Longest path against size",
        about="Hops of the longest shortest path among a topic's subscribers.",
        x=Axis(title="subscribers", log=len(order) > 30, whole=True),
        y=Axis(title="longest path, hops", whole=True),
        series=[
            Series(
                name=view.name,
                color=2,
                x=[float(sizes[topic]) for topic in shown],
                y=[float(view.figures.topic_diameters[topic]) for topic in shown],
                keys=[names[topic].as_py() for topic in shown],
                texts=_texts(subject, view, np.array(shown, dtype=np.int64)),
            )
        ],
        link="topic",
    )


def _table(subject: OverlaySubject, view: BuildView, order: Longs) -> Table:
    sizes, names = subject.interest.topic_sizes(), subject.interest.topic_ids
    rows = []
    for topic in map(int, order[:MOST_ROWS]):
        name = names[topic].as_py()
        far = int(view.figures.topic_diameters[topic])
        numbers = [float(sizes[topic]), float(view.figures.topic_edges[topic]), float(far)]
        cells = [name, f"{int(sizes[topic]):,}", f"{int(numbers[1]):,}", "split" if far < 0 else f"{far:,}"]
        rows.append(Row(cells, [None, *numbers], key=name))
    more = len(order) - len(rows)
    return Table(
        key="topics",
        title="Topics by popularity",
        columns=[
            Column("topic"), Column("subscribers", number=True), Column("edges that carry it", number=True),
            Column("longest path, hops", number=True),
        ],
        rows=rows,
        note=f"The {len(rows):,} most popular; {more:,} more are not listed." if more > 0 else "",
        link="topic",
    )  # fmt: skip
