"""CD-ODA, CD-ODA-I, CD-ODA-II and 2D-ODA: topics of diameter 2 around hubs [Onus2016, 6].

Guarantee: each topic's subgraph has diameter at most 2. 2D-ODA [Onus2016, 6.3, Algorithm 2, Lemma 7] adds one
star per topic, with many shared edges. In the others [Onus2016, 6.1] a hub is linked to everybody who shares
an open topic with it, so each of these topics gets a star, and they are closed. They differ in how the next
hub is found. With N(u) the nodes that share an open topic with u (u among them) and w(u) the subscribers of
the open topics of u, summed, the next hub has the largest

    CD-ODA      |N(u)|
    CD-ODA-I    w(u)
    CD-ODA-II   w(u) / |N(u)|       compared exactly, as fractions

Ties go to the smallest node.

>>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")])
>>> build_cd_oda(interest).overlay.to_pandas().values.tolist()
[['a', 'b'], ['b', 'c']]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topicloom.base.arrays import Ints, Longs, sealed
from topicloom.base.kernels.parallel import cut_by_work, default_threads, for_bounds
from topicloom.base.progress import SILENT, Progress, Stopwatch, check_stop
from topicloom.overlay.builders.build_progress import GreedyProgress
from topicloom.overlay.kernels.hubs import (
    add_star,
    count_neighbors,
    counting_work,
    largest_quotient,
    new_stars,
    topic_sets,
)
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

SLICE_WORK = 1e8  # words that one call reads before the user may stop us: a fraction of a second


def _builder(algorithm: str) -> Callable[..., Build]:
    def build(
        interest: Interest, *, seed: int = 0, threads: int | None = None, progress: Progress = SILENT
    ) -> Build:
        """Link hubs, chosen by the rule of this builder. The seed is not used: ties are fixed."""
        watch = Stopwatch(progress)
        with watch.phase("link hubs", 1.0):
            hubs = _Hubs(interest, algorithm, threads or default_threads(), progress)
            stars = []
            while (hub := int(largest_quotient(hubs.above, hubs.below))) >= 0:
                check_stop(progress)
                stars.append((hub, hubs.close(hub)))
            u = np.repeat([hub for hub, _ in stars], [len(others) for _, others in stars])
            v = np.concatenate([np.zeros(0, np.int32), *(others for _, others in stars)])
            overlay = Overlay.from_edges(interest.node_ids, u, v)
        used = sum(len(others) > 0 for _, others in stars)
        return Build(overlay, algorithm, seed=seed, seconds=watch.seconds, report={"hubs": used})

    return build


build_cd_oda, build_cd_oda_i, build_cd_oda_ii = map(_builder, ("cd-oda", "cd-oda-i", "cd-oda-ii"))


class _Hubs:
    """Both counts of every node, kept up to date while topics are closed."""

    def __init__(self, interest: Interest, algorithm: str, threads: int, progress: Progress) -> None:
        self.interest = interest
        self.threads = threads
        # Counting again costs the less the fewer topics are open, so the time goes with the square of those.
        self.progress = GreedyProgress(progress, interest.n_subscriptions, scan_share=0.1, bend=0.5)
        self.progress.rows = max(interest.n_nodes, 1)
        self.sets = topic_sets(interest)
        self.sizes = interest.topic_sizes()
        sizes = self.sizes[interest.node_topics].astype(np.float64)
        sums = np.bincount(interest.pair_nodes(), weights=sizes, minlength=interest.n_nodes)
        self.weight: Longs = sums.astype(np.int64)
        self.neighbors: Longs = np.zeros(interest.n_nodes, np.int64)
        self.work = counting_work(interest)
        ones = np.ones(interest.n_nodes, np.int64)
        self.counted = algorithm != "cd-oda-i"
        self.above = self.neighbors if algorithm == "cd-oda" else self.weight
        self.below = self.neighbors if algorithm == "cd-oda-ii" else ones
        self._count(np.arange(interest.n_nodes, dtype=np.int32))

    def close(self, hub: int) -> Ints:
        """Close the open topics of `hub`; gives the nodes to link it to."""
        interest = self.interest
        own = interest.topics_of(hub)
        own = own[self.sets.is_open[own]]
        members = np.zeros(interest.n_nodes, np.bool_)
        for topic in own.tolist():
            nodes = interest.nodes_of(topic)
            members[nodes] = True
            self.weight[nodes] -= self.sizes[topic]
            self.progress.joined(len(nodes))
        self.sets.is_open[own] = False
        touched = np.flatnonzero(members).astype(np.int32)
        self._count(touched)
        others: Ints = touched[touched != hub]
        return others

    def _count(self, nodes: Ints) -> None:
        """Count the neighbors of `nodes` anew, on all threads."""
        if not self.counted:
            return

        def count(first: int, last: int) -> None:
            count_neighbors(self.sets, sealed(nodes[first:last]), False, self.neighbors)

        bounds = cut_by_work(self.work[nodes], most=SLICE_WORK, slices=4 * self.threads)
        for_bounds(count, bounds, threads=self.threads, progress=self.progress)


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
