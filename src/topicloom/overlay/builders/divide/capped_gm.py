"""GM under a cap on degrees, for one group: few edges, and few nodes above the cap.

Where GM alone makes hubs, a cap near its average degree costs it almost no edges (docs/builders.md on
`balanced`). The few nodes that go beyond the cap are relieved when the whole overlay is there (polish.py).
"""

from __future__ import annotations

import math

import numpy as np

from topicloom.base.progress import Progress, QuietProgress
from topicloom.overlay.builders.build_progress import ShareOfProgress
from topicloom.overlay.builders.constrained import (
    ConstrainedTask,
    Edges,
    choose_constrained,
    new_greedy,
    rising,
)
from topicloom.overlay.builders.greedy import NO_LIMIT

ROOM = 2  # the cap lies so far above the average degree, rounded up
FEW = 100  # GM is taken as it is if at most one node in so many is above the cap
DEAREST = 1.08  # the cap costs too much if it takes more than so many times the edges of GM
HIGHER = (0, 2, 5)  # caps so much higher are tried then
FIRST = 0.5  # share of GM in the time of both runs


def capped_gm(task: ConstrainedTask, progress: Progress) -> Edges:
    """Return the edges of GM, or under a cap if many nodes are above it, or of GM-M if caps are dear."""
    n_nodes = task.interest.n_nodes
    first = _greedy(task, NO_LIMIT, ShareOfProgress(progress, FIRST, progress.should_stop))
    degrees = np.bincount(np.concatenate(first), minlength=n_nodes)
    cap = math.ceil(2 * len(first[0]) / max(n_nodes, 1)) + ROOM
    found, quiet = first, QuietProgress(progress)
    if FEW * int((degrees > cap).sum()) > n_nodes:
        tries = (_greedy(task, cap + higher - 1, quiet) for higher in HIGHER)
        cheap = (edges for edges in tries if len(edges[0]) <= DEAREST * len(first[0]))
        found = next(cheap, None) or task.planted(choose_constrained(task, phases=True, progress=quiet).edges)
    progress.advance(1 - FIRST)
    return found


def _greedy(task: ConstrainedTask, limit: int, progress: Progress) -> Edges:
    """Choose by contribution alone while both ends stay within `limit`; it rises while topics are split."""
    greedy = new_greedy(task, task.fixed, progress=progress)
    greedy.run(limit)
    for higher in rising(limit, task.interest.n_nodes):
        if greedy.open_joins == 0:
            break
        greedy.run(higher)
    u, v, _ = greedy.steps()
    return task.planted((u, v))
