"""The shortest trees: in each topic no two subscribers are farther apart than some spanning tree asks for.

Of several such trees the one is taken that spreads the forwarding work over the nodes and lets children dial
nodes of lower rank, as in `spanning.py`.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import sealed
from topicloom.base.progress import SILENT, Progress
from topicloom.mesh.kernels.shallow_trees import ShallowWork, exchange_shallow, plant_shallow
from topicloom.mesh.model.topic_trees import TopicTrees
from topicloom.mesh.topic_trees.spanning import (
    AGAINST,
    grow_trees,
    hop_cost,
    ranks_of,
    trees_by_parent,
)
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def build_shallow_trees(interest: Interest, overlay: Overlay, *, progress: Progress = SILENT) -> TopicTrees:
    """Build a tree of the smallest diameter for each topic, the same for the same input.

    Raises InputError if a topic is split.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcde"])
    >>> path = Overlay.from_edges(interest.node_ids, [0, 1, 2, 3], [1, 2, 3, 4])
    >>> build_shallow_trees(interest, path).roots.tolist()
    [2]
    """
    ptr, nbr = overlay.adjacency()
    work = ShallowWork(
        sealed(interest.topic_ptr),
        sealed(interest.topic_nodes),
        ptr,
        nbr,
        rank=ranks_of(interest, overlay),
        against=AGAINST * hop_cost(interest),
        crowd=interest.n_nodes,
        excess=np.zeros(interest.n_nodes, np.int64),
        depth=np.zeros(len(interest.topic_nodes), np.int32),
        parent=np.empty(len(interest.topic_nodes), np.int32),
    )
    grow_trees(interest, overlay, plant_shallow, exchange_shallow, work, progress)
    return trees_by_parent(interest, work.parent)
