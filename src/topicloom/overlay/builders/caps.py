"""Caps on the degree for `balanced`: what a node needs in any case, and which caps are tried in turn."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.overlay.model.interest import Interest

SINGLE_STEPS = 4  # upwards before steps get wider
MOST_HUBS = 500  # nodes whose needs are looked at


def known_needs(interest: Interest, nodes: Longs) -> Ints:
    """For some of `nodes`, those with the most topics, how many neighbors they need at least; 0 for others.

    Nobody covers more of a node's topics than its largest overlap. Topics without another subscriber need
    nobody.
    """
    needs = np.zeros(interest.n_nodes, np.int32)
    order = nodes[np.lexsort((nodes, -interest.subscription_sizes()[nodes]))]
    for node in order[:MOST_HUBS].tolist():
        others = [interest.nodes_of(topic) for topic in interest.topics_of(node).tolist()]
        shared = [subscribers for subscribers in others if len(subscribers) > 1]
        counts = np.bincount(np.concatenate([np.full(1, node), *shared]), minlength=interest.n_nodes)
        counts[node] = 0
        needs[node] = -(-len(shared) // max(int(counts.max()), 1))
    return needs


def rising(limit: int, highest: int) -> Iterator[int]:
    """Higher limits up to `highest`: by one for a while, then in doubling steps.

    >>> list(rising(5, 30))
    [6, 7, 8, 9, 11, 15, 23, 30]
    """
    step = 1
    for number in count(1):
        if limit >= highest:
            return
        step = step if number <= SINGLE_STEPS else 2 * step
        limit = min(limit + step, highest)
        yield limit
