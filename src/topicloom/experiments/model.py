"""What an experiment is: a grid of runs, what the paper says of them, and how they are drawn. Values only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from topicloom.experiments.expect import Expected

PAPERS = {
    "chockler2007a": "Chockler2007a",
    "chen2010": "Chen2010",
    "onus2016": "Onus2016",
    "chockler2007b": "Chockler2007b",
    "zhao2011": "Zhao2011",
}
"""Papers by the names of their folders, in the order of the page; docs/papers.md has their titles."""

Settings: TypeAlias = Mapping[str, Any]
Figures: TypeAlias = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of an experiment is run: where on its axis, and how often. `ours`: where our own are run."""

    xs: tuple[float, ...]
    seeds: int
    ours: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """A point of a line: a task with its settings, repeated with every seed."""

    line: str
    x: float
    task: str
    settings: Settings
    ours: bool = False  # not of the paper: what topicloom reaches on the same workload


@dataclass(frozen=True, slots=True)
class Sample:
    """What one seed gave, by line and place."""

    found: Mapping[tuple[str, float], Figures]

    def __call__(self, line: str, x: float, key: str = "degree_avg") -> float:
        return self.found[line, x][key]

    def xs(self, *lines: str) -> list[float]:
        """Return where all these lines have a point, in order; a KeyError where there is no such place."""
        places = [{x for name, x in self.found if name == line} for line in lines]
        common = sorted(set.intersection(*places))
        if not common:
            raise KeyError(lines)
        return common

    def line(self, name: str, key: str = "degree_avg") -> list[float]:
        """Return the values of a line, in the order of their places."""
        return [self(name, x, key) for x in self.xs(name)]

    def ratios(self, above: str, below: str, key: str = "degree_avg") -> list[float]:
        """Return one line over another, place by place."""
        return [self(above, x, key) / self(below, x, key) for x in self.xs(above, below)]

    def gaps(self, above: str, below: str, key: str = "degree_avg") -> list[float]:
        """Return one line minus another, place by place."""
        return [self(above, x, key) - self(below, x, key) for x in self.xs(above, below)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a paper says, how we see whether it is so, and what is known if it is not.

    `measure` gives our number for one seed; a KeyError means that the scale has not what it needs. `cannot`
    is the reason why no correct program can give the printed number, `differs` what we know of another one.
    """

    text: str
    expected: Expected
    measure: Callable[[Sample], float]
    cannot: str = ""
    differs: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A drawing in the paper's axes: one figure of every run, line by line, and the printed points."""

    y: str
    key: str = "degree_avg"
    lines: tuple[str, ...] = ()  # empty: all that have the figure
    printed: Mapping[str, Mapping[float, float]] = field(default_factory=dict)
    log: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A table or figure of a paper; `x` names its axis, `why` what is particular about our runs of it."""

    item: str
    title: str
    x: str
    runs: Callable[[Scale], Iterable[Run]]
    quick: Scale
    full: Scale
    claims: Sequence[Claim]
    figures: Sequence[Figure] = ()
    why: str = ""

    def scale(self, full: bool) -> Scale:
        return self.full if full else self.quick


def worst(values: Iterable[float]) -> float:
    """Return the largest value: what "at most" is about."""
    return max(values)


def mean(values: Iterable[float]) -> float:
    """Return the average: what "on average" is about."""
    found = list(values)
    return sum(found) / len(found)


def rises(values: Sequence[float]) -> float:
    """Return the last value over the first: above 1 where a line rises from one end to the other.

    >>> rises([2.0, 5.0, 3.0])
    1.5
    """
    return values[-1] / values[0]
