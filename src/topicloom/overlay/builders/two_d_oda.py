"""2D-ODA, one star per topic with many shared edges [Onus2016, 6.3, Algorithm 2].

Guarantee: each topic's subgraph has diameter at most 2 [Onus2016, Lemma 7].
"""

from __future__ import annotations

import numpy as np

from topicloom.base.progress import SILENT, Progress, Stopwatch, check_stop
from topicloom.overlay.kernels.densest_stars import add_star, new_stars
from topicloom.overlay.kernels.hubs import largest_quotient
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def build_2d_oda(
    interest: Interest, *, seed: int = 0, threads: int | None = None, progress: Progress = SILENT
) -> Build:
    """Add the star of the node and topic of the largest topic density until every topic has its star.

    The density of a node for one of its topics: the subscribers of all its topics that have no star yet,
    summed, by those subscribers of the topic that it has no edge to. Both counts include the node itself.
    Ties go to the smallest node, then the smallest topic. The seed is not used, nor are threads.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"] + [("b", "y"), ("c", "y")])
    >>> build_2d_oda(interest).overlay.to_pandas().values.tolist()
    [['a', 'b'], ['b', 'c'], ['b', 'd']]
    """
    watch = Stopwatch(progress)
    with watch.phase("place stars", interest.n_topics):
        stars = new_stars(interest)
        lists = interest.sealed_lists()
        linked = np.full(interest.n_nodes, -1, np.int32)
        while (hub := largest_quotient(stars.weight, stars.least)) >= 0:
            check_stop(progress)
            add_star(stars, hub, lists, linked)
            progress.advance()
        n = int(stars.length[0])
        overlay = Overlay.from_edges(interest.node_ids, stars.u[:n], stars.v[:n])
    return Build(overlay, "2d-oda", seed=seed, seconds=watch.seconds)
