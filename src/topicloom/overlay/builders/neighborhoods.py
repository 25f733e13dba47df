"""Neighborhood search: free the pairs around some nodes, fix all others, and solve that exactly.

The program is the one of `exact`, and what it has learnt in one neighborhood (rows of partitions) holds in
all others. A bound on hops is part of it: an overlay that breaks it is cut off by a row. Work is counted in
linear programs, so that the same seed gives the same edges on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from topicloom.base.arrays import Bools, Floats, Ints, Longs
from topicloom.base.seeds import generator
from topicloom.base.solver.branch_and_cut import BranchAndCut
from topicloom.base.solver.linear_program import Budget, SumRow, Unfinished
from topicloom.overlay.builders.constrained import ConstrainedTask, Edges, joined_edges
from topicloom.overlay.builders.exact_program import ExactProgram
from topicloom.overlay.builders.exact_reduction import Part
from topicloom.overlay.builders.hops import topic_hops
from topicloom.overlay.model.constraints import NO_CAP, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

STEPS = 600  # linear programs in all
MOST_ENTRIES = 40_000  # pairs inside topics: beyond that one program takes seconds
STEPS_EACH = 60  # in one neighborhood
PATIENCE = 12  # neighborhoods in vain before another aim, or the end
LEAST_NODES, FIRST_NODES = 10, 30  # around which pairs are free; more while that is solved, fewer where not
STEP = 1.3
KEPT_ROWS = 600  # more make every program slower
PARTNERS = 40  # of a node that may become its neighbors: those it shares the most topics with
SOURCES = 3  # rows for a topic beyond the bound on hops


class NeighborhoodSearch:
    """An overlay under improvement by `objective`: it connects every topic and keeps all that it kept.

    `caps` holds for every node, `bound` for the hops in every topic (None: any).
    """

    def __init__(
        self,
        task: ConstrainedTask,
        overlay: Overlay,
        objective: str,
        *,
        caps: Ints | None,
        bound: int | None,
        seed: int,
        budget: Budget,
    ) -> None:
        self.interest, self.objective, self.budget = task.interest, objective, budget
        n = self.interest.n_nodes
        self.program = HopProgram(task.interest, overlay, bound, budget)
        pairs = NodePairs(self.program.u, self.program.v).keys(n)
        edges, fixed = NodePairs(overlay.u, overlay.v), NodePairs.of(*task.fixed, n)
        self.chosen = np.isin(pairs, edges.keys(n))
        self.kept = np.isin(pairs, fixed.keys(n))
        self.barred = np.isin(pairs, task.constraints.forbidden.keys(n)) & ~self.chosen
        # Edges between nodes that share no topic: somebody asked for them.
        self.apart = edges.without(NodePairs(self.program.u, self.program.v), n)
        limit = np.full(n, NO_CAP) if caps is None else caps
        self.caps = np.maximum(limit, overlay.degrees()).astype(np.int64)
        self.random = generator(seed, "neighborhoods")
        self.size = float(FIRST_NODES)
        self.tried = 0
        self.search = BranchAndCut(
            self.program.n_pairs,
            [*self.program.degree_rows(n), *self.program.start_rows()],
            self.program.violated,
            least=0,
            upper=math.inf,
            budget=budget,
            tell=lambda bound, upper: None,
        )

    @property
    def is_small(self) -> bool:
        """Is a program solved in milliseconds?"""
        return len(self.program.entry_pair) <= MOST_ENTRIES

    def run(self) -> Overlay:
        """Search until nothing is found any more, or all steps are used up; return the best overlay."""
        if self.objective == "max-degree":
            self._until_vain(self._lower_degrees)
            self.caps = np.minimum(self.caps, self._degrees().max())
        self._until_vain(self._fewer_edges)
        return Overlay.from_edges(self.interest.node_ids, *self._edges())

    def _edges(self) -> Edges:
        chosen = self.program.u[self.chosen], self.program.v[self.chosen]
        return joined_edges((self.apart.u, self.apart.v), chosen)

    def _until_vain(self, attempt: Callable[[Longs], bool]) -> None:
        """Try neighborhoods, larger ones while they are solved, until too many were in vain."""
        vain, self.size = 0, float(FIRST_NODES)
        while vain < PATIENCE and self.budget.steps > 0 and self.budget.left() > 0:
            self.tried += 1
            nodes, left, before = self._around(), self.budget.steps, self.chosen
            self.budget.steps = given = min(left, STEPS_EACH)
            try:
                whole = not attempt(nodes) and len(nodes) == self.interest.n_nodes
                self.size = min(self.size * STEP, self.interest.n_nodes)
            except Unfinished:
                whole = False
                self.size = max(self.size / STEP, LEAST_NODES)
            self.budget.steps = left - (given - self.budget.steps)
            if whole:
                return  # all was free, and there is nothing better
            vain = 0 if self.chosen is not before else vain + 1
            self.budget.progress.advance(1)

    # --- attempts ----------------------------------------------------------------------------------

    def _fewer_edges(self, nodes: Longs) -> bool:
        """Find fewer edges by the pairs around some nodes."""
        return self._solve(nodes, self.caps, int(self.chosen.sum()))

    def _lower_degrees(self, nodes: Longs) -> bool:
        """Find an overlay in which fewer nodes have the maximum degree."""
        degrees = self._degrees()
        highest = int(degrees.max())
        top = np.flatnonzero(degrees == highest)
        nodes = np.union1d(nodes, self.random.permutation(top)[: max(len(nodes) // 2, 1)])
        caps = np.minimum(self.caps, highest - 1)
        stay = np.setdiff1d(top, nodes)
        caps[stay] = highest
        return self._solve(nodes, caps, math.inf)

    def _solve(self, nodes: Longs, caps: Longs, upper: float) -> bool:
        """Search for less than `upper` edges where the pairs around `nodes` are free; take what is found."""
        inside = np.zeros(self.interest.n_nodes, np.bool_)
        inside[nodes] = True
        free = (inside[self.program.u] | inside[self.program.v]) & ~self.kept & ~self.barred
        search = self.search
        for node, cap in enumerate((caps - self.apart.degrees(len(caps))).tolist()):
            search.lp.change_row(node, -math.inf, float(cap))
        search.forget(KEPT_ROWS)
        search.within(np.where(free, 0.0, self.chosen), np.where(free, 1.0, self.chosen))
        search.restart(upper)
        try:
            if search.root():
                if math.isfinite(upper):
                    search.minimise()
                elif search.best is None:
                    search.search(math.inf)
        finally:  # also where the steps are used up
            if search.best is not None:
                self.chosen = search.best
        return search.best is not None

    # --- where -------------------------------------------------------------------------------------

    def _around(self) -> Longs:
        """Return nodes that lie together: in a topic, or a few links apart."""
        n, size = self.interest.n_nodes, int(self.size)
        if self.tried % 2:
            topic = int(self.random.integers(self.interest.n_topics))
            found = self.random.permutation(self.interest.nodes_of(topic))[:size].astype(np.int64)
        else:
            found = self.random.integers(n, size=1)
        u, v = self.program.u[self.chosen], self.program.v[self.chosen]
        while len(found) < size:
            inside = np.isin(np.arange(n), found)
            beside = np.setdiff1d(np.concatenate((v[inside[u]], u[inside[v]])), found)
            if len(beside) == 0:
                beside = np.setdiff1d(np.arange(n), found)
                if len(beside) == 0:
                    break
                beside = beside[:1]
            found = np.concatenate((found, self.random.permutation(beside)[: size - len(found)]))
        return np.sort(found)

    def _degrees(self) -> Longs:
        return np.bincount(np.concatenate(self._edges()), minlength=self.interest.n_nodes)


class HopProgram(ExactProgram):
    """The program of `exact` over promising pairs and the edges of an overlay, within a bound on hops."""

    def __init__(self, interest: Interest, overlay: Overlay, bound: int | None, budget: Budget) -> None:
        topics = {tuple(interest.nodes_of(topic).tolist()) for topic in range(interest.n_topics)}
        whole = Part(tuple(range(interest.n_nodes)), tuple(sorted(t for t in topics if len(t) > 1)))
        super().__init__(whole, budget.progress)
        self.interest, self.bound = interest, bound
        self._keep(promising(self, overlay))

    def _keep(self, pairs: Bools) -> None:
        """Leave out all other pairs."""
        number = np.cumsum(pairs) - 1
        entries = pairs[self.entry_pair]
        self.u, self.v, self.n_pairs = self.u[pairs], self.v[pairs], int(pairs.sum())
        self.entry_pair = number[self.entry_pair[entries]].astype(np.int32)
        self.entry_topic = self.entry_topic[entries]
        self.entry_a, self.entry_b = self.entry_a[entries], self.entry_b[entries]
        self.entry_ptr = np.searchsorted(self.entry_topic, np.arange(len(self.slot_ptr)))

    def violated(self, x: Floats) -> list[SumRow]:
        """Return rows of partitions, and where there are none and x is whole, rows for the bound on hops."""
        rows = super().violated(x)
        if rows or self.bound is None or ((x > 1e-6) & (x < 1 - 1e-6)).any():
            return rows
        chosen = x > 0.5
        overlay = Overlay.from_edges(self.interest.node_ids, self.u[chosen], self.v[chosen])
        found = topic_hops(self.interest, overlay)
        for topic in np.flatnonzero(found > self.bound).tolist():
            rows += self._jumps(self.interest.nodes_of(topic), chosen)
        return rows

    def _jumps(self, nodes: Ints, chosen: Bools) -> list[SumRow]:
        """Demand that a pair jumps over a level, from each of a few nodes that have others too far away.

        Nodes of a topic lie in levels by their hops from one of them. Who is in a level beyond the bound is
        only reached within it by a path with a pair that leaves out a level.
        """
        assert self.bound is not None
        place = np.full(self.interest.n_nodes, -1)
        place[nodes] = np.arange(len(nodes))
        pairs = np.flatnonzero((place[self.u] >= 0) & (place[self.v] >= 0))
        a, b, used = place[self.u[pairs]], place[self.v[pairs]], chosen[pairs]
        rows: list[SumRow] = []
        for source in range(len(nodes)):
            level = levels_from(source, len(nodes), a[used], b[used], self.bound + 1)
            if level.max() > self.bound:
                jumps = np.abs(level[a] - level[b]) > 1
                rows.append(SumRow(pairs[jumps].astype(np.int32), least=1.0))
                if len(rows) == SOURCES:
                    break
        return rows


def levels_from(source: int, n: int, a: Longs, b: Longs, most: int) -> Longs:
    """Return the hops from `source` over the edges (a, b), `most` for all that are farther."""
    level = np.full(n, most)
    level[source] = 0
    for hops in range(1, most):
        reached = np.concatenate((b[level[a] == hops - 1], a[level[b] == hops - 1]))
        reached = reached[level[reached] == most]
        if len(reached) == 0:
            break
        level[reached] = hops
    return level


def promising(program: ExactProgram, overlay: Overlay) -> Bools:
    """Return which pairs may be edges: those of the overlay, and of each node those of most topics."""
    shared = np.bincount(program.entry_pair, minlength=program.n_pairs)
    n = program.n_nodes
    kept = np.isin(NodePairs(program.u, program.v).keys(n), NodePairs(overlay.u, overlay.v).keys(n))
    number = np.arange(program.n_pairs)
    node = np.concatenate((program.u, program.v))
    pair = np.concatenate((number, number))
    order = np.lexsort((pair, -shared[pair], node))
    node, pair = node[order], pair[order]
    first = np.searchsorted(node, node)
    kept[pair[np.arange(len(node)) - first < PARTNERS]] = True
    return kept
