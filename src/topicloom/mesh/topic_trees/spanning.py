"""A spanning tree of each topic's subgraph: few hops, and the work of passing on spread over the nodes.

The objective, `TreeCost.cost`, is the sum of
    hops    over topics and their subscribers, the hops between the subscriber and the root of the tree;
    crowd   over nodes, excess^2 / (2 a + 1).
The load of a node is its number of (topic, tree neighbor) pairs. A node cannot have less load than topics it
shares with others; what is above that is its excess (one below for each tree it is the root and a leaf of).
The sum of all excess is the same for all trees, so its squares are least when it is spread evenly. `a` is its
average: a child more at a node of average excess costs as much as one hop.

The second aim is for fail-over: nodes have a rank, and a child whose parent has the higher rank costs a hop
more while trees are made. Where no child has, all topics of an edge are dialled in the same direction, and
any node of lower rank is a safe backup.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Ints, sealed
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.errors import InputError
from topicloom.mesh.kernels.node_ranking import rank_nodes
from topicloom.mesh.kernels.spanning_trees import ROOT, exchange_parents, plant_trees
from topicloom.mesh.model.topic_trees import TopicTrees
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

AGAINST = 1
"""What a child below a parent of higher rank costs, in hops."""

PASSES = 12
"""Passes of exchange over all topics at most; it ends earlier when a pass moves nothing."""

SLICE = 20_000
"""About so many subscriptions are worked on between two looks at whether to stop."""


@dataclass(frozen=True, slots=True)
class TreeCost:
    """The objective of some trees and its parts."""

    hops: int
    crowd: float
    height_max: int
    load_max: int

    @property
    def cost(self) -> float:
        return self.hops + self.crowd


def build_topic_trees(interest: Interest, overlay: Overlay, *, progress: Progress = SILENT) -> TopicTrees:
    """Trees of low `tree_cost`, the same for the same input. InputError if a topic is not connected.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    >>> ring = Overlay.from_edges(interest.node_ids, [0, 1, 2, 3], [1, 2, 3, 0])
    >>> trees = build_trees(interest, ring)
    >>> tree_cost(trees).hops, trees.roots.tolist()
    (4, [0])
    """
    ptr, nbr = overlay.adjacency()
    topic_ptr, topic_nodes = sealed(interest.topic_ptr), sealed(interest.topic_nodes)
    rank = np.empty(interest.n_nodes, np.int32)
    rank_nodes(
        sealed(interest.node_ptr), sealed(interest.node_topics), topic_ptr, topic_nodes, ptr, nbr, rank
    )
    total = int(np.maximum(interest.topic_sizes() - 2, 0).sum())
    excess = np.zeros(interest.n_nodes, np.int64)
    parent = np.empty(len(topic_nodes), np.int32)
    hop, crowd = 2 * total + interest.n_nodes, interest.n_nodes
    against = AGAINST * hop

    def work(kernel: Callable[..., int], topics: Ints) -> int:
        return int(
            kernel(topics, topic_ptr, topic_nodes, ptr, nbr, rank, hop, against, crowd, excess, parent)
        )

    slices = _slices(interest)
    progress.phase("plant trees", interest.n_topics)
    for topics in slices:
        check_stop(progress)
        split = work(plant_trees, topics)
        if split >= 0:
            raise InputError(split_message(interest, overlay, split))
        progress.advance(len(topics))
    progress.phase("exchange parents", None)
    for _ in range(PASSES):
        moves = 0
        for topics in slices:
            check_stop(progress)
            moves += work(exchange_parents, topics)
        if moves == 0:
            break
    return _trees(interest, parent)


def tree_cost(trees: TopicTrees) -> TreeCost:
    """The objective at the top of this file; the height and load of the worst tree and node beside it."""
    interest = trees.interest
    sizes = np.diff(trees.starts)
    n = max(interest.n_nodes, 1)
    topic = np.repeat(np.arange(trees.n_topics), sizes)
    keys = topic * n + trees.child
    order = np.argsort(keys)
    keys = keys[order]
    above = topic * n + trees.parent
    hops, depth = 0, 0
    while len(above):  # each round climbs one hop, all that are not at their root yet
        hops += len(above)
        depth += 1
        place = np.searchsorted(keys, above)
        found = (place < len(keys)) & (keys[np.minimum(place, len(keys) - 1)] == above)
        edge = order[place[found]]
        above = topic[edge] * n + trees.parent[edge]
    load = np.bincount(np.concatenate((trees.child, trees.parent)), minlength=n)
    shared = interest.topic_sizes()[interest.node_topics] > 1
    excess = load - np.bincount(interest.pair_nodes()[shared], minlength=n)
    crowd = float((excess.astype(np.float64) ** 2).sum()) / (2 * float(excess.mean()) + 1)
    return TreeCost(hops, crowd, depth, int(load.max(initial=0)))


def _slices(interest: Interest) -> list[Ints]:
    """The topics in order, cut so that a kernel comes back soon."""
    cuts = np.flatnonzero(np.diff(interest.topic_ptr[:-1] // SLICE)) + 1
    return [part for part in np.split(np.arange(interest.n_topics, dtype=np.int32), cuts) if len(part)]


def _trees(interest: Interest, parent: Ints) -> TopicTrees:
    """The value from the parent of each subscription in topic order."""
    sizes = interest.topic_sizes()
    inner = parent != ROOT
    roots = np.full(interest.n_topics, ROOT, np.int32)
    roots[sizes > 0] = interest.topic_nodes[~inner]
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.maximum(sizes - 1, 0))))
    return TopicTrees(interest, starts, interest.topic_nodes[inner], parent[inner], roots)


def split_message(interest: Interest, overlay: Overlay, topic: int) -> str:
    """Names two subscribers that no path inside the topic joins."""
    ptr, nbr = overlay.adjacency()
    members = set(interest.nodes_of(topic).tolist())
    first = min(members)
    reached, open_nodes = {first}, [first]
    while open_nodes:
        node = open_nodes.pop()
        for other in nbr[ptr[node] : ptr[node + 1]].tolist():
            if other in members and other not in reached:
                reached.add(other)
                open_nodes.append(other)
    ends = (interest.node_ids[node].as_py() for node in (first, min(members - reached)))
    return split_sentence(interest.topic_ids[topic].as_py(), *ends)


def split_sentence(topic: str, one: str, other: str) -> str:
    """What the user is told of a topic that the overlay leaves in parts."""
    return (
        f"topic {topic!r} is not connected: no path of its subscribers joins {one!r} and {other!r}; "
        "`topicloom verify` shows all such topics"
    )
