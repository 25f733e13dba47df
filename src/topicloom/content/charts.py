"""A chart of brokers that migrate their users: cost and migrations over the rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from topicloom.base.charts import COLORS, make_title
from topicloom.errors import UsageError

NOTE = "Cost: messages per second times prices."
DASHED = " Dashed: what a planner that knows everything finds."
GREY = "#777"  # of the bars: every color above stands for a cost


def rounds_chart(rows: Sequence[Mapping[str, Any]], levels: Mapping[str, float], title: str) -> Any:
    """Draw two panels over the rounds: the cost, with `levels` as dashed lines, and the migrations."""
    import altair as alt

    if not rows:
        raise UsageError("a chart of rounds needs at least one round")
    lines = [("cost", "all"), ("access_cost", "access"), ("core_cost", "core")]
    points = [
        {"round": row["round"], "value": row[column], "line": name} for row in rows for column, name in lines
    ]
    names = [name for _, name in lines]
    rounds = alt.Scale(domain=[-0.5, rows[-1]["round"] + 0.5], nice=False, padding=0)
    cost = (
        alt.Chart(alt.Data(values=points))
        .mark_line(strokeWidth=2, point=True)
        .encode(
            x=alt.X("round:Q", title=None, axis=alt.Axis(tickMinStep=1), scale=rounds),
            y=alt.Y("value:Q", title="cost per second", scale=alt.Scale(domainMin=0)),
            color=alt.Color(
                "line:N",
                title=None,
                scale=alt.Scale(domain=names, range=list(COLORS[: len(names)])),
                legend=alt.Legend(symbolType="stroke", direction="horizontal"),
            ),
        )
    )
    marks = [{"value": value, "name": name, "round": rows[-1]["round"]} for name, value in levels.items()]
    level = alt.Chart(alt.Data(values=marks))
    rules = level.mark_rule(strokeDash=[6, 4], color="#555").encode(y="value:Q")
    place = {"x": "round:Q", "y": "value:Q", "text": "name:N"}
    # A white rim keeps the words readable where a line runs through them.
    rim = level.mark_text(align="right", dy=-8, stroke="white", strokeWidth=5).encode(**place)
    words = level.mark_text(align="right", dy=-8, color="#333").encode(**place)
    bars = (
        alt.Chart(alt.Data(values=[{"round": row["round"], "value": row["migrations"]} for row in rows]))
        .mark_bar(color=GREY)
        .encode(
            x=alt.X("round:Q", title="round", axis=alt.Axis(tickMinStep=1), scale=rounds),
            y=alt.Y("value:Q", title="migrations", axis=alt.Axis(tickMinStep=1, format=",d")),
        )
        .properties(width=620, height=90)
    )
    upper = alt.layer(cost, rules, rim, words).properties(width=620, height=240)
    note = NOTE + DASHED if levels else NOTE
    return alt.vconcat(upper, bars, spacing=14).properties(title=make_title(title, note))
