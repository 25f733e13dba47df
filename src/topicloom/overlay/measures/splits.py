"""What one death breaks: the topics that a node, or an edge, splits when it goes.

A node splits a topic that it wants if without it the other subscribers lie in more components than before.
So a topic that is split already counts where a death splits it further, and the death of a subscriber that
lies alone or at the end of a path splits nothing. An edge is a bridge of a topic if the same holds for it.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Bools, Ints, Longs
from topicloom.base.summaries import Figures
from topicloom.overlay.kernels.topic_cuts import find_topic_cuts
from topicloom.overlay.measures.measure import Figure, Measure, OverlayView, for_topics


def measure_splits(view: OverlayView) -> Figures:
    """Measure how many topics the death of a node splits, and count the bridges of all topics.

    The death of b takes a from c and d, who want x too. Bridges: a-b in x, c-d in y.

    >>> from topicloom.overlay.measures.measure import view_of
    >>> from topicloom.overlay.model.interest import Interest
    >>> from topicloom.overlay.model.overlay import Overlay
    >>> interest = Interest.from_pairs(
    ...     [("a", "x"), ("b", "x"), ("c", "x"), ("d", "x"), ("c", "y"), ("d", "y")]
    ... )
    >>> overlay = Overlay.from_edges(interest.node_ids, [0, 1, 1, 2], [1, 2, 3, 3])
    >>> measure_splits(view_of(interest, overlay))
    {'splits_avg': 0.25, 'splits_max': 1, 'bridges': 2}
    """
    splits, bridges = topic_splits(view)
    return {
        "splits_avg": float(splits.mean()) if len(splits) else 0.0,
        "splits_max": int(splits.max(initial=0)),
        "bridges": int(bridges.sum()),
    }


def topic_splits(view: OverlayView) -> tuple[Longs, Longs]:
    """Return the number of topics that each node splits, and the number of bridges of each topic."""
    pointers, nodes = view.topic_lists
    cuts: Bools = np.zeros(len(nodes), np.bool_)
    bridges: Longs = np.zeros(view.interest.n_topics, np.int64)

    def work(topics: Ints) -> None:
        find_topic_cuts(topics, pointers, nodes, *view.adjacency, cuts, bridges)

    for_topics(view, "splits", work, (view.interest.topic_sizes() + 1).astype(np.float64))
    splits: Longs = np.bincount(nodes[cuts], minlength=view.interest.n_nodes).astype(np.int64)
    return splits, bridges


SPLITS = Measure(
    function=measure_splits,
    figures=(
        Figure("splits_avg", "topics split by a node's death, mean", ".2f"),
        Figure("splits_max", "topics split by a node's death, most"),
        Figure("bridges", "bridges of topics"),
    ),
    aim="topics that the death of one node splits, and (topic, edge) pairs where the loss of the edge does",
    complexity="linear in subscriptions x degree",
)
