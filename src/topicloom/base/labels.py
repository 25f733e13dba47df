"""Labels beside dots: placed so that they cover neither each other nor a dot and stand nearest to their own.

Geometry alone, in pixels from the upper left corner; charts.py draws.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

FONT = 13
LINE = 1.15 * FONT
# Widths of letters in the font's size, about: `i`, `m`, and most others.
NARROW, WIDE, LETTER = 0.3, 0.85, 0.55
DOT = 6.0
ON_ONE_ANOTHER = 2 * DOT  # dots nearer than this share a label: one line for each
DISTANCES = (11.0, 16.0, 22.0, 32.0, 46.0, 62.0, 80.0, 100.0, 130.0)
LEADER = 24.0  # a label further away than this gets a thin line to its dot
Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on the canvas, in pixels from its upper left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Do they overlap?"""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def within(self, other: Box) -> bool:
        """Is it inside the other one?"""
        across = other.left <= self.left and self.right <= other.right
        return across and other.top <= self.top and self.bottom <= other.bottom

    def lines(self, number: int) -> list[Place]:
        """Return where so many lines of text are centred."""
        height = (self.bottom - self.top) / number
        return [((self.left + self.right) / 2, self.top + height * (line + 0.5)) for line in range(number)]

    def nearest(self, place: Place) -> Place:
        """Return the point of the rectangle that is nearest to `place`."""
        return min(max(place[0], self.left), self.right), min(max(place[1], self.top), self.bottom)

    def distance(self, place: Place) -> float:
        """Return the distance from `place` to that point."""
        return math.dist(place, self.nearest(place))


@dataclass(frozen=True, slots=True)
class LogAxis:
    """A logarithmic scale over so many pixels."""

    low: float
    high: float
    pixels: float

    @classmethod
    def over(cls, values: list[float], pixels: float) -> LogAxis:
        """Fit the axis to all values, with some room on both sides."""
        room = max((max(values) / min(values)) ** 0.13, 1.1)
        return cls(min(values) / room, max(values) * room, pixels)

    def at(self, value: float) -> float:
        """Return the pixel of a value."""
        return self.pixels * math.log(value / self.low) / math.log(self.high / self.low)

    def value(self, pixel: float) -> float:
        """Return the value at a pixel."""
        return self.low * math.pow(self.high / self.low, pixel / self.pixels)

    def ticks(self) -> list[float]:
        """Return round numbers; more of them where the scale is short. Between whole ones there are none."""
        steps = (1, 2, 5) if self.high > 20 * self.low else (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)
        found: list[float] = [step / 100 for step in (1, 2, 5, 10, 20, 50) if self.low < 0.7]
        found += [round(step * 10**power) for power in range(8) for step in steps if power or step != 1.5]
        return [step for step in found if self.low <= step <= self.high]


def place_labels(dots: Mapping[str, Place], canvas: Box, others: Collection[Place] = ()) -> dict[str, Box]:
    """Return a box for the name of each dot, the nearest that fits; `others` are dots without a name.

    It covers no dot and no other name. It is not nearer to another dot, or else a line leads to it.
    """
    marks = {(x, y): Box(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in (*dots.values(), *others)}
    placed: dict[str, Box] = {}

    def fits(box: Box, own: Place) -> bool:
        away = [mark for place, mark in marks.items() if place != own] + list(placed.values())
        if box.meets(marks[own]) or any(box.meets(other) for other in away):
            return False
        if box.distance(own) > LEADER:
            return not any(_crosses(own, box.nearest(own), other) for other in away)
        return all(box.distance(own) <= box.distance(place) for place in marks)

    for name, own in dots.items():
        choices = [box for box in _boxes(name, *own, canvas) if box.within(canvas)]
        placed[name] = next((box for box in choices if fits(box, own)), choices[0])
    return placed


def _boxes(name: str, x: float, y: float, canvas: Box) -> Iterator[Box]:
    """Return where a label may stand, best places first: right, left, above, below, then slanted."""
    lines = name.split("\n")
    widths = [
        sum(NARROW if c in "fijlrt-,. " else WIDE if c in "mwMW" else LETTER for c in line) for line in lines
    ]
    half, height = FONT * max(widths) / 2, LINE * len(lines) / 2
    for distance in DISTANCES:
        for across, down in ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1)):
            slant = 0.7 if across and down else 1.0
            middle_x = x + across * (slant * distance + half)
            middle_y = y + down * (slant * distance + height)
            if across == 0:  # above and below it may be moved sideways to stay on the canvas
                middle_x = min(max(middle_x, canvas.left + half), canvas.right - half)
            yield Box(middle_x - half, middle_y - height, middle_x + half, middle_y + height)


def _crosses(start: Place, end: Place, box: Box) -> bool:
    """Does a line run through the box? Looked at in steps finer than a letter."""
    steps = [step / 32 for step in range(33)]
    on_line = [(start[0] + (end[0] - start[0]) * at, start[1] + (end[1] - start[1]) * at) for at in steps]
    return any(box.distance(place) == 0 for place in on_line)


def merge_labels(places: Mapping[str, Place]) -> dict[str, Place]:
    """Merge the labels of dots that lie on one another, one name to a line."""
    names: dict[Place, list[str]] = {}
    for name, place in places.items():
        same = next((known for known in names if math.dist(known, place) < ON_ONE_ANOTHER), place)
        names.setdefault(same, []).append(name)
    return {"\n".join(sharing): place for place, sharing in names.items()}
