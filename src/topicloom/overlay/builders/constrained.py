"""What builders share that respect limits: fixed edges, caps, contradictions, a greedy run under constraints.

A run follows the papers' rule: of all pairs that may still get an edge take one of maximum contribution, by
the phases of GM-M if asked for. Fixed edges come first and count in degrees; a node at its cap takes none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Annotated, Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.parameters import Parameter
from topicloom.base.progress import Progress, check_stop
from topicloom.errors import InputError
from topicloom.overlay.builders.build_progress import GreedyProgress, count_joins
from topicloom.overlay.builders.greedy import SLICE_WORK, Greedy
from topicloom.overlay.builders.twin_trees import plant_twins
from topicloom.overlay.kernels.lazy_greedy import LEVEL_DONE
from topicloom.overlay.kernels.lazy_greedy_costs import choose_costed, new_best_pairs, new_pair_costs
from topicloom.overlay.model.constraints import NO_CAP, UNCONSTRAINED, Constraints, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

Costs = Annotated[
    str,
    Parameter("what costs of pairs do: break ties, or divide the contribution", choices=("tie", "weight")),
]


def fixed_edges(constraints: Constraints, start: Overlay | None) -> tuple[Ints, Ints]:
    """Return the edges that exist before any is chosen: required pairs and the allowed edges of `start`.

    Canonical order (u < v, sorted, distinct); these edges may not be removed.
    """
    if start is None:
        return constraints.required.u, constraints.required.v
    n_nodes, required = start.n_nodes, constraints.required
    allowed = NodePairs(start.u, start.v).without(constraints.forbidden, n_nodes)
    fixed = NodePairs.of(*joined_edges((required.u, required.v), (allowed.u, allowed.v)), n_nodes)
    return fixed.u, fixed.v


def node_caps(constraints: Constraints, n_nodes: int) -> Ints:
    """Return the cap of every node, `NO_CAP` where there is none."""
    return np.full(n_nodes, NO_CAP, np.int32) if constraints.caps is None else constraints.caps


def check_constraints(interest: Interest, constraints: Constraints, start: Overlay | None) -> None:
    """Refuse limits that contradict each other or do not fit the interest; the message names nodes."""
    n_nodes = interest.n_nodes
    if constraints.node_ids is not None and not constraints.node_ids.equals(interest.node_ids):
        raise InputError("the constraints are about other nodes than the interest's: make them from it")
    if constraints.caps is not None and len(constraints.caps) != n_nodes:
        raise InputError(f"{len(constraints.caps)} caps were given for {n_nodes} nodes")
    if start is not None and not start.node_ids.equals(interest.node_ids):
        raise InputError("start is an overlay over other nodes than the interest's")
    if constraints.load_caps is not None and len(constraints.load_caps) != n_nodes:
        raise InputError(f"{len(constraints.load_caps)} caps on loads were given for {n_nodes} nodes")
    if constraints.rates is not None and len(constraints.rates) != interest.n_topics:
        raise InputError(f"{len(constraints.rates)} rates were given for {interest.n_topics} topics")
    for pairs in (constraints.forbidden, constraints.required, constraints.priced, constraints.timed):
        if len(pairs) and int(pairs.v.max()) >= n_nodes:
            raise InputError(f"a pair names a node number outside 0..{n_nodes - 1}")
    names = interest.node_ids
    allowed = constraints.required.without(constraints.forbidden, n_nodes)
    if len(allowed) < len(constraints.required):
        clash = constraints.required.without(allowed, n_nodes)
        u, v = (names[int(end[0])].as_py() for end in (clash.u, clash.v))
        raise InputError(f"the pair {u!r}, {v!r} is both required and forbidden")
    degrees = NodePairs(*fixed_edges(constraints, start)).degrees(n_nodes)
    caps = node_caps(constraints, n_nodes)
    above = np.flatnonzero(degrees > caps)
    if len(above):
        node = int(above[0])
        what = "required" if start is None else "required or existing (start)"
        raise InputError(
            f"node {names[node].as_py()!r} has {degrees[node]} {what} edges, above its cap of {caps[node]}"
        )


SINGLE_STEPS = 4  # upwards before steps get wider
MOST_HUBS = 500  # nodes whose needs are looked at


def known_needs(interest: Interest, nodes: Longs) -> Ints:
    """Return how many neighbors the `nodes` with the most topics need at least; 0 for all others.

    Nobody covers more of a node's topics than its largest overlap. Topics without another subscriber need
    nobody.
    """
    needs = np.zeros(interest.n_nodes, np.int32)
    order = nodes[np.lexsort((nodes, -interest.subscription_sizes()[nodes]))]
    for node in order[:MOST_HUBS].tolist():
        others = [interest.nodes_of(topic) for topic in interest.topics_of(node).tolist()]
        shared = [subscribers for subscribers in others if len(subscribers) > 1]
        counts = np.bincount(np.concatenate([np.full(1, node), *shared]), minlength=interest.n_nodes)
        counts[node] = 0
        needs[node] = -(-len(shared) // max(int(counts.max()), 1))
    return needs


def rising(limit: int, highest: int) -> Iterator[int]:
    """Yield higher limits up to `highest`: by one for a while, then in doubling steps.

    >>> list(rising(5, 30))
    [6, 7, 8, 9, 11, 15, 23, 30]
    """
    step = 1
    for number in count(1):
        if limit >= highest:
            return
        step = step if number <= SINGLE_STEPS else 2 * step
        limit = min(limit + step, highest)
        yield limit


Edges = tuple[Ints, Ints]


class CostedGreedy(Greedy):
    """The greedy over pairs with costs: the cheapest of equal contribution, or contribution per cost."""

    def __init__(self, interest: Interest, constraints: Constraints, *, weigh: bool, **state: Any) -> None:
        super().__init__(interest, **state)
        self.costs = new_pair_costs(constraints.priced, constraints.costs, interest.n_nodes)
        self.weigh = weigh
        self.scans = max(int(SLICE_WORK / 4 / max(self.row_work.mean(), 1)), 1) if interest.n_nodes else 1

    def run(self, limit: int) -> None:
        """Run as `Greedy.run`; units are single nodes, so there are no twins to link."""
        best = new_best_pairs(self.state.lowest, limit)
        tables = (self.state, self.costs, best, self.chosen)
        reason = -1
        while reason != LEVEL_DONE:
            check_stop(self.progress)
            before = int(self.chosen.length[0])
            reason = choose_costed(*tables, self.weigh, limit, self.scans, self.counts)
            self.progress.joined(int(self.chosen.contribution[before : self.chosen.length[0]].sum()))


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
    twins: str = "tree"

    @classmethod
    def of(
        cls,
        interest: Interest,
        constraints: Constraints = UNCONSTRAINED,
        start: Overlay | None = None,
        costs: str = "tie",
        threads: int | None = None,
        twins: str = "tree",
    ) -> ConstrainedTask:
        """Return the task of building under `constraints` from the edges of `start`."""
        return cls(interest, constraints, fixed_edges(constraints, start), costs, threads, twins)

    @property
    def is_free(self) -> bool:
        """Is there nothing to respect?"""
        return not self.constraints.kinds() and len(self.fixed[0]) == 0

    def planted(self, edges: Edges) -> Edges:
        """Return the edges of a greedy run with twins in trees; under constraints no two nodes are alike."""
        return plant_twins(self.interest, *edges, self.twins) if self.is_free else edges


class GreedyOutcome(NamedTuple):
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


def choose_constrained(
    task: ConstrainedTask, *, phases: bool, used: Edges | None = None, progress: Progress
) -> GreedyOutcome:
    """Choose edges in one run: by contribution alone, or with `phases` by GM-M's degree limits 1, 2, ...

    With `used` among the pairs that are not used yet, every node alone again [Chockler2007a, 6.4].
    """
    greedy = new_greedy(task, used or task.fixed, phases=phases, joined=used is None, progress=progress)
    greedy.choose_all(phases=phases)
    return GreedyOutcome(*greedy.steps(), greedy.state.components, greedy.state.place_label)


def new_greedy(
    task: ConstrainedTask, taken: Edges, *, phases: bool = False, joined: bool = True, progress: Progress
) -> Greedy:
    """Return a greedy in which `taken` pairs have edges, which join topics only if `joined`."""
    interest, limits = task.interest, task.constraints
    share, bend = (0.1, 1.2) if phases else (0.2, 2.5)
    shown = GreedyProgress(progress, count_joins(interest), scan_share=share, bend=bend)
    options: dict[str, Any] = {"phases": phases, "threads": task.threads, "progress": shown}
    if task.is_free and len(taken[0]) == 0:
        return Greedy(interest, **options)
    options |= {
        "degree": NodePairs(*taken).degrees(interest.n_nodes),
        "banned": joined_edges((limits.forbidden.u, limits.forbidden.v), taken),
        "caps": limits.caps,
    }
    if len(limits.priced):
        greedy: Greedy = CostedGreedy(interest, limits, weigh=task.costs == "weight", **options)
    else:
        greedy = Greedy(interest, **options)
    if joined:
        greedy.preconnect(*taken)
    return greedy
