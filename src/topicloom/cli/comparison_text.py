"""A comparison as a table for papers: CSV with plain figures, Markdown and LaTeX as people read them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from topicloom.errors import UsageError

if TYPE_CHECKING:
    from topicloom.overlay.jobs.compare import ComparedBuild, ComparedMeans, Comparison, Interval

FORMATS = ("table", "csv", "markdown", "latex")
# Key of the JSON, heading, decimals.
COLUMNS = (
    ("edges", "edges", 0),
    ("degree_avg", "average degree", 2),
    ("degree_max", "maximum degree", 0),
    ("diameter_topic_max", "hops, largest", 0),
    ("hops_mean", "hops, mean", 2),
    ("hops_p95", "hops, 95% up to", 0),
    ("splits_avg", "topics split by a death, mean", 2),
    ("splits_max", "topics split by a death, most", 0),
    ("bridges", "bridges", 0),
    ("seconds_build", "seconds to build", 2),
)
_IN_LATEX = str.maketrans(
    {"_": r"\_", "&": r"\&", "%": r"\%", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}"}
)


def check_format(name: str) -> None:
    """Refuse a form of output that there is not."""
    if name not in FORMATS:
        raise UsageError(f"--output-format {name}: it is one of {', '.join(FORMATS)}")


def comparison_text(comparison: Comparison, form: str) -> str:
    """Return the comparison in one of the forms; means with their 95% intervals where there are some."""
    return {"csv": _csv, "markdown": _markdown, "latex": _latex}[form](comparison)


def comparison_page(
    comparison: Comparison, name: str, *, edges_bound: int, degree_max_bound: int, command: str
) -> str:
    """Return one page with the tables that people put into papers, and what no overlay can be better than."""
    first = comparison.rows[0]
    lines = [
        f"# Builders on {name}",
        "",
        f"{first.nodes:,} nodes, {first.topics:,} topics, {first.subscriptions:,} subscriptions. "
        f"Every topic-connected overlay has at least {edges_bound:,} edges (an average degree of "
        f"{2 * edges_bound / max(first.nodes, 1):.2f}) and a maximum degree of at least {degree_max_bound}.",
        "",
        _markdown(comparison),
        "",
        "```latex",
        _latex(comparison),
        "```",
        "",
        f"Made by `{command}` (topicloom {comparison.version}).",
    ]
    return "\n".join(lines) + "\n"


def _rows(comparison: Comparison) -> list[ComparedBuild] | list[ComparedMeans]:
    return comparison.means if isinstance(comparison.means, list) else comparison.rows


def _value(row: Any, key: str) -> Any:
    if key == "seconds_build" and not hasattr(row, key):
        return row.seconds["build"]
    return getattr(row, key)


def _csv(comparison: Comparison) -> str:
    averaged = isinstance(comparison.means, list)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    parts = ("", "_low", "_high") if averaged else ("",)
    names = [f"{key}{part}" for key, _, _ in COLUMNS for part in parts]
    writer.writerow(["algorithm", *names, "topic_connected"])
    for row in _rows(comparison):
        cells: list[Any] = []
        for key, _, _ in COLUMNS:
            found = _value(row, key)
            if averaged:
                cells += [""] * 3 if found is None else [found.mean, found.low, found.high]
            else:
                cells.append("" if found is None else found)
        writer.writerow([row.algorithm, *cells, "true" if row.topic_connected else "false"])
    return text.getvalue().rstrip("\n")


def shown_interval(found: Interval, decimals: int, sign: str = "±") -> str:
    """Return a mean and half of its interval; counts get a decimal, since a mean is none."""
    decimals = max(decimals, 1)
    return f"{found.mean:,.{decimals}f} {sign} {found.high - found.mean:,.{decimals}f}"


def _cells(row: Any, sign: str, missing: str, shorten: Callable[[str], str] = str) -> list[str]:
    cells = []
    for key, _, decimals in COLUMNS:
        found = _value(row, key)
        if found is None:
            cells.append(missing)
        elif hasattr(found, "mean"):
            cells.append(shorten(shown_interval(found, decimals, sign)))
        else:
            cells.append(f"{found:,.{decimals}f}")
    return [*cells, "yes" if row.topic_connected else "no"]


def _markdown(comparison: Comparison) -> str:
    headings = ["builder", *(heading for _, heading, _ in COLUMNS), "topic-connected"]
    lines = [headings, ["---", *["--:"] * len(COLUMNS), "---"]]
    lines += [[row.algorithm, *_cells(row, "±", "–")] for row in _rows(comparison)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _latex(comparison: Comparison) -> str:
    headings = ["builder", *(heading for _, heading, _ in COLUMNS), "connected"]
    rows = [
        [row.algorithm.translate(_IN_LATEX), *_cells(row, r"\pm", "--", lambda text: f"${text}$")]
        for row in _rows(comparison)
    ]
    body = [" & ".join(cells) + r" \\" for cells in rows]
    head = " & ".join(heading.translate(_IN_LATEX) for heading in headings) + r" \\"
    return "\n".join(
        [rf"\begin{{tabular}}{{l{'r' * len(COLUMNS)}l}}", r"\hline", head, r"\hline", *body, r"\hline",
         r"\end{tabular}"]
    )  # fmt: skip
