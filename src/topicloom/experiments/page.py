"""The page of a reproduction in Markdown: every claim with its verdict, and every figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from topicloom.experiments.model import PAPERS
from topicloom.experiments.points import Point, drawn_figures
from topicloom.experiments.rows import VERDICTS, ReproducedRow, paper_of
from topicloom.experiments.run import Outcome

FOLDER = "reproduction"  # of the pictures, beside the page
PAGE = "reproduction.md"


def counts_of(rows: Sequence[ReproducedRow]) -> dict[str, int]:
    """Return how many claims got each verdict."""
    found = Counter(row.verdict for row in rows)
    return {verdict: found[verdict] for verdict in VERDICTS}


def counts_told(rows: Sequence[ReproducedRow]) -> str:
    """Say how many claims reproduce, differ and cannot hold."""
    good, other, never = counts_of(rows).values()
    return f"Of {len(rows)} claims {good} reproduce, {other} differ and {never} cannot hold."


def number(value: float | str) -> str:
    """Return a number as people read it: about four digits.

    >>> number(10.8123), number(1234.5), number(15.0), number(0.00513), number("about 3")
    ('10.81', '1,234', '15', '0.00513', 'about 3')
    """
    if isinstance(value, str):
        return value
    if value == round(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"


def ours_told(row: ReproducedRow) -> str:
    """Return our number with half of its 95% interval."""
    if row.interval is None:
        return number(row.ours)
    reach = (row.interval[1] - row.interval[0]) / 2
    return (
        number(row.ours)
        if reach < 5e-5 * abs(row.ours) or reach == 0
        else f"{number(row.ours)} ± {reach:.2g}"
    )


def page(outcomes: Sequence[Outcome], *, scale: str, seed: int, machine: str, drawn: set[str]) -> str:
    """Return the whole page; `drawn` are the experiments that have a picture, `machine` is told in words."""
    rows = [row for outcome in outcomes for row in outcome.rows]
    lines = [
        "# Reproduction",
        "",
        "Every table and figure of the five [papers](papers.md) whose workload is in their text, run again. "
        f"This page is written by `topicloom reproduce` ({scale} sizes, seeds from {seed} on, {machine}). "
        "`ours` is the mean over the seeds with half of its 95% interval. The same seed gives the same "
        "numbers on any number of cores, except where seconds are compared.",
        "",
        counts_told(rows),
        "",
        "| paper | claims | " + " | ".join(VERDICTS) + " |",
        "|---|--:|" + "--:|" * len(VERDICTS),
    ]
    for key in PAPERS.values():
        own = [row for row in rows if row.paper == key]
        if own:
            cells = " | ".join(map(str, counts_of(own).values()))
            lines.append(f"| [{key}](#{key.lower()}) | {len(own)} | {cells} |")
    for key in PAPERS.values():
        own_outcomes = [one for one in outcomes if paper_of(one.name) == key]
        if own_outcomes:
            lines += ["", f"## {key}"]
        for outcome in own_outcomes:
            lines += ["", *_section(outcome, drawn=outcome.name in drawn)]
    return "\n".join(lines) + "\n"


def _section(outcome: Outcome, *, drawn: bool) -> list[str]:
    experiment = outcome.experiment
    lines = [f"### {experiment.item}: {experiment.title}", ""]
    seeds = len(outcome.samples)
    command = outcome.rows[0].command if outcome.rows else f"topicloom reproduce {outcome.name}"
    lines += [f"`{command}` ({seeds} {'seed' if seeds == 1 else 'seeds'}). {experiment.why}".rstrip(), ""]
    lines += ["| claim | printed | ours | verdict |", "|---|--:|--:|---|"]
    for row in outcome.rows:
        verdict = f"**{row.verdict}**: {row.reason}"
        cells = (row.claim, number(row.printed), ours_told(row), verdict)
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    if outcome.left_out:
        lines += ["", f"Only with `--full`: {'; '.join(claim.text for claim in outcome.left_out)}."]
    if drawn:
        lines += ["", f"![{experiment.item}: {experiment.title}]({FOLDER}/{outcome.name}.svg)"]
    return [*lines, *_beyond(outcome)]


def _beyond(outcome: Outcome) -> list[str]:
    """Return a table of what topicloom itself reaches, beside the paper's lines at the same places."""
    lines: list[str] = []
    for figure, points in drawn_figures(outcome):
        ours = [one for one in points if one.ours]
        places = sorted({one.x for one in ours})
        if not ours:
            continue
        near = [one for one in points if one.x in places and not one.printed]
        names = list(dict.fromkeys(one.line for one in near))
        lines += ["", f"| {figure.y} at {outcome.experiment.x} | " + " | ".join(map(number, places)) + " |"]
        lines.append("|---|" + "--:|" * len(places))
        for name in names:
            at = {one.x: _shown(one) for one in near if one.line == name}
            label = f"**{name}**" if any(one.line == name for one in ours) else name
            lines.append(f"| {label} | " + " | ".join(at.get(x, "") for x in places) + " |")
    return lines


def _shown(point: Point) -> str:
    return number(point.y)
