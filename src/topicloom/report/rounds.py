"""How brokers that migrate their users did, as a chart: cost and migrations over the rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from topicloom.errors import UsageError
from topicloom.report.charts import COLORS, make_title

NOTE = "Cost: messages per second times prices. Dashed: what a planner that knows everything finds."


def rounds_chart(rows: Sequence[Mapping[str, Any]], levels: Mapping[str, float], title: str) -> Any:
    """Two panels over the rounds: the cost, with `levels` as dashed lines beside it, and the migrations."""
    import altair as alt

    if not rows:
        raise UsageError("a chart of rounds needs at least one round")
    lines = [("cost", "all"), ("access_cost", "access"), ("core_cost", "core")]
    points = [
        {"round": row["round"], "value": row[column], "line": name} for row in rows for column, name in lines
    ]
    names = [name for _, name in lines]
    rounds = alt.Scale(domain=[-0.5, rows[-1]["round"] + 0.5], nice=False)
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
    words = level.mark_text(align="right", dy=12, color="#333").encode(
        x="round:Q", y="value:Q", text="name:N"
    )
    bars = (
        alt.Chart(alt.Data(values=[{"round": row["round"], "value": row["migrations"]} for row in rows]))
        .mark_bar(color=COLORS[2])
        .encode(
            x=alt.X("round:Q", title="round", axis=alt.Axis(tickMinStep=1), scale=rounds),
            y=alt.Y("value:Q", title="migrations", axis=alt.Axis(tickMinStep=1, format=",d")),
        )
        .properties(width=620, height=90)
    )
    upper = alt.layer(cost, rules, words).properties(width=620, height=240)
    return alt.vconcat(upper, bars, spacing=14).properties(title=make_title(title, NOTE))
