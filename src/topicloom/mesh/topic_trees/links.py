"""The links that carry trees or classes: who dials whom."""

from __future__ import annotations

from collections import Counter

import numpy as np

from topicloom.mesh.model.topic_trees import ForestPacking, PlannedLink, TopicTrees


def tree_links(trees: TopicTrees, *, by_direction: bool = False) -> list[PlannedLink]:
    """One link for each edge that a tree uses, with all topics that use it; sorted by dialer and acceptor.

    The child of most of its topics dials; of as many both ways the node that is less often a parent, then
    the larger number. With `by_direction` an edge that is used both ways gets two links, one for each
    direction, and then every topic is dialled from child to parent: more connections, more safe backups.
    """
    topic = np.repeat(np.arange(trees.n_topics), np.diff(trees.starts)).tolist()
    carried: dict[tuple[int, int], list[int]] = {}
    for t, a, b in zip(topic, trees.child.tolist(), trees.parent.tolist(), strict=True):
        carried.setdefault((a, b), []).append(t)
    if not by_direction:
        standing = Counter(trees.parent.tolist())
        for a, b in sorted(carried):
            if a < b and (b, a) in carried:
                up, down = carried.pop((a, b)), carried.pop((b, a))
                first = (len(up), -standing[a], a) > (len(down), -standing[b], b)
                carried[(a, b) if first else (b, a)] = sorted(up + down)
    return [PlannedLink(a, b, tuple(carried[a, b])) for a, b in sorted(carried)]


def forest_links(packing: ForestPacking) -> list[PlannedLink]:
    """One link for each class and edge of its forest, dialled towards the root of the forest."""
    trees = packing.trees
    topic = np.repeat(np.arange(trees.n_topics), np.diff(trees.starts)).tolist()
    carried: dict[tuple[int, int, int], list[int]] = {}
    for t, a, b in zip(topic, trees.child.tolist(), trees.parent.tolist(), strict=True):
        where = int(packing.class_of[t])
        key = (where, b, a) if (where, b, a) in carried else (where, a, b)
        carried.setdefault(key, []).append(t)
    return [PlannedLink(a, b, tuple(carried[c, a, b]), c) for c, a, b in sorted(carried)]
