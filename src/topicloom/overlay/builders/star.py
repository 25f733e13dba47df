"""A star per topic: the smallest overlay anybody would draw by hand, for comparison.

Guarantee: each topic's subgraph has diameter at most 2.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def build_star(
    interest: Interest, *, seed: int = 0, threads: int | None = None, progress: Progress = SILENT
) -> Build:
    """Each topic's smallest subscriber (by identifier) is linked to all others of the topic.

    The same few nodes are the smallest of many topics, so stars share many edges, and those few nodes get
    nearly everybody as a neighbor: what a central broker would be. The seed is not used.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"] + [("b", "y"), ("c", "y")])
    >>> build_star(interest).overlay.to_pandas().values.tolist()
    [['a', 'b'], ['a', 'c'], ['a', 'd'], ['b', 'c']]
    """
    watch = Stopwatch(progress)
    with watch.phase("draw stars", interest.n_topics):
        sizes = interest.topic_sizes()
        centre = interest.topic_nodes[interest.topic_ptr[:-1][sizes > 0]]
        u, v = np.repeat(centre, sizes[sizes > 0]), interest.topic_nodes
        overlay = Overlay.from_edges(interest.node_ids, u[u != v], v[u != v])
        progress.advance(interest.n_topics)
    return Build(overlay, "star", seed=seed, seconds=watch.seconds)
