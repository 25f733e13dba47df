"""A spanning tree of each topic's subgraph: few hops, and the forwarding work spread over the nodes.

The objective is the sum of
    hops    over topics and their subscribers, the hops between the subscriber and the root of the tree;
    crowd   over nodes, excess^2 / (2 a + 1).
The load of a node is its number of (topic, tree neighbor) pairs. A node cannot have less load than topics it
shares with others; what is above that is its excess (one below for each tree of which it is the root and a
leaf). The sum of all excess is the same for all trees, so its squares are least when it is spread evenly. `a`
is its average: a child more at a node of average excess costs as much as one hop.

The second aim is failover: nodes have a rank, and a child whose parent has the higher rank costs a hop more
while trees are made. Where no child has, all topics of an edge are dialled in the same direction, and any
node of lower rank is a safe backup.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from topicloom.base.arrays import Ints, sealed
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.errors import InputError
from topicloom.mesh.kernels.spanning_trees import ROOT, TreeWork, exchange_parents, plant_trees, rank_nodes
from topicloom.mesh.model.search import search
from topicloom.mesh.model.topic_trees import TopicTrees
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

AGAINST = 1  # what a child below a parent of higher rank costs, in hops
PASSES = 12  # of exchange over all topics, at most; it ends earlier when a pass moves nothing
SLICE = 20_000  # subscriptions, about, between two checks for a stop


def build_topic_trees(interest: Interest, overlay: Overlay, *, progress: Progress = SILENT) -> TopicTrees:
    """Build trees with a low value of the objective, the same for the same input.

    Raises InputError if a topic is split.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    >>> ring = Overlay.from_edges(interest.node_ids, [0, 1, 2, 3], [1, 2, 3, 0])
    >>> trees = build_topic_trees(interest, ring)
    >>> trees.child.tolist(), trees.parent.tolist(), trees.roots.tolist()
    ([1, 2, 3], [0, 1, 0], [0])
    """
    ptr, nbr = overlay.adjacency()
    topic_ptr, topic_nodes = sealed(interest.topic_ptr), sealed(interest.topic_nodes)
    rank = ranks_of(interest, overlay)
    hop = hop_cost(interest)
    excess, parent = np.zeros(interest.n_nodes, np.int64), np.empty(len(topic_nodes), np.int32)
    weights = (hop, AGAINST * hop, interest.n_nodes)
    work = TreeWork(topic_ptr, topic_nodes, ptr, nbr, rank, *weights, excess, parent)
    grow_trees(interest, overlay, plant_trees, exchange_parents, work, progress)
    return trees_by_parent(interest, parent)


def grow_trees(
    interest: Interest,
    overlay: Overlay,
    plant: Callable[[Ints, Any], int],
    exchange: Callable[[Ints, Any], int],
    work: Any,
    progress: Progress,
) -> None:
    """Plant a tree in each topic, then exchange parents until a pass over all topics moves nothing.

    Raises InputError if a topic is split.
    """
    slices = topic_slices(interest)
    progress.phase("plant trees", interest.n_topics)
    for topics in slices:
        check_stop(progress)
        split = plant(topics, work)
        if split >= 0:
            raise InputError(split_message(interest, overlay, int(split)))
        progress.advance(len(topics))
    progress.phase("exchange parents", None)
    for _ in range(PASSES):
        moves = 0
        for topics in slices:
            check_stop(progress)
            moves += exchange(topics, work)
        if moves == 0:
            break


def hop_cost(interest: Interest) -> int:
    """Return what a hop costs where excess^2 costs the number of nodes: see the top of the file."""
    return 2 * int(np.maximum(interest.topic_sizes() - 2, 0).sum()) + interest.n_nodes


def ranks_of(interest: Interest, overlay: Overlay) -> Ints:
    """Return the rank of each node."""
    rank = np.empty(interest.n_nodes, np.int32)
    rank_nodes(*interest.sealed_lists(), *overlay.adjacency(), rank)
    return rank


def topic_slices(interest: Interest) -> list[Ints]:
    """Cut the topics, in order, so that a kernel comes back soon."""
    cuts = np.flatnonzero(np.diff(interest.topic_ptr[:-1] // SLICE)) + 1
    return [part for part in np.split(np.arange(interest.n_topics, dtype=np.int32), cuts) if len(part)]


def trees_by_parent(interest: Interest, parent: Ints) -> TopicTrees:
    """Make the value from the parent of each subscription in topic order."""
    sizes = interest.topic_sizes()
    inner = parent != ROOT
    roots = np.full(interest.n_topics, ROOT, np.int32)
    roots[sizes > 0] = interest.topic_nodes[~inner]
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.maximum(sizes - 1, 0))))
    return TopicTrees(interest, starts, interest.topic_nodes[inner], parent[inner], roots)


def split_message(interest: Interest, overlay: Overlay, topic: int) -> str:
    """Name two subscribers of a split topic that no path inside the topic joins."""
    ptr, nbr = overlay.adjacency()
    members = set(interest.nodes_of(topic).tolist())
    first = min(members)
    reached = search(first, lambda node: members.intersection(nbr[ptr[node] : ptr[node + 1]].tolist()))
    ends = (interest.node_ids[node].as_py() for node in (first, min(members - reached.keys())))
    return split_sentence(interest.topic_ids[topic].as_py(), *ends)


def split_sentence(topic: str, one: str, other: str) -> str:
    """Say that a topic is split, for the user."""
    return (
        f"topic {topic!r} is not connected: no path of its subscribers joins {one!r} and {other!r}; "
        "`topicloom verify` shows all such topics"
    )
