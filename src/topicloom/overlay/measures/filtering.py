"""What it costs that a topic is not connected: nodes that must carry messages they do not want.

The filtering cost of a topic [Chockler2007a, 9] is the number of nodes not interested in it in a
Steiner tree of the overlay over the nodes that are. 0 exactly where the topic is connected; otherwise an
upper bound by the heuristic of `kernels/steiner.py`, since the exact number is NP-hard to find.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.summaries import Figures
from topicloom.overlay.kernels.steiner import filtering_costs
from topicloom.overlay.measures.components import overlay_parts, topic_components
from topicloom.overlay.measures.view import View, for_topics


def measure_filtering(view: View) -> Figures:
    """`filtering_cost` over all topics that can be joined, `filtering_unreachable` the number that cannot."""
    costs = topic_filtering_costs(view)
    return {
        "filtering_cost": int(costs[costs > 0].sum()),
        "filtering_cost_max": int(costs.max(initial=0)),
        "filtering_unreachable": int(np.count_nonzero(costs < 0)),
    }


def topic_filtering_costs(view: View) -> Longs:
    """The cost of each topic; -1 where the overlay does not join its subscribers at all."""
    parts = overlay_parts(view)
    costs = np.zeros(view.interest.n_topics, dtype=np.int64)

    def work(topics: Ints) -> None:
        filtering_costs(topics, view.topic_ptr, view.topic_nodes, view.pointers, view.neighbors, parts, costs)

    # A connected topic costs nothing, and most are: only the others are looked at.
    partitioned = np.flatnonzero(topic_components(view) > 1)
    for_topics(
        view, "filtering cost", work, view.interest.topic_sizes().astype(np.float64) + 1.0, partitioned
    )
    return costs
