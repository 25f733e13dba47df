"""The points of a figure: means over the seeds with their intervals, and what the paper prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from topicloom.experiments.model import Figure
from topicloom.experiments.run import Outcome
from topicloom.overlay.jobs.compare_drawn import interval


@dataclass(frozen=True, slots=True)
class Point:
    """A mark in a figure."""

    line: str
    x: float
    y: float
    low: float
    high: float
    ours: bool = False
    printed: bool = False


def figure_points(outcome: Outcome, figure: Figure) -> list[Point]:
    """Return what a figure shows: first the lines of the paper, then ours, then printed numbers."""
    found = []
    for run in sorted(outcome.runs, key=lambda run: run.ours):
        if figure.lines and run.line not in figure.lines:
            continue
        values = [sample.found[run.line, run.x].get(figure.key) for sample in outcome.samples]
        known = [value for value in values if value is not None]
        if known:
            mean = interval(known)
            found.append(Point(run.line, run.x, mean.mean, mean.low, mean.high, run.ours))
    for line, points in figure.printed.items():
        found += [Point(line, x, y, y, y, printed=True) for x, y in points.items()]
    return found


def drawn_figures(outcome: Outcome) -> list[tuple[Figure, Sequence[Point]]]:
    """Return all figures of an experiment with their points."""
    return [(figure, figure_points(outcome, figure)) for figure in outcome.experiment.figures]
