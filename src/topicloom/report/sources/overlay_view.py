"""What a report measures of an overlay beyond its summary: per node, per edge and per topic.

Hops are counted from at most SOURCES subscribers of each topic, taken at equal distances in the order of
their names: the same ones on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicloom.base.arrays import Floats, Longs
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.overlay.measures.diameter import topic_diameter_bounds
from topicloom.overlay.measures.load import node_loads, topic_rates
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

SOURCES = 24
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
    hops: Longs  # hops[d]: pairs of subscribers of a topic at distance d, from the sources looked at
    hops_exact: bool

    @property
    def hops_avg(self) -> float | None:
        """Return the mean distance of two subscribers of the same topic; None if there are no two."""
        pairs = int(self.hops[1:].sum())
        return float((self.hops * np.arange(len(self.hops))).sum() / pairs) if pairs else None


def measure_for_report(
    interest: Interest, overlay: Overlay, *, progress: Progress = SILENT
) -> OverlayFigures:
    """Measure what the sections show."""
    view = view_of(interest, overlay, progress=progress)
    rates = topic_rates(interest)
    lower, upper = topic_diameter_bounds(view)
    hops, exact = count_hops(interest, overlay, progress=progress)
    return OverlayFigures(
        degrees=overlay.degrees(),
        loads=node_loads(view, rates),
        load_unit="topics" if rates is None else "messages",
        topic_edges=count_topic_edges(interest, overlay),
        topic_diameters=upper,
        diameters_exact=bool((lower == upper).all()),
        hops=hops,
        hops_exact=exact,
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


def count_hops(interest: Interest, overlay: Overlay, *, progress: Progress = SILENT) -> tuple[Longs, bool]:
    """Return how many pairs of subscribers are so many hops apart within their topic, and if all were seen.

    >>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("c", "x")])
    >>> count_hops(interest, Overlay.from_edges(interest.node_ids, [0, 1], [1, 2]))[0].tolist()
    [0, 4, 2]
    """
    starts, neighbors = overlay.adjacency()
    near = _matrix(starts, neighbors, overlay.n_nodes)
    total, exact = np.zeros(1, dtype=np.int64), True
    progress.phase("hops", float(interest.n_topics))
    for topic in range(interest.n_topics):
        check_stop(progress)
        members = interest.nodes_of(topic)
        if len(members) > 1:
            exact = exact and len(members) <= SOURCES
            found = _hops_within(near[members][:, members])
            total = np.pad(total, (0, max(0, len(found) - len(total))))
            total[: len(found)] += found
        progress.advance()
    return total, exact


def _hops_within(near: Any) -> Longs:
    """Count distances from the sources, all of them one step further at a time."""
    n = near.shape[0]
    sources = np.unique(np.linspace(0, n - 1, min(n, SOURCES)).astype(np.int64))
    front = np.zeros((n, len(sources)), dtype=np.float32)
    front[sources, np.arange(len(sources))] = 1
    seen = front > 0
    counts = [0]
    while True:
        reached = ((near @ front) > 0) & ~seen
        count = int(np.count_nonzero(reached))
        if not count:
            return np.array(counts, dtype=np.int64)
        counts.append(count)
        seen |= reached
        front = reached.astype(np.float32)


def _matrix(starts: Longs, columns: NDArray[Any], width: int) -> Any:
    ones = np.ones(len(columns), dtype=np.float32)
    return csr_array((ones, columns, starts), shape=(len(starts) - 1, width))
