"""Where nodes are drawn: springs along edges, all nodes push each other away, the same picture every time.

The start is a projection of distances to a few pivots [Brandes and Pich, Eigensolver methods for progressive
multidimensional scaling of large data, 2006]; it shows how the overlay hangs together. Springs then spread
it. The push of all nodes is estimated from a seeded sample in each round [Gove, A random sampling O(n)
force-calculation algorithm for graph layouts, 2019]: a round costs nodes x SAMPLE, not nodes squared.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from topicloom.base.arrays import Ints
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.base.seeds import generator

PIVOTS = 24
SAMPLE = 256  # nodes whose push is felt in a round
ROUNDS = 300
PULL_TO_CENTRE = 0.04  # keeps parts without an edge between them near each other
FAR = 1.5  # what a node that a pivot does not reach is further away than any that it does

Points = NDArray[np.float32]


def place_nodes(n: int, u: Ints, v: Ints, *, seed: int = 0, progress: Progress = SILENT) -> Points:
    """Return coordinates from 0 to 1 for each of n nodes."""
    if n == 0:
        return np.zeros((0, 2), dtype=np.float32)
    ones = np.ones(2 * len(u), dtype=np.float32)
    near = csr_array((ones, (np.concatenate((u, v)), np.concatenate((v, u)))), shape=(n, n))
    draw = generator(seed, "report", "layout")
    points = _project(near, n) + draw.normal(0, 0.02, (n, 2)).astype(np.float32)
    return _fit(_relax(points, near, draw, progress))


def _project(near: csr_array, n: int) -> Points:
    """Place nodes by their distances to pivots, each the node furthest from the pivots before it."""
    columns = []
    nearest = np.full(n, np.inf)
    pivot = int(np.argmax(np.diff(near.indptr)))
    for _ in range(min(PIVOTS, n)):
        far = _distances(near, pivot, n)
        columns.append(far)
        nearest = np.minimum(nearest, far)
        pivot = int(np.argmax(nearest))
    squares = np.stack(columns, axis=1) ** 2
    centred = squares - squares.mean(0) - squares.mean(1, keepdims=True) + squares.mean()
    _, vectors = np.linalg.eigh(centred.T @ centred)
    found = centred @ vectors[:, -2:]
    if found.shape[1] < 2:
        found = np.pad(found, ((0, 0), (0, 2 - found.shape[1])))
    # The sign of an eigenvector is arbitrary: the first node that is off the axis lies on its positive side.
    for axis in range(2):
        off = np.flatnonzero(np.abs(found[:, axis]) > 1e-9)
        if len(off) and found[off[0], axis] < 0:
            found[:, axis] *= -1
    spread = np.abs(found).max()
    return np.asarray(found / (spread or 1.0), dtype=np.float32)


def _distances(near: csr_array, source: int, n: int) -> NDArray[np.float64]:
    order, before = breadth_first_order(near, source, directed=False)
    far = np.full(n, -1.0)
    far[source] = 0
    for node in order[1:].tolist():  # in the order of their distance: the one before is known
        far[node] = far[before[node]] + 1
    far[far < 0] = FAR * max(far.max(), 1.0)
    return far


def _relax(points: Points, near: csr_array, draw: np.random.Generator, progress: Progress) -> Points:
    """Let springs and pushes move the nodes, less and less."""
    n = len(points)
    room = np.float32(1 / np.sqrt(n))  # the length of an edge if nodes fill a square evenly
    degrees = np.maximum(np.diff(near.indptr), 1).astype(np.float32)
    # Hubs pull less on each of their edges: otherwise everything ends up on top of them.
    scale = 1 / np.sqrt(degrees)
    springs = csr_array(
        (near.data * np.repeat(scale, np.diff(near.indptr)) * scale[near.indices], near.indices, near.indptr),
        shape=near.shape,
    )
    pull = np.asarray(springs.sum(axis=1)).astype(np.float32)
    sampled = min(SAMPLE, n)
    progress.phase("place nodes", float(ROUNDS))
    for turn in range(ROUNDS):
        check_stop(progress)
        chosen = points[draw.choice(n, sampled, replace=False)]
        across = points[:, :1] - chosen[:, 0]
        down = points[:, 1:] - chosen[:, 1]
        weight = 1 / (across * across + down * down + room * room * 0.01)
        push = np.stack(((across * weight).sum(1), (down * weight).sum(1)), axis=1)
        push *= room * room * (n / sampled) * 0.35
        drawn = np.asarray(springs @ points) - pull[:, None] * points
        force = push + drawn * 1.2 - PULL_TO_CENTRE * points
        length = np.sqrt((force * force).sum(1, keepdims=True))
        most = np.float32(0.12 * (1 - turn / ROUNDS) ** 1.5 + 0.002)
        points = points + force * np.minimum(1, most / np.maximum(length, 1e-9)).astype(np.float32)
        progress.advance()
    return np.asarray(points, dtype=np.float32)


def _fit(points: Points) -> Points:
    """Fit into the unit square without distorting; a few runaways do not make all others small."""
    middle = np.median(points, axis=0)
    away = np.abs(points - middle).max(axis=1)
    reach = max(float(np.quantile(away, 0.995)) * 1.1, 1e-6)
    fitted: Points = np.clip((points - middle) / (2 * reach) + 0.5, 0.0, 1.0).astype(np.float32)
    return fitted
