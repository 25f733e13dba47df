"""Into how many components each topic's subscribers fall, and the overlay as a whole."""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.summaries import Figures
from topicloom.overlay.kernels.induced import count_topic_components
from topicloom.overlay.measures.view import View, for_topics


def measure_components(view: View) -> Figures:
    """`topic_components` (summed over topics), `topics_partitioned`, `topic_connected`."""
    counts = topic_components(view)
    partitioned = int(np.count_nonzero(counts > 1))
    return {
        # A topic nobody wants has nothing to fall apart: it counts 1, as one with a single subscriber.
        "topic_components": int(np.maximum(counts, 1).sum()),
        "topics_partitioned": partitioned,
        "topic_connected": partitioned == 0,
    }


def topic_components(view: View) -> Longs:
    """The number of components of each topic; 0 for a topic without subscribers."""
    counts = np.zeros(view.interest.n_topics, dtype=np.int64)

    def work(topics: Ints) -> None:
        count_topic_components(
            topics, view.topic_ptr, view.topic_nodes, view.pointers, view.neighbors, counts
        )

    for_topics(view, "topic components", work, view.interest.topic_sizes().astype(np.float64) + 1.0)
    return counts


def overlay_parts(view: View) -> Ints:
    """For each node, the number of the overlay's component it is in."""
    from scipy.sparse.csgraph import connected_components

    if view.overlay.n_nodes == 0:
        return np.empty(0, dtype=np.int32)
    labels: Ints = connected_components(view.overlay.to_scipy(), directed=False)[1]
    return labels
