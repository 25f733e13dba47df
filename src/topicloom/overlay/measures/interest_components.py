"""Components of an interest: they share no topic, so no overlay needs an edge between two of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Longs, component_labels
from topicloom.overlay.model.interest import Interest


@dataclass(frozen=True, slots=True, eq=False)
class InterestComponents:
    """Which component each node is in, and how many nodes each component has."""

    of_node: Longs
    sizes: Longs

    @property
    def count(self) -> int:
        return len(self.sizes)

    def total(self, figures: Longs) -> Longs:
        """Sum one figure per node over each component; exact."""
        sums = np.zeros(self.count, np.int64)
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
