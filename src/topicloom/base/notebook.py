"""How values show themselves in notebooks and at the prompt: small tables, as HTML and as text.

What shows charts there gets them from above: see late_methods.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from html import escape
from typing import Any

MOST_ROWS = 60  # of a table: a notebook is no place for more
MOST_VALUES = 5  # of a list in one cell


def html_table(title: str, figures: Mapping[str, Any]) -> str:
    """Return names and values as a small HTML table; whatever is in them stands there as text.

    >>> html_table("Build", {"edges": 12345})
    '<table><caption>Build</caption><tr><th>edges</th><td>12,345</td></tr></table>'
    """
    rows = [
        f"<tr><th>{escape(str(key))}</th><td>{escape(shown(one))}</td></tr>" for key, one in figures.items()
    ]
    return f"<table><caption>{escape(title)}</caption>{''.join(rows[:MOST_ROWS])}</table>"


def text_table(title: str, figures: Mapping[str, Any]) -> str:
    """Return names and values as lines of text.

    >>> print(text_table("Measures", {"edges": 12345, "degree_avg": 2.0}))
    Measures
      edges       12,345
      degree_avg  2.0
    """
    width = max(map(len, figures), default=0)
    return "\n".join([title, *(f"  {key:<{width}}  {shown(one)}" for key, one in figures.items())])


def html_rows(title: str, headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table with headings as HTML."""
    head = "".join(f"<th>{escape(one)}</th>" for one in headings)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(shown(cell))}</td>' for cell in row)}</tr>" for row in rows[:MOST_ROWS]
    )
    return f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{body}</table>"


def shown(value: Any) -> str:
    """Return a value as people read it: numbers with commas, long lists cut off."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return {True: "yes", False: "no", None: "none"}.get(value, str(value))  # type: ignore[arg-type]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 and not value.is_integer() else f"{value:,.1f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {shown(one)}" for key, one in list(value.items())[:MOST_VALUES]) + _more(
            value
        )
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value[:MOST_VALUES])) + _more(value)
    return repr(value)


def _more(values: Sized) -> str:
    return f" and {len(values) - MOST_VALUES:,} more" if len(values) > MOST_VALUES else ""
