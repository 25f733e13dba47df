"""How a simulation went, as a chart: degrees, nodes and partitioned topics over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from topicloom.base.charts import COLORS, make_title
from topicloom.errors import UsageError
from topicloom.spidercast.simulator.outages import Outage

PARTITIONED = "topics partitioned"
PANELS = (
    ("degree", (("degree_avg", "average"), ("degree_max", "largest"))),
    ("nodes present", (("nodes", "present"),)),
    (PARTITIONED, (("topics_partitioned", "partitioned"),)),
)
"""One below the other: the title of the axis, and the columns of a snapshot that are lines there."""


def course_chart(
    snapshots: Sequence[Mapping[str, Any]],
    title: str,
    outages: Sequence[Outage] = (),
    crashes: Sequence[float] = (),
) -> Any:
    """Three panels over simulated time, one row of figures per snapshot.

    Behind the split topics: bands for cuts and freezes (`outages`), lines for crashes.
    """
    import altair as alt

    if not snapshots:
        raise UsageError("a chart of a simulation needs at least one snapshot")
    panels = []
    for axis, lines in PANELS:
        names, last = [name for _, name in lines], axis == PARTITIONED
        points = [
            {"time": row["time"], "value": row[column], "line": name}
            for row in snapshots
            for column, name in lines
        ]
        highest = max(1, *(point["value"] for point in points))
        panels.append(
            (_marks(outages, crashes) if last else [])
            + [
                alt.Chart(alt.Data(values=points))
                .mark_line(strokeWidth=2, interpolate="step-after" if last else "linear", point=True)
                .encode(
                    x=alt.X("time:Q", title="simulated seconds" if last else None),
                    y=alt.Y(
                        "value:Q",
                        title=axis,
                        scale=alt.Scale(domain=[0, highest * 1.05]),
                        axis=alt.Axis(tickMinStep=1, tickCount=min(4, round(highest)), format=",d"),
                    ),
                    color=alt.Color(
                        "line:N",
                        title=None,
                        scale=alt.Scale(domain=names, range=list(COLORS[: len(names)])),
                        legend=alt.Legend(symbolType="stroke", direction="horizontal")
                        if len(names) > 1
                        else None,
                    ),
                )
            ]
        )
    heights = [180 if axis == "degree" else 90 for axis, _ in PANELS]
    layers = [
        (alt.layer(*parts) if len(parts) > 1 else parts[0]).properties(width=620, height=height)
        for parts, height in zip(panels, heights, strict=True)
    ]
    note = "One point per snapshot. A partitioned topic is one whose subscribers are not all connected."
    if outages or crashes:
        note += " Bands: cuts (grey) and freezes (blue); thin lines: crashes."
    return (
        alt.vconcat(*layers, spacing=14)
        .resolve_scale(color="independent")
        .properties(title=make_title(title, note))
    )


def _marks(outages: Sequence[Outage], crashes: Sequence[float]) -> list[Any]:
    """Return a band for each cut or freeze, and a thin line for each crash."""
    import altair as alt

    found = []
    for kind, color in (("cut", "#999999"), ("freeze", COLORS[0])):
        bands = [{"start": one.start, "end": one.end} for one in outages if one.kind == kind]
        if bands:
            found.append(
                alt.Chart(alt.Data(values=bands))
                .mark_rect(opacity=0.25, color=color)
                .encode(x="start:Q", x2="end:Q")
            )
    if crashes:
        lines = [{"time": time} for time in crashes]
        found.append(
            alt.Chart(alt.Data(values=lines)).mark_rule(opacity=0.2, color="#aa3333").encode(x="time:Q")
        )
    return found
