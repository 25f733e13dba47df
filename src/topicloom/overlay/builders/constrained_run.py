"""One greedy run of GM or GM-M under constraints: caps, forbidden pairs, edges that are fixed, costs.

The rule stays the papers': of all pairs that may still get an edge the one of maximum contribution, by the
phases of GM-M if asked for. Fixed edges come first and count in the degrees; a node at its cap is no partner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.progress import Progress, check_stop
from topicloom.overlay.builders.build_progress import GreedyProgress, count_joins
from topicloom.overlay.builders.constrained import fixed_edges
from topicloom.overlay.builders.greedy import NO_LIMIT, SLICE_WORK, Greedy
from topicloom.overlay.kernels.lazy_greedy import LEVEL_DONE
from topicloom.overlay.kernels.lazy_greedy_costs import choose_costed, new_best_pairs, new_pair_costs
from topicloom.overlay.model.constraints import Constraints, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

Edges = tuple[Ints, Ints]


class CostedGreedy(Greedy):
    """The greedy over pairs with costs: the cheapest of equal contribution, or contribution per cost."""

    def __init__(self, interest: Interest, constraints: Constraints, *, weigh: bool, **state: Any) -> None:
        super().__init__(interest, **state)
        self.costs = new_pair_costs(constraints.priced, constraints.costs, interest.n_nodes)
        self.weigh = weigh
        self.scans = max(int(SLICE_WORK / 4 / max(self.row_work.mean(), 1)), 1) if interest.n_nodes else 1

    def run(self, limit: int, link_twins: Any = ()) -> None:
        """Run as `Greedy.run`; units are single nodes, so there are no twins to link."""
        best = new_best_pairs(self.state.lowest, limit)
        tables = (self.state, self.costs, best, self.chosen)
        reason = -1
        while reason != LEVEL_DONE:
            check_stop(self.pace)
            before = int(self.chosen.length[0])
            reason = choose_costed(*tables, self.weigh, limit, self.scans, self.counts)
            self.pace.joined(int(self.chosen.contribution[before : self.chosen.length[0]].sum()))


def joined_edges(one: Edges, other: Edges) -> Edges:
    """Return the edges of both, those of `one` first."""
    return np.concatenate((one[0], other[0])), np.concatenate((one[1], other[1]))


@dataclass(frozen=True, slots=True, eq=False)
class ConstrainedTask:
    """A constrained build: everything but the rule by which edges are chosen."""

    interest: Interest
    constraints: Constraints
    fixed: Edges  # required pairs and the edges of `start`
    costs: str = "tie"
    threads: int | None = None

    @classmethod
    def of(
        cls,
        interest: Interest,
        constraints: Constraints,
        start: Overlay | None = None,
        costs: str = "tie",
        threads: int | None = None,
    ) -> ConstrainedTask:
        """Return the task of building under `constraints` from the edges of `start`."""
        return cls(interest, constraints, fixed_edges(constraints, start), costs, threads)

    @property
    def is_free(self) -> bool:
        """Is there nothing to respect?"""
        return not self.constraints.kinds() and len(self.fixed[0]) == 0


@dataclass(frozen=True, slots=True, eq=False)
class GreedyOutcome:
    """Edges that were chosen, in order, besides the fixed ones; how many joins they leave undone."""

    u: Ints
    v: Ints
    contribution: Ints
    components: Ints  # topic -> number of components
    labels: Ints  # subscription, in topic order -> the component it is in

    @property
    def open_joins(self) -> int:
        return int(np.maximum(self.components - 1, 0).sum())

    @property
    def edges(self) -> Edges:
        return self.u, self.v

    def split(self) -> Longs:
        """Return the topics in more than one component."""
        return np.flatnonzero(self.components > 1)


def choose_constrained(task: ConstrainedTask, *, phases: bool, progress: Progress) -> GreedyOutcome:
    """Choose edges in one run: by contribution alone, or with `phases` by GM-M's degree limits 1, 2, ..."""
    return _choose(task, task.fixed, phases=phases, joined=True, progress=progress)


def choose_again(task: ConstrainedTask, used: Edges, *, progress: Progress) -> GreedyOutcome:
    """Choose among the pairs that are not used yet, every node alone again [Chockler2007a, 6.4]."""
    return _choose(task, used, phases=False, joined=False, progress=progress)


def _choose(
    task: ConstrainedTask, taken: Edges, *, phases: bool, joined: bool, progress: Progress
) -> GreedyOutcome:
    greedy = new_greedy(task, taken, bend=1.2 if phases else 2.5, joined=joined, progress=progress)
    limit: int | None = 1 if phases else NO_LIMIT
    while limit is not None and greedy.open_joins:
        greedy.run(limit, ())
        limit = greedy.next_limit(limit)
    return GreedyOutcome(*greedy.steps(), greedy.state.components, greedy.state.place_label)


def new_greedy(
    task: ConstrainedTask, taken: Edges, *, bend: float, joined: bool, progress: Progress
) -> Greedy:
    """Return a greedy in which `taken` pairs have edges, which join topics only if `joined`."""
    interest, limits = task.interest, task.constraints
    forbidden = (limits.forbidden.u, limits.forbidden.v)
    total = count_joins(interest)
    state: dict[str, Any] = {
        "degree": NodePairs(*taken).degrees(interest.n_nodes),
        "banned": joined_edges(forbidden, taken),
        "caps": limits.caps,
        "threads": task.threads,
        "pace": GreedyProgress(progress, total, scan_share=0.1, bend=bend),
    }
    if len(limits.priced):
        greedy: Greedy = CostedGreedy(interest, limits, weigh=task.costs == "weight", **state)
    else:
        greedy = Greedy(interest, **state)
    if joined:
        greedy.preconnect(*taken)
    return greedy
