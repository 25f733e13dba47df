"""How many topics travel along an edge: those that both of its ends want."""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Floats, Longs, sealed
from topicloom.base.kernels.parallel import for_slices
from topicloom.base.summaries import Figures
from topicloom.overlay.kernels.shared import shared_along_edges
from topicloom.overlay.measures.degree import percentiles
from topicloom.overlay.measures.view import View

SLICE = 50_000


def measure_topics_per_edge(view: View) -> Figures:
    """`topics_per_edge_avg`, its maximum and percentiles; 0 for an edge that no topic can use."""
    counts, _ = topics_along_edges(view, np.ones(view.interest.n_topics))
    return {
        "edges": view.overlay.n_edges,
        "topics_per_edge_avg": float(counts.mean()) if len(counts) else 0.0,
        "topics_per_edge_max": int(counts.max(initial=0)),
        "topics_per_edge_percentiles": {name: int(value) for name, value in percentiles(counts).items()},
        "edges_unused": int(np.count_nonzero(counts == 0)),
    }


def topics_along_edges(view: View, weights: Floats) -> tuple[Longs, Floats]:
    """For each edge: how many topics its ends share, and the sum of those topics' weights."""
    u, v = sealed(view.overlay.u), sealed(view.overlay.v)
    counts, carried = np.zeros(len(u), dtype=np.int64), np.zeros(len(u))
    weights = sealed(weights.astype(np.float64))

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        shared_along_edges(
            u[part], v[part], view.node_ptr, view.node_topics, weights, counts[part], carried[part]
        )

    view.progress.phase("topics per edge", len(u))
    for_slices(work, len(u), slice_size=SLICE, threads=view.threads, progress=view.progress)
    return counts, carried
