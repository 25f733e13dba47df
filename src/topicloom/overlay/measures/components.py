"""Components: of an interest, of each topic's subscribers, and what it costs to join these.

The components of an interest share no topic, so no overlay needs an edge between two of them.

The filtering cost of a topic [Chockler2007a, 9] is the number of nodes not interested in it in a Steiner
tree of the overlay over the nodes that are. It is 0 exactly where the topic is connected; otherwise an upper
bound by the heuristic of `kernels/steiner.py`, since the exact number is NP-hard to find.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Ints, Longs, component_labels
from topicloom.base.summaries import Figures
from topicloom.overlay.kernels.steiner import filtering_costs
from topicloom.overlay.measures.connectivity import topic_components
from topicloom.overlay.measures.measure import Figure, Measure, OverlayView, for_topics
from topicloom.overlay.model.interest import Interest


@dataclass(frozen=True, slots=True, eq=False)
class InterestComponents:
    """Which component each node is in, and how many nodes each component has."""

    of_node: Longs
    sizes: Longs

    def total(self, figures: Longs) -> Longs:
        """Sum one figure per node over each component; exact."""
        sums = np.zeros(len(self.sizes), np.int64)
        np.add.at(sums, self.of_node, figures)
        return sums


def find_components(interest: Interest) -> InterestComponents:
    """Return the components; nodes that share a topic are in one, a node without topics has its own.

    >>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("c", "y")])
    >>> find_components(interest).sizes.tolist()
    [2, 1]
    """
    n_nodes = interest.n_nodes
    labels = component_labels(
        n_nodes + interest.n_topics, interest.pair_nodes(), interest.node_topics + n_nodes
    )
    of_node = np.unique(labels[:n_nodes], return_inverse=True)[1].astype(np.int64)
    return InterestComponents(of_node, np.bincount(of_node))


def measure_components(view: OverlayView) -> Figures:
    """Measure how many components topics have and how many topics are split."""
    view.progress.phase("topic components", view.overlay.n_edges)
    counts = topic_components(view.interest, view.overlay, progress=view.progress)
    view.progress.advance(view.overlay.n_edges)
    split = int(np.count_nonzero(counts > 1))
    return {
        # A topic nobody wants cannot be split: it counts 1, as one with a single subscriber.
        "topic_components": int(np.maximum(counts, 1).sum()),
        "topics_partitioned": split,
        "topic_connected": split == 0,
    }


def measure_filtering(view: OverlayView) -> Figures:
    """Measure the filtering cost of the topics that can be joined, and count those that cannot."""
    costs = topic_filtering_costs(view)
    return {
        "filtering_cost": int(costs[costs > 0].sum()),
        "filtering_cost_max": int(costs.max(initial=0)),
        "filtering_unreachable": int(np.count_nonzero(costs < 0)),
    }


def topic_filtering_costs(view: OverlayView) -> Longs:
    """Return the cost of each topic; -1 where the overlay does not join its subscribers at all."""
    component = component_labels(view.overlay.n_nodes, view.overlay.u, view.overlay.v)
    costs = np.zeros(view.interest.n_topics, dtype=np.int64)

    def work(topics: Ints) -> None:
        filtering_costs(topics, *view.topic_lists, *view.adjacency, component, costs)

    # A connected topic costs nothing, and most are: only the others are looked at.
    split = np.flatnonzero(topic_components(view.interest, view.overlay, progress=view.progress) > 1)
    for_topics(view, "filtering cost", work, (view.interest.topic_sizes() + 1).astype(np.float64), split)
    return costs


COMPONENTS = Measure(
    function=measure_components,
    figures=(
        Figure("topic_connected", "topic-connected", "yes/no"),
        Figure("topics_partitioned", "split topics"),
        Figure("topic_components", "topic components"),
    ),
    aim="into how many components each topic's subscribers fall",
    complexity="linear in subscriptions x degree",
)

FILTERING = Measure(
    function=measure_filtering,
    figures=(
        Figure("filtering_cost", "filtering cost", unit="uninterested nodes crossed"),
        Figure("filtering_cost_max"),
        Figure("filtering_unreachable"),
    ),
    aim="nodes not interested that must carry a topic to join its subscribers; 0 when connected",
    complexity="linear in edges per split topic",
)
