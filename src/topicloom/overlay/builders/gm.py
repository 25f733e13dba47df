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
from topicloom.overlay.builders.constrained import Costs
from topicloom.overlay.builders.constrained_greedy import build_greedy
from topicloom.overlay.builders.greedy import BOTH_STEPS, NO_LIMIT, Greedy
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def build_gm(
    interest: Interest,
    *,
    redundancy: Annotated[int, Parameter("runs, each on the pairs not yet used (section 6.4)", least=1)] = 1,
    costs: Costs = "tie",
    constraints: Constraints = UNCONSTRAINED,
    start: Overlay | None = None,
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
    parameters = {"redundancy": redundancy, "costs": costs}
    return build_greedy(
        interest,
        "gm",
        partial(choose_gm, redundancy=redundancy),
        constraints=constraints,
        start=start,
        phases=False,
        costs=costs,
        redundancy=redundancy,
        parameters=parameters,
        seed=seed,
        threads=threads,
        progress=progress,
    )


def choose_gm(
    interest: Interest, *, redundancy: int = 1, threads: int | None = None, watch: Stopwatch
) -> tuple[Ints, Ints, Ints]:
    """The edges in the order GM chooses them, with the contribution of each at its time."""
    runs: list[tuple[Ints, Ints, Ints]] = []
    for run in range(redundancy):
        used = tuple(np.concatenate([steps[side] for steps in runs]) for side in (0, 1)) if run else None
        degree = None if used is None else _degrees(used, interest.n_nodes)
        with watch.phase("choose edges" if run == 0 else f"choose edges, run {run + 1}", 1.0):
            pace = GreedyProgress(watch.progress, count_joins(interest), scan_share=0.2, bend=2.5)
            greedy = Greedy(interest, degree=degree, banned=used, threads=threads, pace=pace)
            greedy.run(NO_LIMIT, BOTH_STEPS)
        runs.append(greedy.steps())
        if len(runs[-1][0]) == 0:
            break  # no pair is left that joins anything
    u, v, contribution = (np.concatenate([steps[part] for steps in runs]) for part in range(3))
    return u, v, contribution


def _degrees(edges: tuple[Ints, ...], n_nodes: int) -> Ints:
    return np.bincount(np.concatenate(edges), minlength=n_nodes).astype(np.int32)
