"""Charts of degree distributions: the only door to the plotting library, loaded when a chart is asked for.

A chart shows, for each build, the share of nodes with at least so many neighbors: one falling line per
build, on a logarithmic scale so that the few busiest nodes are as visible as the many ordinary ones. A dot
on the line marks the build's average. Drawing needs no network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Longs
from topicloom.base.atomic_write import check_writable, replacing
from topicloom.errors import UsageError

# The degree of every node, or how many nodes have each degree (`degree_histogram` of a summary).
Degrees: TypeAlias = Sequence[int] | NDArray[Any] | Mapping[int, int] | Mapping[str, int]
# Okabe and Ito's palette: told apart with any kind of colour vision.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
# Lines differ in dashes too, so a black and white print can be read.
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3])
# From this largest degree on, and if it is ten times the average, the degree axis is logarithmic.
LONG_TAIL = 60
READ_ME = "The dot marks the average. A line further to the left means fewer connections per node."

LEFT = 0.8  # where a logarithmic degree axis begins: there is no 0 on it
BOTTOM = 1e-12  # a share below any scale: where a line leaves the chart after its largest degree
FORMATS = ("png", "svg", "pdf", "html", "json")


def degree_chart(series: Mapping[str, Degrees], title: str = "Degree distribution") -> Any:
    """Return the degree distributions of several builds on one workload, as an Altair chart."""
    if not series:
        raise UsageError("a degree chart needs at least one build")
    counts = {name: _counts(degrees) for name, degrees in series.items()}
    labels = {
        name: f"{name}: average {_average(found):.1f}, largest {len(found) - 1:,}"
        for name, found in counts.items()
    }
    return _lines(counts, labels, list(labels.values())).properties(
        width=580, height=320, title=make_title(title, READ_ME)
    )


def degree_panel(workloads: Mapping[str, Mapping[str, Degrees]], title: str = "Degree distributions") -> Any:
    """Return one chart per workload, two in a row, with scales of their own; a build keeps its colour."""
    import altair as alt

    if not workloads or not all(workloads.values()):
        raise UsageError("a degree panel needs at least one workload, and each of them a build")
    builds = list(dict.fromkeys(name for series in workloads.values() for name in series))
    charts = []
    for workload, series in workloads.items():
        counts = {name: _counts(degrees) for name, degrees in series.items()}
        figures = [f"{name} {_average(found):.1f} ({len(found) - 1:,})" for name, found in counts.items()]
        chart = _lines(counts, {name: name for name in counts}, builds)
        note = "average (largest): " + ", ".join(figures)
        charts.append(chart.properties(width=460, height=300, title=make_title(workload, note)))
    rows = [alt.hconcat(*charts[at : at + 2], spacing=36) for at in range(0, len(charts), 2)]
    return alt.vconcat(*rows, spacing=30).properties(title=make_title(title, READ_ME, size=19))


def check_chart_path(path: Path) -> str:
    """Return the format that the ending of `path` asks for; refuses one that cannot be drawn."""
    kind = path.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise UsageError(f"a chart cannot be saved as {path.name}: use an ending of {', '.join(FORMATS)}")
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file for the chart")
    check_writable(path, path)
    return kind


def save_chart(chart: Any, path: Path | str) -> Path:
    """Write a chart as PNG, SVG, PDF, HTML or its JSON by the ending of `path`; whole or not at all."""
    path = Path(path)
    kind = check_chart_path(path)
    options: dict[str, dict[str, Any]] = {"png": {"scale_factor": 2}, "html": {"inline": True}}
    chart = _styled(chart)
    with replacing(path) as temporary:
        chart.save(str(temporary), format=kind, **options.get(kind, {}))
    return path


def _counts(degrees: Degrees) -> Longs:
    """Return how many nodes have each degree."""
    if isinstance(degrees, Mapping):
        found = np.array([int(degree) for degree in degrees], dtype=np.int64)
        return np.bincount(found, [*degrees.values()], minlength=1).astype(np.int64)
    return np.bincount(np.asarray(degrees, dtype=np.int64), minlength=1).astype(np.int64)


def _average(counts: Longs) -> float:
    return float((counts * np.arange(len(counts))).sum() / max(counts.sum(), 1))


def _points(counts: Longs, label: str, first: int) -> list[dict[str, Any]]:
    """Return the share of nodes with at least d neighbors, for each d that some node has, in percent."""
    nodes = max(int(counts.sum()), 1)
    at_least = np.cumsum(counts[::-1])[::-1]
    shown = sorted({first, *(int(d) for d in np.flatnonzero(counts) if d > first)})
    line = [
        {"build": label, "degree": d, "share": float(100 * at_least[d] / nodes)}
        for d in shown
        if d < len(counts)
    ]
    if first:  # on a logarithmic axis the line begins a little before the first degree
        line = [{**row, "degree": LEFT} for row in line[:1]] + line
    return [*line, {"build": label, "degree": len(counts) - 1, "share": BOTTOM}]  # falls off: nobody has more


def _mark(counts: Longs, label: str, first: int) -> dict[str, Any]:
    """Return where the average lies on the line."""
    average = max(_average(counts), first)
    upper = counts[int(np.ceil(average)) :].sum() / max(counts.sum(), 1)
    return {"build": label, "degree": average, "share": float(100 * upper)}


def _lines(counts: Mapping[str, Longs], labels: Mapping[str, str], names: list[str]) -> Any:
    import altair as alt

    largest = max(len(found) - 1 for found in counts.values())
    averages = [_average(found) for found in counts.values()]
    long_tail = largest >= LONG_TAIL and largest >= 10 * max(min(averages), 1)
    first = 1 if long_tail else 0
    nodes = max(int(found.sum()) for found in counts.values())
    points = [row for name, found in counts.items() for row in _points(found, labels[name], first)]
    marks = [_mark(found, labels[name], first) for name, found in counts.items()]
    ticks = [step * 10**power for power in range(8) for step in (1, 2, 5) if step * 10**power <= largest]
    x = alt.X(
        "degree:Q",
        title="neighbors of a node (degree)",
        scale=alt.Scale(
            type="log" if long_tail else "linear",
            domain=[LEFT if first else 0, largest * 1.02 + 0.5],
            nice=False,
        ),
        axis=alt.Axis(tickMinStep=1, format=",d", values=ticks if long_tail else alt.Undefined),
    )
    floor = 100 / max(nodes, 1)  # percent: one node
    shares = [10.0**power for power in range(2, -8, -1) if 10.0**power >= floor * 0.8]
    y = alt.Y(
        "share:Q",
        title="nodes with at least so many neighbors",
        scale=alt.Scale(type="log", domain=[floor * 0.8, 130], nice=False),
        axis=alt.Axis(values=shares, labelExpr="format(datum.value, '~g') + '%'"),
    )
    colour = alt.Color(
        "build:N",
        title=None,
        sort=names,
        scale=alt.Scale(domain=names, range=_cycle(COLORS, len(names))),
        legend=alt.Legend(symbolType="stroke"),
    )
    dash = alt.StrokeDash(
        "build:N", title=None, sort=names, scale=alt.Scale(domain=names, range=_cycle(DASHES, len(names)))
    )
    line = (
        alt.Chart(alt.Data(values=points))
        .mark_line(interpolate="step-before", strokeWidth=2.5, strokeJoin="round", clip=True)
        .encode(x=x, y=y, color=colour, strokeDash=dash)
    )
    dot = (
        alt.Chart(alt.Data(values=marks))
        .mark_point(size=110, filled=True, opacity=1, stroke="white", strokeWidth=1.5, shape="circle")
        .encode(x=x, y=y, color=alt.Color("build:N", sort=names, legend=None))
    )
    return alt.layer(line, dot)


def _cycle(values: Sequence[Any], length: int) -> list[Any]:
    return [values[at % len(values)] for at in range(length)]


def make_title(text: str, note: str, *, size: int = 16) -> Any:
    """Return a heading with a note under it, at the left."""
    import altair as alt

    return alt.TitleParams(text=text, subtitle=note, anchor="start", offset=14, fontSize=size)


def _styled(chart: Any) -> Any:
    """Give a chart the look that all share: quiet grid, large enough letters, room around."""
    return (
        chart.configure(background="white", padding=16, font="Liberation Sans, Arial, Helvetica, sans-serif")
        .configure_title(subtitleFontSize=13, subtitleColor="#555555", subtitlePadding=5)
        .configure_axis(
            labelFontSize=12.5,
            titleFontSize=13.5,
            titleFontWeight="normal",
            titlePadding=10,
            gridColor="#e6e6e6",
        )
        .configure_view(stroke=None)
        .configure_legend(
            orient="bottom",
            direction="vertical",
            labelFontSize=13.5,
            labelLimit=500,
            symbolSize=900,
            symbolStrokeWidth=2.5,
            offset=14,
        )
    )
