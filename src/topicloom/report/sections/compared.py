"""All builds beside each other: average against maximum degree, and against hops, with the lower bounds."""

from __future__ import annotations

from topicloom.report.figures import Axis, Column, DotChart, Row, Rule, Section, Series, Table
from topicloom.report.sections.words import decimal, overlay_of, seconds
from topicloom.report.sources.subject import BuildView, OverlaySubject, SimulationSubject, Subject

LONG_SPAN = 3  # factor between the largest and the smallest value from which an axis is logarithmic


def make_compared(subject: Subject) -> Section | None:
    """Return the comparison; one build has nothing to be compared with but the bounds."""
    found = overlay_of(subject)
    if found is None or isinstance(subject, SimulationSubject) or not found.interest.n_nodes:
        return None
    if len(found.builds) == 1 and found.bounds is None:
        return None
    several = len(found.builds) > 1
    lead = "Further to the lower left is better: fewer connections on average, and fewer at the busiest node."
    if not several:
        lead = "How close the overlay comes to the fewest connections that any overlay needs."
    notes = []
    if found.bounds is not None:
        notes.append(
            f"Dashed lines are lower bounds (method: {found.bounds.method}): no overlay that connects every "
            f"topic has fewer than {found.bounds.edges:,} edges or a maximum degree below "
            f"{found.bounds.degree_max:,}."
        )
    charts = [_degrees(found)]
    if all(view.figures.hops_avg is not None for view in found.builds):
        charts.append(_hops(found))
    charts.append(_splits(found))
    title = "Builds compared" if several else "Beside the lower bounds"
    return Section(title=title, lead=lead, notes=notes, charts=charts, tables=[_table(found)])


def average_degree(view: BuildView) -> float:
    """Return the mean number of neighbors."""
    return 2 * view.overlay.n_edges / max(view.overlay.n_nodes, 1)


def _degrees(subject: OverlaySubject) -> DotChart:
    largest = [float(view.figures.degrees.max(initial=0)) for view in subject.builds]
    rules = []
    if subject.bounds is not None:
        rules = [
            Rule(axis="x", at=subject.bounds.degree_avg, label="least average"),
            Rule(axis="y", at=subject.bounds.degree_max, label="least maximum"),
        ]
    head = ("compared-degrees", "Average against maximum degree", "One dot per build.")
    return _against_degree(subject, head, "maximum degree", largest, rules)


def _hops(subject: OverlaySubject) -> DotChart:
    hops = [view.figures.hops_avg or 0.0 for view in subject.builds]
    rules = [Rule(axis="y", at=1.0, label="one hop: everybody linked")]
    if subject.bounds is not None:
        rules.append(Rule(axis="x", at=subject.bounds.degree_avg, label="least average"))
    head = (
        "compared-hops",
        "Average degree against hops within topics",
        "More connections make shorter paths.",
    )
    return _against_degree(subject, head, "hops between two subscribers, average", hops, rules)


def _splits(subject: OverlaySubject) -> DotChart:
    head = (
        "compared-splits",
        "Average degree against topics that one death splits",
        "More connections leave fewer topics that hang on a single node.",
    )
    splits = [view.figures.splits_avg for view in subject.builds]
    return _against_degree(subject, head, "topics split by the death of a node, average", splits, [])


def _against_degree(
    subject: OverlaySubject, head: tuple[str, str, str], y_title: str, y: list[float], rules: list[Rule]
) -> DotChart:
    """Return the chart that sets a figure of each build against its average degree."""
    averages = [average_degree(view) for view in subject.builds]
    key, title, about = head
    return DotChart(
        key=key,
        title=title,
        about=about,
        x=Axis(title="average degree", log=_spans(averages), from_zero=False),
        y=Axis(title=y_title, log=_spans(y), from_zero=False),
        series=_dots(subject, averages, y),
        link="build",
        named=True,
        rules=rules,
    )


def _dots(subject: OverlaySubject, x: list[float], y: list[float]) -> list[Series]:
    return [
        Series(
            name=view.name,
            color=color,
            x=[x[color]],
            y=[y[color]],
            keys=[view.name],
            texts=[
                f"{view.overlay.n_edges:,} edges\naverage degree {decimal(average_degree(view))}, maximum "
                f"{int(view.figures.degrees.max(initial=0)):,}"
                + (
                    ""
                    if view.figures.hops_avg is None
                    else f"\n{decimal(view.figures.hops_avg)} hops within topics"
                )
            ],
        )
        for color, view in enumerate(subject.builds)
    ]


def _spans(values: list[float] | list[int]) -> bool:
    return min(values) > 0 and max(values) / min(values) > LONG_SPAN


def _table(subject: OverlaySubject) -> Table:
    titles = (
        "build",
        "edges",
        "average degree",
        "maximum degree",
        "hops on average",
        "longest path, hops",
        "topics split by a death",
        "bridges",
        "split topics",
        "time to build",
    )
    rows = []
    for view in subject.builds:
        numbers: list[float | None] = [
            float(view.overlay.n_edges),
            average_degree(view),
            float(view.figures.degrees.max(initial=0)),
            view.figures.hops_avg,
            float(view.figures.topic_diameters.max(initial=0)),
            view.figures.splits_avg,
            float(view.figures.bridges.sum()),
            float(view.verdict.topics_partitioned),
            view.summary.seconds.get("build", view.summary.seconds.get("total", 0.0)),
        ]
        cells = [view.name] + ["–" if number is None else decimal(number) for number in numbers]
        cells[-1] = seconds(numbers[-1] or 0.0)
        rows.append(Row(cells, [None, *numbers], key=view.name))
    return Table(
        key="builds",
        title="All builds" if len(rows) > 1 else "The build",
        columns=[Column(title, number=place > 0) for place, title in enumerate(titles)],
        rows=rows,
        link="build",
    )
