"""What a section is made of. Texts are set by the template; charts go into the page's one block of JSON.

All of them are plain values: nothing here knows HTML. A chart names what its marks stand for (`link`), by
which a choice in one chart shows in all others and in the drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

Link: TypeAlias = Literal["", "build", "topic", "degree"]


class Figure(msgspec.Struct, frozen=True):
    """One number that matters, and its meaning in a sentence; `tone` says whether it is good or bad news."""

    label: str
    value: str
    meaning: str
    tone: Literal["", "good", "bad"] = ""


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """The title of an axis; `log` for values that span factors, `whole` where only integers count."""

    title: str
    log: bool = False
    whole: bool = False
    unit: str = ""
    from_zero: bool = True


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """Values of one build or kind; `color` is its place in the palette.

    `texts` are lines for the pointer, `keys` what each point stands for, `sizes` how much it weighs.
    """

    name: str
    color: int
    x: list[float]
    y: list[float | None]
    texts: list[str] = []
    keys: list[str] = []
    sizes: list[float] = []


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A line across the chart at a value that means something, such as a lower bound."""

    axis: Literal["x", "y"]
    at: float
    label: str


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A moment at which something happened."""

    at: float
    kind: str
    label: str


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of time in which something lasted, such as a cut of the network."""

    start: float
    end: float
    kind: str
    label: str


class _PlotChart(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What all charts with two axes have."""

    key: str
    title: str
    about: str
    x: Axis
    y: Axis
    series: list[Series]
    link: Link = ""
    rules: list[Rule] = []


class LineChart(_PlotChart, frozen=True, kw_only=True, tag="lines"):
    """Lines over a common axis; `step` where a value holds since the one before or until the next."""

    step: Literal["", "before", "after"] = ""
    marks: list[Mark] = []
    bands: list[Band] = []
    timed: bool = False  # a replay of the drawing is marked here
    height: int = 300


class DotChart(_PlotChart, frozen=True, kw_only=True, tag="dots"):
    """Dots; `named` ones have their name beside them."""

    named: bool = False
    height: int = 320


class Part(msgspec.Struct, frozen=True):
    """A share of a bar."""

    name: str
    value: float


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """One bar, laid out of its parts; `limit` is a line that it should not cross."""

    label: str
    parts: list[Part]
    limit: float | None = None
    key: str = ""


class BarChart(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="bars"):
    """Bars beneath each other."""

    key: str
    title: str
    about: str
    x: Axis
    bars: list[Bar]
    names: list[str]  # of the parts, in the order of the palette
    link: Link = ""


Chart: TypeAlias = LineChart | DotChart | BarChart


class Column(msgspec.Struct, frozen=True):
    """A column of a table; numbers stand at the right and are sorted as numbers."""

    title: str
    number: bool = False


class Row(msgspec.Struct, frozen=True):
    """A row as it is shown; `order` has the values that numbers are sorted by."""

    cells: list[str]
    order: list[float | None] = []
    key: str = ""


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table that can be sorted and searched; a `link` makes its rows a choice."""

    key: str
    title: str
    columns: list[Column]
    rows: list[Row]
    note: str = ""
    link: Link = ""


class Command(msgspec.Struct, frozen=True):
    """A command and what it is for."""

    about: str
    line: str


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """One section of the page. `lead` is what a hasty reader should take away from it."""

    title: str
    lead: str = ""
    figures: list[Figure] = []
    notes: list[str] = []
    charts: Sequence[Chart] = ()
    tables: list[Table] = []
    commands: list[Command] = []
    drawing: bool = False
