"""How many neighbors nodes have: maximum, average, percentiles, histogram."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Longs
from topicloom.base.summaries import Figures
from topicloom.overlay.measures.view import View

PERCENTILES = (50, 90, 99)


def measure_degree(view: View) -> Figures:
    """`degree_max`, `degree_avg` (2 x edges / nodes), `degree_percentiles`, `degree_histogram`."""
    degrees = view.overlay.degrees()
    return {
        "degree_max": int(degrees.max(initial=0)),
        "degree_avg": 2 * view.overlay.n_edges / max(view.overlay.n_nodes, 1),
        "degree_percentiles": {name: int(value) for name, value in percentiles(degrees).items()},
        "degree_histogram": degree_histogram(degrees),
    }


def percentiles(values: NDArray[Any]) -> dict[str, float]:
    """The smallest value and the usual percentiles, each a value that some node really has.

    >>> percentiles(np.array([1, 1, 2, 9]))
    {'min': 1.0, '50': 1.0, '90': 9.0, '99': 9.0}
    """
    if len(values) == 0:
        return {"min": 0.0} | {str(p): 0.0 for p in PERCENTILES}
    found = np.percentile(values, PERCENTILES, method="inverted_cdf")
    return {"min": float(values.min())} | {
        str(p): float(value) for p, value in zip(PERCENTILES, found, strict=True)
    }


def degree_histogram(degrees: Longs) -> dict[str, int]:
    """How many nodes have each degree; degrees nobody has are left out."""
    counts = np.bincount(degrees)
    return {str(degree): int(counts[degree]) for degree in np.flatnonzero(counts)}
