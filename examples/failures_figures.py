"""What more edges buy where nodes may die: splits by a death, beside the edges that were added.

`python examples/failures_figures.py` prints the figures for 100 nodes;
`python examples/failures_figures.py 2000 docs/failures.svg` prints and draws those of docs/failures.md, on
the two tables of `topicloom demo`.
"""

import csv
import gzip
import sys

import altair as alt

import topicloom
from topicloom.overlay import sample_path, save_chart

EXTRA = (0, 5, 10, 15, 20, 25, 30, 40)  # percent
ROWS = list[dict[str, float | str]]


def main(size: str = "100", picture: str = "") -> None:
    """Print one line for each build, and draw them if a file is named."""
    tables = {f"{int(size):,} drawn nodes": topicloom.generate(int(size), popularity="rss", seed=1)}
    if int(size) >= 1_000:
        tables["PX4 flight stack"] = px4()
    rows: ROWS = []
    for name, interest in tables.items():
        rows += curve(interest, name)
    if picture:
        save_chart(chart(rows), picture)


def px4() -> topicloom.Interest:
    """Return the real table that comes along."""
    with gzip.open(sample_path("px4"), "rt", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return topicloom.Interest.from_pairs([(row[0], row[1]) for row in rows])


def curve(interest: topicloom.Interest, name: str) -> ROWS:
    """Build with more and more edges, then so that every topic survives one death, and two."""
    rows: ROWS = []
    plain = 0
    asked = [{"extra_edges": extra} for extra in EXTRA] + [{"survive": 1}, {"survive": 2}]
    for values in asked:
        build = topicloom.build(interest, "balanced", seed=1, **values)
        found = topicloom.measure(interest, build)
        plain = plain or build.n_edges
        ((key, value),) = values.items()
        more = 100 * build.n_edges / plain - 100
        print(
            f"{name:20} {key:11} {value:4}: {build.n_edges:6,} edges ({more:+.1f}%), maximum degree "
            f"{build.degree_max:3}, splits {found['splits_avg']:.2f} on average, at most "
            f"{found['splits_max']}, {found['bridges']:6,} bridges, hops up to {found['diameter_topic_max']}"
        )
        label = f"survive {value}" if key == "survive" else ""
        rows.append({"table": name, "more": more, "splits": found["splits_avg"], "label": label})
    return rows


def chart(rows: ROWS) -> alt.LayerChart:
    """Draw splits against the edges that were added; one line for each table."""
    x = alt.X("more:Q", title="edges more than without, percent")
    y = alt.Y("splits:Q", title="topics split by the death of a node, mean")
    colour = alt.Color("table:N", title=None, legend=alt.Legend(orient="top-right", symbolSize=90))
    spent = alt.Chart(alt.Data(values=[row for row in rows if not row["label"]]))
    whole = alt.Chart(alt.Data(values=[row for row in rows if row["label"]]))
    return alt.layer(
        spent.mark_line(point=True).encode(x=x, y=y, color=colour),
        whole.mark_point(filled=True, size=90, shape="diamond", opacity=1).encode(x=x, y=y, color=colour),
        whole.mark_text(dy=-12, fontSize=11).encode(x=x, y=y, color=colour, text="label:N"),
    ).properties(width=520, height=320)


if __name__ == "__main__":
    main(*sys.argv[1:])
