"""A proof that no overlay does with less: prices, and the exact check of what they prove.

Let every subscription (u, t) have a price a[u,t] >= 0, every node a toll b[u] >= 0 and an allowance q[u] > 0,
and let k[u] neighbors be known to be needed by u. Suppose every pair (u, v) that shares a topic keeps

    sum over shared topics t of max(a[u,t], a[v,t])  +  b[u] + b[v]  <=  q[u] + q[v].       (*)

Take any topic-connected overlay, and in each topic a spanning tree of its subscribers, rooted at the one of
the lowest price. Each other subscriber pays its price to the edge towards the root; an edge is paid by one of
its ends per topic, so by at most the larger price. Each node pays its toll to k[u] of its edges. All that is
paid is at most what (*) allows the edges, so

    sum of prices - lowest price of each topic + sum of k[u] b[u]  <=  sum over nodes of q[u] degree(u).

With q = 1/2 the right side is the number of edges; in any case it is at most the maximum degree times the
sum of q. Any prices that pass the check are a proof, however they were found. Prices are multiples of
`UNIT` and sums are taken in integers or exact floats, so the check has no rounding. Topics with one
subscriber demand nothing: their only price is the lowest one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs, run_sums
from topicloom.base.kernels.parallel import cut_by_work, for_bounds
from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.kernels.price_bound import UNIT, Duals, heaviest_pairs
from topicloom.overlay.measures.components import InterestComponents
from topicloom.overlay.model.interest import Interest

SLICE_WORK = 2e8  # list entries that one call reads before the user may stop us: a fraction of a second


@dataclass(frozen=True, slots=True, eq=False)
class Heaviest:
    """For each node its pairs of the largest ratio of charge to allowance, and the largest excess of all."""

    others: Ints
    ratios: Floats
    excess: float


def weigh_pairs(
    interest: Interest, duals: Duals, *, keep: int, threads: int, progress: Progress = SILENT
) -> Heaviest:
    """Charge every pair of nodes that shares a topic; `progress` advances by the nodes done."""
    n_nodes = interest.n_nodes
    lists = interest.sealed_lists()
    place_price = duals.price[place_slots(interest)]
    others = np.zeros((n_nodes, keep), np.int32)
    ratios = np.zeros((n_nodes, keep))

    def work(start: int, stop: int) -> float:
        return heaviest_pairs(start, stop, lists, duals, place_price, others, ratios)

    bounds = cut_by_work(pass_work(interest), most=SLICE_WORK, slices=8 * threads)
    excess = for_bounds(work, bounds, threads=threads, progress=progress)
    return Heaviest(others, ratios, max(excess, default=-1.0))


def pass_work(interest: Interest) -> Floats:
    """Return for each node, how many list entries it takes to charge all its pairs."""
    sizes = interest.topic_sizes().astype(np.float64)[interest.node_topics]
    return run_sums(sizes, interest.node_ptr) + interest.n_nodes / 8


def place_slots(interest: Interest) -> Longs:
    """Return for each entry of `topic_nodes` the position of the same subscription in `node_topics`."""
    return np.argsort(interest.node_topics, kind="stable")


def is_proof(interest: Interest, duals: Duals, *, threads: int = 1, progress: Progress = SILENT) -> bool:
    """Does every pair of nodes keep to (*)? Exact; False also for figures that are no multiples of UNIT."""
    if tuple(map(len, duals)) != (interest.n_subscriptions, interest.n_nodes, interest.n_nodes):
        return False
    # Multiples of 2**-34 have exact sums below 2**19; prices that prove anything stay far below.
    most = 2.0**17 / max(int(interest.subscription_sizes().max(initial=1)), 1)
    for array, least in zip(duals, (UNIT, 0.0, UNIT), strict=True):
        if not ((array >= least) & (array <= most)).all() or (np.rint(array / UNIT) * UNIT != array).any():
            return False
    return weigh_pairs(interest, duals, keep=1, threads=threads, progress=progress).excess <= 0.0


def units_by_component(
    interest: Interest, duals: Duals, needs: Longs, components: InterestComponents
) -> Longs:
    """Return the left side of the bound, in UNITs, for each component of the interest."""
    price = np.rint(duals.price / UNIT).astype(np.int64)
    values = components.total(needs * np.rint(duals.toll / UNIT).astype(np.int64))
    np.add.at(values, components.of_node[interest.pair_nodes()], price)
    wanted = np.flatnonzero(interest.topic_sizes() > 0)
    if len(wanted):
        starts = interest.topic_ptr[wanted]
        lowest = np.minimum.reduceat(price[place_slots(interest)], starts)
        np.subtract.at(values, components.of_node[interest.topic_nodes[starts]], lowest)
    return values
