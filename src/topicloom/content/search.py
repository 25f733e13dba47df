"""An assignment under improvement: passes of local search and slices of annealing on the exact cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from topicloom.content.core_model import CoreModel
from topicloom.content.cost import search_state
from topicloom.kernels.anneal import anneal
from topicloom.kernels.assignment import Fixed, State, settle
from topicloom.kernels.migrate import descend, gather, push, vacate
from topicloom.model.arrays import pointers, sealed
from topicloom.model.content import ContentProblem, Floats, Ints
from topicloom.model.progress import Progress, check_stop

SLICE = 256
"""Users per kernel call, so that a request to stop is heard."""
LEAST = 1e-9
"""A change must save this share of the total cost: less is rounding."""
PUSHED = 4
"""Guests of a full broker that are tried as the one to go."""
GATHERED = 16
"""Subscribers of a channel on one broker that may leave it together."""
NEAR = 8
"""Brokers with the lowest access price that annealing proposes more often."""


@dataclass(slots=True)
class Search:
    """One assignment, all tables that follow from it, and the moves that change it."""

    problem: ContentProblem
    fixed: Fixed
    state: State
    tries: int
    progress: Progress
    order: Ints
    estimate: Floats
    moves: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls, problem: ContentProblem, model: CoreModel, assignment: Ints, *, tries: int, progress: Progress
    ) -> Search:
        """Start from an assignment; users with the most traffic come first in every pass."""
        fixed, state = search_state(problem, model, assignment)
        order = np.argsort(-problem.demand, kind="stable").astype(np.int32)
        return cls(problem, fixed, state, tries, progress, order, np.zeros(problem.n_brokers))

    @property
    def total(self) -> float:
        """The cost of the assignment."""
        access = self.problem.access[np.arange(self.problem.n_users), self.state.broker]
        return float(np.sum(self.problem.demand * access) + np.sum(self.state.cost))

    @property
    def overflow(self) -> float:
        """How much the loads exceed what fits."""
        return float(np.sum(np.maximum(self.state.load - self.fixed.capacity, 0.0)))

    def reset(self, assignment: Ints) -> None:
        """Go on from another assignment."""
        self.state.broker[:] = assignment
        settle(self.fixed, self.state)

    def descend(self) -> float:
        """Every user migrates to its best broker with room, if that saves; the change of cost."""
        gained = 0.0
        least = LEAST * self.total
        for users in self._slices():
            moves, change = descend(self.fixed, self.state, users, self.tries, least, self.estimate)
            gained += self._count("migrate", moves, change)
        return gained

    def push(self) -> float:
        """Users take the place of others on full brokers (swaps and chains); the change of cost."""
        gained = 0.0
        least = LEAST * self.total
        found = np.zeros(PUSHED, dtype=np.int32)
        ptr, guests = self._guests()
        for users in self._slices():
            moves, change = push(
                self.fixed, self.state, users, ptr, guests, self.tries, least, self.estimate, found
            )
            gained += self._count("push", moves, change)
        return gained

    def close(self) -> float:
        """Brokers give up all their users, the least loaded first, where that saves; the change of cost."""
        gained = 0.0
        least = LEAST * self.total
        for broker in np.argsort(self.state.load, kind="stable").tolist():
            check_stop(self.progress)
            guests = self.order[self.state.broker[self.order] == broker]
            if len(guests):
                moves, change = vacate(
                    self.fixed, self.state, broker, guests, self.tries, least, self.estimate
                )
                gained += self._count("close", moves, change)
        return gained

    def gather(self) -> float:
        """Few subscribers of a channel leave a broker together, where that saves; the change of cost."""
        gained = 0.0
        least = LEAST * self.total
        for channel in range(self.problem.n_channels):
            counts = self.state.wanted[channel]
            if not np.any((counts > 1) & (counts <= GATHERED)) or not self.problem.channel_rate[channel]:
                continue
            check_stop(self.progress)
            moves, change = gather(
                self.fixed,
                self.state,
                channel,
                self.subscribers(channel),
                GATHERED,
                self.tries,
                least,
                self.estimate,
            )
            gained += self._count("gather", moves, change)
        return gained

    def subscribers(self, channel: int) -> Ints:
        """All users that want a channel."""
        problem = self.problem
        hit = (problem.want_first <= channel) & (channel <= problem.want_last)
        ranges = np.flatnonzero(hit)
        return (np.searchsorted(problem.want_ptr, ranges, side="right") - 1).astype(np.int32)

    def settle_down(self, passes: int = 100) -> None:
        """To a local optimum: no migration, push or closing of a broker saves anything more."""
        for _ in range(passes):
            while self.descend() < 0.0:
                pass
            if not (self.push() + self.gather() + self.close() < 0.0):
                return

    def cool(self, near: Ints, counter: int, proposals: int, start: float, end: float) -> int:
        """A slice of annealing; the counter of its random stream."""
        check_stop(self.progress)
        after, change, taken = anneal(self.fixed, self.state, near, np.uint64(counter), proposals, start, end)
        self._count("anneal", taken, change)
        return int(after)

    def _slices(self) -> Iterator[Ints]:
        for first in range(0, len(self.order), SLICE):
            check_stop(self.progress)
            yield self.order[first : first + SLICE]

    def _guests(self) -> tuple[Floats, Ints]:
        guests = np.argsort(self.state.broker, kind="stable").astype(np.int32)
        return pointers(self.state.broker, self.problem.n_brokers), guests

    def _count(self, kind: str, moves: int, change: float) -> float:
        self.moves[kind] = self.moves.get(kind, 0) + int(moves)
        return float(change)


def near_brokers(problem: ContentProblem) -> Ints:
    """For every user the brokers with the lowest access prices, cheapest first."""
    n = min(NEAR, problem.n_brokers)
    nearest = np.argpartition(problem.access, n - 1, axis=1)[:, :n]
    return sealed(np.sort(nearest, axis=1).astype(np.int32))
