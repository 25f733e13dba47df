"""How many neighbors nodes have: maximum, average, percentiles, histogram."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Longs
from topicloom.base.summaries import Figures
from topicloom.overlay.measures.measure import Figure, Measure, OverlayView

PERCENTILES = (50, 90, 99)


def measure_degree(view: OverlayView) -> Figures:
    """Measure the degrees of nodes; their average is 2 x edges / nodes."""
    degrees = view.overlay.degrees()
    return {
        "degree_max": int(degrees.max(initial=0)),
        "degree_avg": 2 * view.overlay.n_edges / max(view.overlay.n_nodes, 1),
        "degree_percentiles": {name: int(value) for name, value in percentiles(degrees).items()},
        "degree_histogram": degree_histogram(degrees),
    }


def percentiles(values: NDArray[Any]) -> dict[str, float]:
    """Return the smallest value and the usual percentiles, each a value that some node really has.

    >>> percentiles(np.array([1, 1, 2, 9]))
    {'min': 1.0, '50': 1.0, '90': 9.0, '99': 9.0}
    """
    if len(values) == 0:
        values = np.zeros(1)
    found = np.percentile(values, PERCENTILES, method="inverted_cdf").tolist()
    return {"min": float(values.min())} | {
        str(p): float(value) for p, value in zip(PERCENTILES, found, strict=True)
    }


def degree_histogram(degrees: Longs) -> dict[str, int]:
    """Return how many nodes have each degree; degrees nobody has are left out."""
    counts = np.bincount(degrees)
    return {str(degree): int(counts[degree]) for degree in np.flatnonzero(counts)}


DEGREE = Measure(
    function=measure_degree,
    figures=(
        Figure("degree_avg", "degree, average", ".2f"),
        Figure("degree_max", "degree, maximum"),
        Figure("degree_percentiles", "degree of 50% / 90% / 99% up to", "percentiles"),
        Figure("degree_histogram"),
    ),
    aim="how many neighbors nodes have",
    complexity="linear in edges",
)
