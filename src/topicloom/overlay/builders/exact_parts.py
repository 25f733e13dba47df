"""The exact builder's search, part by part of the interest, and how the pieces are put together again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Bools, Longs
from topicloom.base.solver.branch_and_cut import BranchAndCut, SearchResult
from topicloom.base.solver.linear_program import Budget, Unfinished
from topicloom.overlay.builders.exact_program import ExactProgram
from topicloom.overlay.builders.exact_reduction import Part, ReducedInterest, reduce_interest
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

Edges = tuple[NDArray[Any], NDArray[Any]]
WORK = ("pairs", "rounds", "cuts", "branches")  # what a report counts


@dataclass(frozen=True, slots=True)
class ExactAnswer:
    """Edges, what no overlay can go below, and how much work it was."""

    edges: Edges
    edges_bound: int
    degree_bound: int
    by_degree: bool = False
    work: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(WORK, 0))


class PartSearch:
    """One part: edges that serve it (those of the start at first), and bounds on any others.

    With `capped` its program limits the degrees. `leaves` nodes hang on the part but are not in its program;
    they count in the start and in both bounds.
    """

    def __init__(self, part: Part, start: Edges, budget: Budget, *, leaves: int = 0, capped: bool) -> None:
        self.part, self.budget, self.leaves, self.capped = part, budget, leaves, capped
        self.known = start
        self.known_degree = int(np.bincount(np.concatenate(start)).max())
        self.n_nodes = len(part.nodes) + leaves
        self.bound = self.n_nodes - 1
        self.degree = math.ceil(2 * self.bound / self.n_nodes)  # no overlay of the part has less
        self.program: ExactProgram | None = None
        self.search: BranchAndCut | None = None
        self.others: tuple[PartSearch, ...] = ()

    def fewest_edges(self) -> None:
        """Close the gap between `bound` and `size`."""
        if self.bound < self.size:
            search = self._opened()
            search.root()
            search.minimise()

    def lowest_degree(self, degree: int) -> int:
        """Return the lowest maximum degree it can have, from `degree` on; its edges keep to that."""
        self.degree = max(degree, self.degree)
        while self.degree < self.known_degree:
            self.budget.progress.phase(f"search: is a maximum degree of {self.degree} possible?")
            search = self._opened()
            self._cap(math.inf)
            if search.root() and (search.best is not None or search.search(math.inf) is SearchResult.FOUND):
                self.known = self.edges()
                self.known_degree = self.degree
                break
            self.degree += 1
        return self.degree

    def fewest_edges_at(self, degree: int) -> None:
        """Find the fewest edges with no degree above `degree`, which is possible."""
        self.degree = degree
        if self.bound < self.size:
            self._cap(self.size)
            self.fewest_edges()

    def edges(self) -> Edges:
        """Return the best edges so far; those of the search, if there are any, lack the leaves."""
        if self.program is None or self.search is None or self.search.best is None:
            return self.known
        nodes = np.array(self.part.nodes)
        chosen = self.search.best
        return nodes[self.program.u[chosen]], nodes[self.program.v[chosen]]

    @property
    def size(self) -> int:
        """Count the best edges, leaves included."""
        return len(self.edges()[0]) + self.leaves * self.found

    @property
    def found(self) -> bool:
        """Has the search found edges better than the known ones?"""
        return self.search is not None and self.search.best is not None

    def _opened(self) -> BranchAndCut:
        if self.search is None:
            self.program = ExactProgram(self.part, self.budget.progress)
            rows = self.program.degree_rows(self.degree) if self.capped else []
            self.search = BranchAndCut(
                self.program.n_pairs,
                [*rows, *self.program.start_rows()],
                self.program.violated,
                least=len(self.part.nodes) - 1,
                upper=self.size - self.leaves,
                budget=self.budget,
                tell=self._tell,
            )
        return self.search

    def _cap(self, upper: float) -> None:
        """Begin again with the present degree as the cap: its rows are the first ones."""
        search = self._opened()
        for row in range(len(self.part.nodes)):
            search.lp.change_row(row, -math.inf, float(self.degree))
        search.restart(upper)

    def _tell(self, bound: int, upper: float) -> None:
        """Take over what the search has learnt, and show the sums over all pieces."""
        self.bound = bound + self.leaves
        if math.isfinite(upper):
            edges, least = sum(piece.size for piece in self.others), sum(piece.bound for piece in self.others)
            self.budget.progress.phase(f"search: {edges:,} edges, at least {least:,}")


def fewest_edges(interest: Interest, start: Overlay, budget: Budget) -> ExactAnswer:
    """Find the fewest edges, starting from those of `start`, which must be topic-connected."""
    reduced = reduce_interest(interest, leaves=True)
    home, n_homes = _homes(reduced, interest.n_nodes)
    leaves = np.bincount(home[[leaf for leaf, _ in reduced.leaves]], minlength=n_homes)
    pieces = _pieces(reduced, start, home, budget, leaves=leaves, capped=False)
    with suppress(Unfinished):
        for piece in pieces:
            piece.fewest_edges()
    # Parts that were nothing but leaves are trees; an edge more, and one for the node they hang on.
    bounds = np.append([piece.bound for piece in pieces], leaves[len(pieces) :]).astype(np.int64)
    sizes = np.append([piece.n_nodes for piece in pieces], leaves[len(pieces) :] + 1).astype(np.int64)
    renewed = np.append([piece.found for piece in pieces], np.ones(n_homes - len(pieces))).astype(bool)
    edges = _hang_leaves(reduced, _joined(pieces), renewed[home], interest.n_nodes)
    return _answer(pieces, edges, int(bounds.sum()), int(np.ceil(2 * bounds / sizes).max(initial=0)))


def lowest_degree(interest: Interest, start: Overlay, budget: Budget) -> ExactAnswer:
    """Find the lowest maximum degree and then the fewest edges at that degree, starting from `start`."""
    reduced = reduce_interest(interest, leaves=False)
    home, _ = _homes(reduced, interest.n_nodes)
    pieces = _pieces(reduced, start, home, budget, leaves=np.zeros(len(reduced.parts), np.int64), capped=True)
    degree = 0
    with suppress(Unfinished):
        try:
            for piece in pieces:
                degree = piece.lowest_degree(degree)
        finally:  # what was learnt under lower caps holds for those only
            for piece in pieces:
                piece.bound = piece.n_nodes - 1
        for piece in pieces:
            piece.fewest_edges_at(degree)
    bound = max((piece.degree for piece in pieces), default=0)
    return _answer(pieces, _joined(pieces), sum(p.bound for p in pieces), bound, by_degree=True)


def _pieces(
    reduced: ReducedInterest, start: Overlay, home: Longs, budget: Budget, *, leaves: Longs, capped: bool
) -> tuple[PartSearch, ...]:
    pieces = []
    for number, part in enumerate(reduced.parts):
        inside = home[start.u] == number
        extra = int(leaves[number])
        pieces.append(
            PartSearch(part, (start.u[inside], start.v[inside]), budget, leaves=extra, capped=capped)
        )
    for piece in pieces:
        piece.others = tuple(pieces)
    return tuple(pieces)


def _homes(reduced: ReducedInterest, n_nodes: int) -> tuple[Longs, int]:
    """Return the part of each node, leaves included; leaves that hang on no part get further numbers.

    A node without a partner is numbered too, but nothing is ever asked about it.
    """
    home = np.full(n_nodes, -1, dtype=np.int64)
    for number, part in enumerate(reduced.parts):
        home[list(part.nodes)] = number
    count = len(reduced.parts)
    for leaf, hosts in reversed(reduced.leaves):
        if home[hosts[0]] < 0:
            home[hosts[0]] = count
            count += 1
        home[leaf] = home[hosts[0]]
    return home, count


def _joined(pieces: tuple[PartSearch, ...]) -> Edges:
    none = (np.zeros(0, np.int64), np.zeros(0, np.int64))
    u, v = zip(none, *(piece.edges() for piece in pieces), strict=True)
    return np.concatenate(u), np.concatenate(v)


def _hang_leaves(reduced: ReducedInterest, edges: Edges, renewed: Bools, n_nodes: int) -> Edges:
    """Add each leaf of a renewed part under the host of lowest degree, then smallest number."""
    degree = np.bincount(np.concatenate(edges), minlength=n_nodes)
    hung = []
    for leaf, hosts in reversed(reduced.leaves):
        if renewed[leaf]:
            host = min(hosts, key=lambda node: (degree[node], node))
            degree[[leaf, host]] += 1
            hung.append((leaf, host))
    more = np.array(hung, dtype=np.int64).reshape(-1, 2)
    return np.concatenate((edges[0], more[:, 0])), np.concatenate((edges[1], more[:, 1]))


def _answer(
    pieces: tuple[PartSearch, ...],
    edges: Edges,
    edges_bound: int,
    degree_bound: int,
    *,
    by_degree: bool = False,
) -> ExactAnswer:
    searches = [piece.search for piece in pieces if piece.search is not None]
    pairs = sum(piece.program.n_pairs for piece in pieces if piece.program is not None)
    sums = (sum(getattr(search, name) for search in searches) for name in ("rounds", "cuts", "nodes"))
    work = dict(zip(WORK, (pairs, *sums), strict=True))
    return ExactAnswer(edges, edges_bound, degree_bound, by_degree, work)
