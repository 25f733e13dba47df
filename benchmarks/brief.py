"""The figures that matter in five minutes, each beside the last one that RESULTS.md holds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from benchmarks.harness import Figure, Row

BUDGET = 300.0  # seconds; a case that has begun ends
NAMES = ("startup", "start", "builders", "balanced", "certify", "published", "exact", "matching", "compile")
"""The most telling first: what the budget cuts off is the end."""

Last = Mapping[tuple[str, str], list[dict[str, str]]]
"""What RESULTS.md holds: (benchmark, case) -> its rows, column -> cell; a case may be in several tables."""


def read_last(text: str) -> Last:
    """Return the cells of RESULTS.md.

    >>> read_last("## a: b\\n\\n### t\\n\\n| case | time |\\n|---|---|\\n| small | 2 s |\\n")
    {('a', 'small'): [{'time': '2 s'}]}
    """
    found: dict[tuple[str, str], list[dict[str, str]]] = {}
    name, columns = "", [""]
    for line in text.splitlines():
        if line.startswith("## "):
            name = line.removeprefix("## ").split(":")[0]
        elif line.startswith("| case |"):
            columns = _cells(line)
        elif line.startswith("| "):
            case, *cells = _cells(line)
            found.setdefault((name, case), []).append(dict(zip(columns[1:], cells, strict=False)))
    return found


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def beside_last(name: str, rows: Sequence[Row], last: Last) -> Iterator[str]:
    """Tell each figure of some rows and the last one; what is not a figure is left out.

    Rows of one case come in the order in which RESULTS.md has them, and each is taken from `last` once.
    """
    for row in rows:
        same = last.get((name, row.case))
        before = same.pop(0) if same else {}
        if row.not_run is not None:
            yield f"{row.case}: NOT RUN: {row.not_run}"
        for column, cell in row.cells.items():
            if isinstance(cell, Figure):
                yield f"{row.case}, {column}: {cell}; last {before.get(column) or 'none'}"


def while_time(rows: Iterator[Row], end: float, clock: Callable[[], float] = time.monotonic) -> Iterator[Row]:
    """Return rows until the clock says `end`: a row is measured when it is asked for."""
    while clock() < end:
        row = next(rows, None)
        if row is None:
            return
        yield row
    yield Row("", "the rest", not_run="the time is up")
