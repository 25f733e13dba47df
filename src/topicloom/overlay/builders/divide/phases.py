"""What is done to one group, as pure functions: given the same nodes they answer the same in any process.

So every engine may map over them. Who is in a group is decided in plan.py and deal.py.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.overlay.builders.gm_m import choose_gm_m
from topicloom.overlay.builders.greedy import Greedy
from topicloom.overlay.builders.pace import Pace
from topicloom.overlay.model.interest import Interest

Edges = tuple[Ints, Ints]


def build_inner(group: Interest, *, threads: int | None = None, progress: Progress = SILENT) -> Edges:
    """A topic-connected overlay of one group of light nodes, by GM-M: both ends of its edges."""
    u, v, _ = choose_gm_m(group, threads=threads, watch=Stopwatch(progress))
    return u, v


def build_outer(
    group: Interest,
    clump: Ints,
    degree: Longs,
    degree_max: int,
    *,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Edges:
    """The edges that join representatives and bulk nodes, by GM-M; `group` is the interest of those nodes.

    Nodes of one `clump` (SINGLE: none) count as joined on the topics they share, for the overlay of the
    group that they represent joins them. `degree` are their degrees so far and `degree_max` the largest of
    all nodes, here or not: the first phase takes every pair that does not raise it
    [Chen2010, Algorithm 2, line 5].
    """
    pace = Pace(progress, group.n_subscriptions, scan_share=0.1, bend=1.2)
    greedy = Greedy(group, degree=degree.astype(np.int32), phases=True, threads=threads, pace=pace)
    greedy.join_groups(clump)
    limit = max(degree_max, 1)
    greedy.run(limit, ())
    while greedy.open_joins:
        limit += 1
        greedy.run(limit, ())
    u, v, _ = greedy.steps()
    return u, v
