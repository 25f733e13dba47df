"""Branch and cut for 0/1 variables: the fewest of them that satisfy rows which an oracle finds on demand.

Rows are looked for at every node of the tree, fractional solutions included: there are far too many to list,
and the library's own tree has no dependable way to add any on the way. Two things make it fast where the
linear bound is close to the optimum, which is the rule here. Only solutions of at most a target are looked
for, so most branches end at once; and reduced costs tell which variables such a solution cannot use or
cannot do without. A target that nothing meets raises the lower bound by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from topicloom.base.arrays import Bools, Floats
from topicloom.base.solver.linear_program import Budget, LinearProgram, SumRow

MARGIN = 1e-4  # what a linear optimum may be off by; every bound is rounded with this much doubt
FRACTIONAL = 1e-6
FIRST_NODES = 100  # nodes of the first search for a target, doubled each time around
KEPT_ROWS = 200
DIVE_EVERY = 20  # nodes between two dives
DIVE_SHARE = 0.1  # of the fractional variables that a step of a dive fixes

Oracle = Callable[[Floats], list[SumRow]]
Tell = Callable[[int, float], None]
Fixed = dict[int, int]


class SearchResult(Enum):
    """What a search for a target has found."""

    FOUND = "a solution"
    NONE = "there is none"
    OPEN = "neither within the given number of nodes"


class _Branch(NamedTuple):
    """The step from a node to its child: which variable, to 0 or 1, how far it moved, the value before."""

    column: int
    side: int
    distance: float
    value: float


class BranchAndCut:
    """One minimisation: `bound` <= optimum <= `upper`, and `best` the solution of that size if one was found.

    `rows` are demanded from the start, `oracle` gives rows that a solution violates (none: it is valid).
    `upper` is the size of a solution the caller has. `tell(bound, upper)` is called when either changes.
    """

    def __init__(
        self,
        n_columns: int,
        rows: Sequence[SumRow],
        oracle: Oracle,
        *,
        least: int,
        upper: float,
        budget: Budget,
        tell: Tell,
    ) -> None:
        self.lp = LinearProgram(n_columns, budget)
        self.lp.add_rows(rows)
        self.oracle, self.budget, self.tell = oracle, budget, tell
        self.least = least
        self._least_x, self._most_x = np.zeros(n_columns), np.ones(n_columns)
        self.restart(upper)
        self.n_start = len(rows)
        self.found: list[float] = []  # what each row found by the oracle demands
        self.rounds = self.cuts = self.nodes = 0
        self._gain, self._tries = np.zeros((2, n_columns)), np.zeros((2, n_columns))

    # --- the steps ---------------------------------------------------------------------------------

    def within(self, least: Floats, most: Floats) -> None:
        """Keep each variable between these from the next restart on; the rows found so far hold anyway."""
        self._least_x, self._most_x = least, most

    def forget(self, most: float) -> None:
        """Drop the rows that the last optimum did not need if there are more than `most`."""
        self.keep = most
        self._drop_slack_rows()

    def restart(self, upper: float) -> None:
        """Forget bounds and solutions, keep the rows: after a row of the start has been changed."""
        self.bound, self.upper = self.least, upper
        self.best: Bools | None = None
        self.keep = math.inf
        n = self.lp.n_columns
        self._root_x, self._root_costs, self._root_value = np.full(n, 0.5), np.zeros(n), -math.inf
        self._aim(math.inf)

    def root(self) -> bool:
        """Solve the linear program with all rows it violates; False if there is no solution at all."""
        x = self._solve(math.inf, root=True)
        if x is None:
            return False
        self._root_x, self._root_costs, self._root_value = x, self.lp.reduced_costs, self.lp.value
        self.keep = max(KEPT_ROWS, 2 * len(self.found))
        if self.bound < self.upper:
            self._accept(x)
        return True

    def minimise(self) -> None:
        """Close the gap between `bound` and `upper`; `Unfinished` when the time is over before."""
        nodes, dived = FIRST_NODES, False
        while self.bound < self.upper:
            self.search(self.bound, nodes)
            if self.bound < self.upper and not dived:
                dived = self.dive(self.upper - 1) or True
            if self.bound < self.upper - 1:
                self.search(self.upper - 1, nodes)  # easier to meet: a better solution in the meantime
            nodes *= 2

    def search(self, most: float, nodes: float = math.inf) -> SearchResult:
        """Look for a solution of at most `most` by depth-first search over at most so many nodes."""
        self._aim(most)
        last, next_dive = self.nodes + nodes, self.nodes
        stack: list[tuple[Fixed, _Branch | None]] = [({}, None)]
        while stack:
            if self.nodes >= last:
                return SearchResult.OPEN
            fixed, branch = stack.pop()
            self._visit(fixed)
            x = self._solve(most)
            if branch is not None:
                # What it raised the linear optimum by, per unit: pseudo-costs.
                given_up = (most if math.isfinite(most) else branch.value) + 1
                raised = max((given_up if x is None else self.lp.value) - branch.value, 0)
                self._gain[branch.side, branch.column] += raised / branch.distance
                self._tries[branch.side, branch.column] += 1
            if x is None:
                continue
            if self._accept(x):
                return SearchResult.FOUND
            self._drop_slack_rows()
            column, value = self._choose(x), self.lp.value
            if self.nodes >= next_dive:
                if self.dive(most, fixed, DIVE_SHARE):
                    return SearchResult.FOUND
                next_dive = self.nodes + DIVE_EVERY
            stack.append(({**fixed, column: 0}, _Branch(column, 0, x[column], value)))
            stack.append(({**fixed, column: 1}, _Branch(column, 1, 1 - x[column], value)))
        if math.isfinite(most):
            self._raise_bound(most + 1)
        return SearchResult.NONE

    def dive(self, most: float, fixed: Fixed | None = None, share: float = 0.0) -> bool:
        """Look for a solution of at most `most`: fix large fractional variables to 1 until none is left.

        Each step fixes that share of them, at least one; it starts where `fixed` are fixed already.
        """
        if fixed is None:
            self._aim(most)
        fixed = dict(fixed or {})
        while (x := self._solve(most)) is not None and not self._accept(x):
            fractions = np.where(_is_fractional(x), x, 0)
            count = max(1, math.ceil(share * np.count_nonzero(fractions)))
            fixed.update((int(column), 1) for column in np.argsort(-fractions, kind="stable")[:count])
            self._visit(fixed)
        return x is not None

    # --- linear programs ---------------------------------------------------------------------------

    def _solve(self, most: float, root: bool = False) -> Floats | None:
        """Return the linear optimum under the present bounds with no row violated; None above `most`."""
        while self.lp.solve(most + MARGIN):
            self.rounds += 1
            x = self.lp.x
            if root:
                self._raise_bound(math.ceil(self.lp.value - MARGIN))
                if self.bound >= self.upper:
                    return x
            rows = self.oracle(x)
            if not rows:
                return x
            self.cuts += len(rows)
            self.found += [row.least for row in rows]
            self.lp.add_rows(rows)
        return None

    def _drop_slack_rows(self) -> None:
        """Keep the programs small: once there are many rows, those the last optimum does not need go."""
        if len(self.found) <= self.keep:
            return
        demands = np.array(self.found)
        slack = self.lp.sums[self.n_start :] > demands + FRACTIONAL
        self.lp.delete_rows(self.n_start + np.flatnonzero(slack))
        self.found = demands[~slack].tolist()

    def _aim(self, most: float) -> None:
        """Set the bounds for solutions of at most `most`: fix what their reduced cost forbids."""
        room = most - self._root_value + MARGIN
        free = np.isinf(room) | (np.abs(self._root_costs) <= room)
        self._lower = np.where(~free & (self._root_x > 1 - FRACTIONAL), 1.0, self._least_x)
        self._upper = np.where(~free & (self._root_x < FRACTIONAL), 0.0, self._most_x)
        self._fixed: Fixed = {}
        self.lp.bound(np.arange(self.lp.n_columns), self._lower, self._upper)

    def _visit(self, fixed: Fixed) -> None:
        """Move the bounds to those of another node."""
        self.nodes += 1
        freed = [column for column in self._fixed if column not in fixed]
        moved = [column for column, value in fixed.items() if self._fixed.get(column) != value]
        lower = [*self._lower[freed], *(float(fixed[column]) for column in moved)]
        upper = [*self._upper[freed], *(float(fixed[column]) for column in moved)]
        if freed or moved:
            self.lp.bound(np.array(freed + moved), np.array(lower), np.array(upper))
        self._fixed = fixed.copy()

    # --- bookkeeping -------------------------------------------------------------------------------

    def _accept(self, x: Floats) -> bool:
        """Keep x if it is whole; False if it is not."""
        if _is_fractional(x).any():
            return False
        size = round(float(x.sum()))
        if size < self.upper:
            self.best, self.upper = x > 0.5, size
            self.tell(self.bound, self.upper)
        return True

    def _raise_bound(self, bound: float) -> None:
        if self.bound < min(bound, self.upper):
            self.bound = int(min(bound, self.upper))
            self.tell(self.bound, self.upper)

    def _choose(self, x: Floats) -> int:
        """Return the fractional variable that raises the linear optimum most on both sides, by experience."""
        columns = np.flatnonzero(_is_fractional(x))
        score = np.ones(len(columns))
        for side, distance in ((0, x[columns]), (1, 1 - x[columns])):
            tries, gain = self._tries[side], self._gain[side]
            usual = gain.sum() / max(tries.sum(), 1)
            tried = tries[columns]
            score *= np.maximum(
                np.where(tried > 0, gain[columns] / np.maximum(tried, 1), usual) * distance, 1e-4
            )
        return int(columns[(score * (1 + FRACTIONAL * np.minimum(x, 1 - x)[columns])).argmax()])


def _is_fractional(x: Floats) -> Bools:
    return (x > FRACTIONAL) & (x < 1 - FRACTIONAL)
