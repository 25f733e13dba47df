"""How values show themselves in notebooks. Values know nothing of pages: who draws them says so here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_drawn_by: dict[type, Callable[[Any], str]] = {}


def draw_with(kind: type, function: Callable[[Any], str]) -> None:
    """Let notebooks show values of this type as the HTML that `function` returns."""
    _drawn_by[kind] = function


def html_of(value: object) -> str | None:
    """Return a value as HTML; None, which notebooks take for their plain form, if nobody draws it."""
    function = _drawn_by.get(type(value))
    return None if function is None else function(value)
