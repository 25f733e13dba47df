"""A figure of a paper in its own axes: our means with 95% intervals, our own builders, the printed points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from topicloom.base.charts import COLORS, DASHES, make_title
from topicloom.experiments.model import Experiment, Figure
from topicloom.experiments.points import Point

WIDTH, HEIGHT = 520, 340
NOTE = "Solid: the paper's algorithms, run again. Dashed: what topicloom adds. Rings: printed numbers."


def experiment_chart(experiment: Experiment, drawn: Sequence[tuple[Figure, Sequence[Point]]]) -> Any:
    """Draw the figures of an experiment side by side, with Altair."""
    import altair as alt

    panels = [_panel(experiment, figure, points) for figure, points in drawn if points]
    rows = [alt.hconcat(*panels[at : at + 2], spacing=30) for at in range(0, len(panels), 2)]
    title = make_title(f"{experiment.item}: {experiment.title}", NOTE)
    return alt.vconcat(*rows, spacing=30).resolve_scale(color="independent").properties(title=title)


def _panel(experiment: Experiment, figure: Figure, points: Sequence[Point]) -> Any:
    import altair as alt

    names = list(dict.fromkeys(one.line for one in points))
    values = [
        {"x": one.x, "y": one.y, "low": max(one.low, 0.0), "high": one.high, "line": one.line,
         "kind": "ours" if one.ours else "paper"}
        for one in points if not one.printed
    ]  # fmt: skip
    printed = [{"x": one.x, "y": one.y, "line": one.line} for one in points if one.printed]
    x = alt.X("x:Q", title=experiment.x, scale=alt.Scale(zero=False, nice=False, padding=12))
    scale = alt.Scale(type="log" if figure.log else "linear", zero=False)
    y = alt.Y("y:Q", title=figure.y, scale=scale)
    colour = alt.Color(
        "line:N",
        title=None,
        sort=names,
        scale=alt.Scale(domain=names, range=[COLORS[at % len(COLORS)] for at in range(len(names))]),
        legend=alt.Legend(orient="bottom", columns=2, symbolType="stroke", labelLimit=320),
    )
    dash = alt.StrokeDash(
        "kind:N",
        legend=None,
        scale=alt.Scale(domain=["paper", "ours"], range=[DASHES[0], DASHES[1]]),
    )
    base = alt.Chart(alt.Data(values=values))
    layers = [
        base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash),
        base.mark_point(filled=True, size=40, opacity=1).encode(x=x, y=y, color=colour),
        base.mark_rule(strokeWidth=1.5).encode(x=x, y="low:Q", y2="high:Q", color=colour),
    ]
    if printed:
        rings = alt.Chart(alt.Data(values=printed)).mark_point(size=140, strokeWidth=2, shape="circle")
        layers.append(rings.encode(x=x, y=y, color=colour))
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
