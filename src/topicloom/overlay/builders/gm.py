"""GM, the greedy merge of [Chockler2007a, 6]: fewest edges of the published builders.

Guarantee: at most log(subscriptions) times the optimal number of edges [Chockler2007a, Lemma 6.5].
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.overlay.builders.build_progress import GreedyProgress, count_joins
from topicloom.overlay.builders.constrained import ConstrainedTask, Costs
from topicloom.overlay.builders.constrained_greedy import build_greedy
from topicloom.overlay.builders.greedy import BOTH_STEPS, NO_LIMIT, Greedy
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def build_gm(
    interest: Interest,
    *,
    constraints: Constraints = UNCONSTRAINED,
    start: Overlay | None = None,
    redundancy: Annotated[int, Parameter("runs, each on the pairs not yet used (section 6.4)", least=1)] = 1,
    costs: Costs = "tie",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Build:
    """Add the edge that joins the most topic components until every topic has one.

    `redundancy=k` runs it k times, each on the pairs not yet used [Chockler2007a, 6.4], so a topic survives
    more lost edges. The seed is not used: ties are fixed.

    Under `constraints` no pair beyond them is a candidate, and the edges of `start` are there from the
    beginning; with pair costs, `costs="tie"` takes the cheapest of equal contribution and `"weight"` the
    most contribution per cost.

    >>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")])
    >>> build_gm(interest).overlay.to_pandas().values.tolist()
    [['a', 'b'], ['b', 'c']]
    """
    watch = Stopwatch(progress)
    task = ConstrainedTask.of(interest, constraints, start, costs, threads)
    choose = partial(choose_gm, redundancy=redundancy)
    overlay, report = build_greedy(task, choose, phases=False, redundancy=redundancy, watch=watch)
    return Build(overlay, "gm", {"redundancy": redundancy, "costs": costs}, seed, watch.seconds, report)


def choose_gm(
    interest: Interest, *, redundancy: int = 1, threads: int | None = None, watch: Stopwatch
) -> tuple[Ints, Ints, Ints]:
    """Return the edges in the order GM chooses them, with the contribution of each at its time."""
    u, v, contribution = (np.zeros(0, np.int32) for _ in range(3))
    for run in range(redundancy):
        banned, degree = ((u, v), NodePairs(u, v).degrees(interest.n_nodes)) if run else (None, None)
        with watch.phase("choose edges" if run == 0 else f"choose edges, run {run + 1}", 1.0):
            progress = GreedyProgress(watch.progress, count_joins(interest), scan_share=0.2, bend=2.5)
            greedy = Greedy(interest, degree=degree, banned=banned, threads=threads, progress=progress)
            greedy.run(NO_LIMIT, BOTH_STEPS)
        steps = greedy.steps()
        u, v, contribution = (np.concatenate(both) for both in zip((u, v, contribution), steps, strict=True))
        if len(steps[0]) == 0:
            break  # no pair is left that joins anything
    return u, v, contribution
