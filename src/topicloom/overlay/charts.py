"""Average against maximum degree: one dot per build, labelled, on logarithmic axes.

The further to the lower left, the better. Builders differ by factors of a hundred and by a few percent, so
the builds that matter are drawn once more beside, magnified. Labels are placed here, not by the plotting
library, so that they overlap neither each other nor a dot and stand nearest to their own.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicloom.base.charts import COLORS, make_title
from topicloom.base.labels import DOT, FONT, LEADER, Box, LogAxis, Place, merge_labels, place_labels
from topicloom.errors import UsageError
from topicloom.overlay.graphs.layout import place_nodes
from topicloom.overlay.measures.cuts import TopicGraph
from topicloom.overlay.model.explanation import ExplainedEdge, ExplainedNode, Explanation
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.python_tables import find_name

HEIGHT = 400.0
WIDTHS = (400.0, 480.0)
DEGREES = ("average degree (connections per node)", "maximum degree")
HOPS = (DEGREES[0], "most hops inside a topic")
FEWEST_SPLITS = 0.01  # fewer are drawn as so many
SPLITS = (DEGREES[0], "topics split by the death of a node, mean (0.01: that or fewer)")
WIDE, TALL, RIM = 640.0, 520.0, 24.0  # of the picture of a topic
LETTERS = 24  # of a node's name in it
NAMED = 80  # nodes of a topic that have their names in its picture; more would cover each other


@dataclass(frozen=True, slots=True)
class Dot:
    """One build: its average and maximum degree (or most hops), and the kind of builder, which colours it."""

    average: float
    maximum: float
    kind: str


def degree_scatter(
    dots: Mapping[str, Dot],
    title: str,
    note: str,
    *,
    near: Collection[str] = (),
    axes: tuple[str, str] = DEGREES,
    joined: str = "",
) -> Any:
    """Draw the builds of one interest with Altair; those of `near` have their labels in a second panel.

    A line joins the dots of the kind `joined`: a frontier.
    """
    import altair as alt

    if not dots or min(dot.average for dot in dots.values()) <= 0:
        raise UsageError("a scatter of degrees needs at least one build, and each of them an edge")
    kinds = list(dict.fromkeys(dot.kind for dot in dots.values()))
    inside = {name: dot for name, dot in dots.items() if name in near}
    panels = [_panel(dots, kinds, WIDTHS[0], axes, joined, unlabelled=near)]
    if inside:
        panels.append(_panel(inside, kinds, WIDTHS[1], axes, joined))
    return alt.hconcat(*panels, spacing=36).properties(title=make_title(title, note))


def hops_scatter(
    dots: Mapping[str, Dot], title: str, note: str = "", *, near: Collection[str] = (), joined: str = ""
) -> Any:
    """Draw average degree against the most hops inside a topic: `Dot.maximum` are the hops."""
    shown = {name: dot for name, dot in dots.items() if dot.average > 0 and dot.maximum > 0}
    plain = "One dot per build. Further left: fewer connections. Further down: shorter paths."
    return degree_scatter(shown, title, note or plain, near=near, axes=HOPS, joined=joined)


def splits_scatter(dots: Mapping[str, Dot], title: str) -> Any:
    """Draw average degree against splits by a death: `Dot.maximum` is their mean."""
    # The axis has no zero.
    shown = {
        name: replace(dot, maximum=max(dot.maximum, FEWEST_SPLITS))
        for name, dot in dots.items()
        if dot.average > 0
    }
    note = "One dot per build. Further left: fewer connections. Further down: fewer topics hang on one node."
    return degree_scatter(shown, title, note, axes=SPLITS)


@dataclass(frozen=True, slots=True)
class FrontierDot:
    """One build of a sweep: its edges beside the maximum degree and the hops that it has."""

    edges: int
    degree_max: int
    hops_max: int | None
    swept: str  # what was varied: a line of the chart
    label: str  # the value asked for


def frontier_chart(dots: Sequence[FrontierDot], title: str) -> Any:
    """Draw edges against the maximum degree, and against the most hops, of a sweep of builds."""
    import altair as alt

    if not dots:
        raise UsageError("a frontier needs at least one build")
    names = list(dict.fromkeys(dot.swept for dot in dots))
    shades = alt.Scale(domain=names, range=list(COLORS[: len(names)]))
    legend = alt.Legend(symbolSize=130, direction="horizontal", symbolType="circle")
    panels = []
    for field, axis in (("degree_max", DEGREES[1]), ("hops_max", HOPS[1])):
        rows = _frontier_rows([dot for dot in dots if getattr(dot, field) is not None], field)
        x = alt.X("x:Q", title=axis, scale=alt.Scale(type="log", nice=False, padding=24))
        y = alt.Y("edges:Q", title="edges", scale=alt.Scale(zero=False, padding=24))
        base = alt.Chart(alt.Data(values=rows)).encode(
            x=x, y=y, color=alt.Color("swept:N", title=None, sort=names, scale=shades, legend=legend)
        )
        best = alt.Chart(alt.Data(values=[row for row in rows if row["best"]]))
        line = best.mark_line(interpolate="step-after", color="#aaaaaa").encode(x=x, y=y)
        marks = base.mark_point(filled=True, opacity=1, size=90)
        texts = base.mark_text(dx=10, dy=-10, fontSize=11).encode(text="label:N")
        panels.append((line + marks + texts).properties(width=WIDTHS[0], height=HEIGHT))
    note = (
        "Each dot is one build; beside it what was asked for. No build is better in both than the grey line."
    )
    return alt.hconcat(*panels, spacing=36).properties(title=make_title(title, note))


def _frontier_rows(dots: Sequence[FrontierDot], field: str) -> list[dict[str, Any]]:
    """Return the rows of a panel: equal dots share a label; `best` are those that no other beats in both."""
    labels: dict[tuple[int, int, str], list[str]] = {}
    for dot in dots:
        labels.setdefault((getattr(dot, field), dot.edges, dot.swept), []).append(dot.label)
    return [
        {
            "x": x,
            "edges": edges,
            "swept": swept,
            "label": ", ".join(sharing),
            "best": not any((a, b) != (x, edges) and a <= x and b <= edges for a, b, _ in labels),
        }
        for (x, edges, swept), sharing in labels.items()
    ]


def _panel(
    dots: Mapping[str, Dot],
    kinds: list[str],
    width: float,
    axes: tuple[str, str],
    joined: str = "",
    unlabelled: Collection[str] = (),
) -> Any:
    across = LogAxis.over([dot.average for dot in dots.values()], width)
    up = LogAxis.over([dot.maximum for dot in dots.values()], HEIGHT)
    places = {name: (across.at(dot.average), HEIGHT - up.at(dot.maximum)) for name, dot in dots.items()}
    named = merge_labels({name: place for name, place in places.items() if name not in unlabelled})
    boxes = place_labels(named, Box(0, 0, width, HEIGHT), [places[name] for name in unlabelled])

    def row(place: Place, name: str) -> dict[str, Any]:
        x, y = across.value(place[0]), up.value(HEIGHT - place[1])
        return {"x": x, "y": y, "build": name, "kind": dots[name].kind}

    points = [row(place, name) for name, place in places.items()]
    labels, leaders = [], []
    for text, box in boxes.items():
        names = text.split("\n")
        labels += [row(place, name) for place, name in zip(box.lines(len(names)), names, strict=True)]
        if box.distance(named[text]) > LEADER:
            end = row(box.nearest(named[text]), names[0])
            leaders.append(row(named[text], names[0]) | {"x2": end["x"], "y2": end["y"]})
    return _layers(points, labels, leaders, across, up, kinds, axes, joined)


def _layers(
    points: list[dict[str, Any]],
    labels: list[dict[str, Any]],
    leaders: list[dict[str, Any]],
    across: LogAxis,
    up: LogAxis,
    kinds: list[str],
    axes: tuple[str, str],
    joined: str,
) -> Any:
    import altair as alt

    def axis(channel: Any, name: str, scale: LogAxis, title: str) -> Any:
        return channel(
            name,
            title=title,
            scale=alt.Scale(type="log", domain=[scale.low, scale.high], nice=False),
            axis=alt.Axis(values=scale.ticks(), format=",~g"),
        )

    x = axis(alt.X, "x:Q", across, axes[0])
    y = axis(alt.Y, "y:Q", up, axes[1])
    shades = alt.Scale(domain=kinds, range=list(COLORS[: len(kinds)]))
    legend = alt.Legend(symbolSize=130, direction="horizontal", symbolType="circle")
    colour = alt.Color("kind:N", title=None, sort=kinds, scale=shades, legend=legend)
    lines, dots, texts = (alt.Chart(alt.Data(values=rows)) for rows in (leaders, points, labels))
    along = [point for point in points if point["kind"] == joined]
    frontier = alt.Chart(alt.Data(values=along)).mark_line(color="#aaaaaa").encode(x=x, y=y)
    return alt.layer(
        *([frontier] if along else []),
        lines.mark_rule(color="#aaaaaa").encode(x=x, y=y, x2="x2:Q", y2="y2:Q"),
        dots.mark_point(filled=True, opacity=1, size=math.pi * DOT**2, shape="circle").encode(
            x=x, y=y, color=colour
        ),
        texts.mark_text(fontSize=FONT).encode(x=x, y=y, text="build:N", color=colour),
    ).properties(width=across.pixels, height=up.pixels)


def topic_chart(
    names: Sequence[str],
    points: NDArray[Any],
    ends: Sequence[tuple[int, int]],
    title: str,
    note: str,
    *,
    marked: Collection[int] = (),
    edge: tuple[int, int] | None = None,
) -> Any:
    """Draw the subgraph of a topic: nodes where `points` has them, some of them marked, one edge too."""
    import altair as alt

    low, size = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 1e-9)
    spots = ((points - low) / size * (WIDE - 2 * RIM, TALL - 2 * RIM) + RIM).tolist()
    orange = {*marked, *(edge or ())}
    nodes = [{"x": x, "y": y, "mark": place in orange} for place, (x, y) in enumerate(spots)]
    lines = [
        {"x": spots[u][0], "y": spots[u][1], "x2": spots[v][0], "y2": spots[v][1],
         "mark": edge is not None and {u, v} == set(edge)}
        for u, v in ends
    ]  # fmt: skip

    def axis(channel: Any, name: str, most: float) -> Any:
        return channel(name, axis=None, scale=alt.Scale(domain=[0, most], nice=False, reverse=name == "y:Q"))

    x, y = axis(alt.X, "x:Q", WIDE), axis(alt.Y, "y:Q", TALL)
    colour = alt.condition("datum.mark", alt.value(COLORS[1]), alt.value(COLORS[0]))
    line = alt.condition("datum.mark", alt.value(COLORS[1]), alt.value("#bbbbbb"))
    rules = alt.Chart(alt.Data(values=lines)).mark_rule(strokeWidth=1.5)
    dots = alt.Chart(alt.Data(values=nodes)).mark_point(filled=True, opacity=1, size=90)
    layers = [
        rules.encode(x=x, y=y, x2="x2:Q", y2="y2:Q", color=line),
        dots.encode(x=x, y=y, color=colour),
    ]
    if len(names) <= NAMED:
        short = {" ".join(name.split())[:LETTERS]: tuple(spots[place]) for place, name in enumerate(names)}
        boxes = place_labels(short, Box(0, 0, WIDE, TALL))
        texts = [dict(zip("xy", box.lines(1)[0], strict=True), name=name) for name, box in boxes.items()]
        layers.append(
            alt.Chart(alt.Data(values=texts)).mark_text(fontSize=FONT).encode(x=x, y=y, text="name:N")
        )
    return alt.layer(*layers).properties(width=WIDE, height=TALL, title=make_title(title, note))


def draw_explanation(found: Explanation, overlay: Overlay) -> Any:
    """Draw the topic of an explanation, what it is about marked; the overlay knows its interest."""
    interest = overlay.interest
    if interest is None or not found.drawing:
        raise UsageError("there is no topic to draw")
    graph = TopicGraph.of(interest, overlay, find_name(interest.topic_ids, found.drawn_topic or "", "topic"))
    names = [interest.node_ids[int(node)].as_py() for node in graph.members]
    place = {name: number for number, name in enumerate(names)}
    edge, marked = None, []
    note = f"{len(names):,} subscribers, {len(graph.u):,} edges among them"
    if isinstance(found, ExplainedEdge):
        edge, note = (place[found.u], place[found.v]), f"{note}; orange: the edge"
    elif isinstance(found, ExplainedNode):
        marked, note = [place[found.node]], f"{note}; orange: the node"
    elif found.cut_nodes:
        marked = [place[one.node] for one in found.cut_nodes]
        note += "; orange: it would split without any of these"
    points = place_nodes(len(names), graph.u, graph.v)
    ends = list(zip(graph.u.tolist(), graph.v.tolist(), strict=True))
    return topic_chart(names, points, ends, f"Topic {found.drawn_topic}", note, marked=marked, edge=edge)
