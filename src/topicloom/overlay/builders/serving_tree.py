"""The tree test: can one spanning tree (per connected part of the interest) serve every topic?

It can exactly if the maximum spanning forest of the shared-topic graph weighs the sum of |V_t| - 1 over all
topics; then no topic-connected overlay has fewer edges. The maximum degree is another matter: with a single
topic a star passes as well as a path, so of such trees one with low degrees is looked for.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.overlay.builders.twin_trees import ARITY, TREE_DEGREE, large_classes
from topicloom.overlay.kernels.serving_tree import DONE, OUTSIDE, REFUSED, grow_tree, relieve
from topicloom.overlay.model.interest import Interest

SLICE_WORK = 100_000_000  # steps of a kernel call before the user may stop us
PATH_DEGREE = 2  # no tree of three nodes or more has less


def serving_tree(
    interest: Interest, *, twins: str = "tree", progress: Progress = SILENT
) -> tuple[Ints, Ints] | None:
    """Return the edges (u, v) of a forest that serves every topic, with low degrees; None if there is none.

    At most O(sum of |V_t|^2) steps; where there is none it mostly ends after a few nodes. Nodes of identical
    interest are linked into trees (`twins="path"`: paths): no edge of theirs can weigh more.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    >>> [ends.tolist() for ends in serving_tree(interest)]
    [[0, 0, 1], [1, 2, 3]]
    >>> triangle = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("c", "z"), ("a", "z")]
    >>> serving_tree(Interest.from_pairs(triangle)) is None
    True
    """
    classes = interest.twin_classes()
    firsts = np.unique(classes, return_index=True)[1]
    parent = _grow(interest, firsts, progress)
    if parent is None:
        return None
    parent = _with_twins(interest, parent, classes, firsts, ARITY if twins == "tree" else 1)
    _relieve(interest, parent, least_degree(interest, twins), progress)
    child = np.flatnonzero(parent >= 0)
    u, v = np.minimum(child, parent[child]), np.maximum(child, parent[child])
    order = np.lexsort((v, u))
    return u[order].astype(np.int32), v[order].astype(np.int32)


def _grow(interest: Interest, nodes: Longs, progress: Progress) -> Ints | None:
    """Return the maximum spanning forest of distinct interests (parents by place) if it serves all topics."""
    lists = interest.restrict(nodes).sealed_lists()
    parent = np.full(len(nodes), OUTSIDE, np.int32)
    degree, best, common = (np.zeros(len(nodes), np.int32) for _ in range(3))
    seen = np.zeros(interest.n_topics, np.int32)
    while True:
        check_stop(progress)
        reason = grow_tree(lists, parent, degree, best, seen, common, SLICE_WORK)
        if reason == REFUSED:
            return None
        if reason == DONE:
            return parent


def least_degree(interest: Interest, twins: str) -> int:
    """Return the maximum degree at which a tree needs no more relief: a path's, or that of twins in trees."""
    if twins == "path":
        return PATH_DEGREE
    classes = interest.twin_classes()
    return TREE_DEGREE if large_classes(interest, classes) else PATH_DEGREE


def _with_twins(interest: Interest, parent: Ints, classes: Ints, firsts: Longs, arity: int) -> Ints:
    """Extend the forest to all nodes: twins follow the first of their kind in a tree of that arity."""
    full = np.full(len(classes), -1, np.int32)
    order = np.argsort(classes, kind="stable")
    start = np.searchsorted(classes[order], np.arange(len(firsts)))[classes[order]]
    rank = np.arange(len(order)) - start
    full[order] = np.where(rank > 0, order[start + (rank - 1) // arity], -1)
    full[firsts] = np.where(parent >= 0, firsts[parent], -1)
    full[interest.subscription_sizes() == 0] = -1  # who wants nothing has nobody to be linked with
    return full


def _relieve(interest: Interest, parent: Ints, enough: int, progress: Progress) -> None:
    """Swap edges of the node of highest degree until that one cannot be helped, or has `enough`."""
    lists = interest.sealed_lists()
    child = np.flatnonzero(parent >= 0)
    degree = np.bincount(np.concatenate((child, parent[child])), minlength=len(parent)).astype(np.int32)
    mark = np.full(interest.n_topics, -1, np.int32)
    branch, moved = np.full(len(parent), -1, np.int32), np.full(len(parent), -1, np.int32)
    while len(degree) and degree.max() > enough:
        check_stop(progress)
        hub = int(degree.argmax())
        if relieve(lists, hub, parent, degree, mark, branch, moved) == 0:
            return
