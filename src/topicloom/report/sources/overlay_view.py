"""What a report measures of an overlay beyond its summary: per node, per edge and per topic.

Hops are those of `topicloom measure`, and so are their means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicloom.base.arrays import Floats, Longs
from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.measures.diameter import topic_diameter_bounds
from topicloom.overlay.measures.hops import EXACT_SUBSCRIBERS, hop_weights, mean_hops
from topicloom.overlay.measures.load import node_loads, topic_rates
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.measures.splits import topic_splits
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

CHUNK = 50_000  # edges whose topics are counted at once


@dataclass(frozen=True, slots=True, eq=False)
class OverlayFigures:
    """Arrays by node or topic number. A diameter of -1 stands for a split topic."""

    degrees: Longs
    loads: Floats
    load_unit: str
    topic_edges: Longs
    topic_diameters: Longs
    diameters_exact: bool
    hops: Floats  # hops[d]: pairs of subscribers of a topic at distance d
    hops_exact: bool
    splits: Longs  # by node: the topics that its death splits
    bridges: Longs  # by topic: the edges without any one of which it splits

    @property
    def splits_avg(self) -> float:
        """Return how many topics the death of a node splits, on average."""
        return float(self.splits.mean()) if len(self.splits) else 0.0

    @property
    def hops_avg(self) -> float | None:
        """Return the mean distance of two subscribers of the same topic; None if there are no two."""
        return mean_hops(self.hops)


def measure_for_report(
    interest: Interest, overlay: Overlay, *, progress: Progress = SILENT
) -> OverlayFigures:
    """Measure what the sections show."""
    view = view_of(interest, overlay, progress=progress)
    rates = topic_rates(interest)
    lower, upper = topic_diameter_bounds(view)
    splits, bridges = topic_splits(view)
    return OverlayFigures(
        degrees=overlay.degrees(),
        loads=node_loads(view, rates),
        load_unit="topics" if rates is None else "messages",
        topic_edges=count_topic_edges(interest, overlay),
        topic_diameters=upper,
        diameters_exact=bool((lower == upper).all()),
        hops=np.trim_zeros(hop_weights(view), "b"),
        hops_exact=int(interest.topic_sizes().max(initial=0)) <= EXACT_SUBSCRIBERS,
        splits=splits,
        bridges=bridges,
    )


def count_topic_edges(interest: Interest, overlay: Overlay) -> Longs:
    """Return for each topic how many edges carry it: both ends want it."""
    wants = _matrix(interest.node_ptr, interest.node_topics, interest.n_topics)
    found = np.zeros(interest.n_topics, dtype=np.int64)
    for start in range(0, overlay.n_edges, CHUNK):
        part = slice(start, start + CHUNK)
        shared = wants[overlay.u[part]].multiply(wants[overlay.v[part]])
        found += np.asarray(shared.sum(axis=0)).ravel().astype(np.int64)
    return found


def _matrix(starts: Longs, columns: NDArray[Any], width: int) -> Any:
    ones = np.ones(len(columns), dtype=np.float32)
    return csr_array((ones, columns, starts), shape=(len(starts) - 1, width))
