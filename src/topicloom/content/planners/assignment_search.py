"""An assignment under improvement: passes of local search and slices of annealing on the exact cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Floats, Ints, Longs, pointers, sealed
from topicloom.base.progress import Progress, check_stop
from topicloom.content.kernels.anneal import anneal
from topicloom.content.kernels.assignment import AssignmentState, ProblemArrays, settle
from topicloom.content.kernels.broker_trees import FREE
from topicloom.content.kernels.group_moves import attract, gather, vacate
from topicloom.content.kernels.move_bounds import UNKNOWN
from topicloom.content.kernels.user_moves import descend, push
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.content.planners.cost import search_arrays

SLICE = 256
"""Users per kernel call, so that a request to stop is heard."""
LEAST = 1e-9
"""A change must save this share of the total cost: less is rounding."""
PUSHED = 4
"""Guests of a full broker that are tried as the one to go."""
GATHERED = 16
"""Subscribers of a channel on one broker that may leave it together."""
REGROUPED = 100_000
"""Pairs of a user and a broker up to which blocks of users are tried: their number grows faster."""
SMALLEST_BLOCK = 4
WORTH = 1e-3
"""Blocks are tried again if they saved this share of the cost."""
BLOCK = 4096
NEAR = 8
"""Brokers with the lowest access price that annealing proposes more often."""


@dataclass(slots=True)
class AssignmentSearch:
    """One assignment, all tables that follow from it, and the moves that change it."""

    problem: ContentProblem
    fixed: ProblemArrays
    state: AssignmentState
    tries: int
    progress: Progress
    order: Ints
    alike: Ints
    estimate: Floats
    left: Ints
    until: float | None = None
    moves: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls, problem: ContentProblem, model: CoreModel, assignment: Ints, *, tries: int, progress: Progress
    ) -> AssignmentSearch:
        """Start from an assignment; the users with the most traffic come first in a pass."""
        fixed, state = search_arrays(problem, model, assignment)
        order = np.argsort(-problem.demand, kind="stable").astype(np.int32)
        alike = np.argsort(interest_centers(problem), kind="stable").astype(np.int32)
        estimate, left = np.zeros(problem.n_brokers), np.zeros(problem.n_channels, dtype=np.int32)
        return cls(problem, fixed, state, tries, progress, order, alike, estimate, left)

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

    def over(self) -> bool:
        """Has the time passed? Raises if the user asked to stop."""
        check_stop(self.progress)
        return self.until is not None and self.progress.now() >= self.until

    def descend(self, *, thorough: bool = False) -> float:
        """Every user migrates to its best broker with room, if that saves; the change of cost.

        It may cost something that users leave overloaded brokers. `thorough`: users that were passed over,
        as they can only save if trees get lighter by a new broker.
        """
        gained = 0.0
        least = LEAST * self.total
        for users in self._slices():
            moves, change = descend(self.fixed, self.state, users, self.tries, least, thorough, self.estimate)
            gained += self._count("migrate", moves, change)
        return gained

    def push(self, *, thorough: bool = False) -> float:
        """Users take the place of others on full brokers (swaps and chains); the change of cost."""
        gained = 0.0
        least = LEAST * self.total
        found = np.zeros(PUSHED, dtype=np.int32)
        ptr, guests = self._guests()
        for users in self._slices():
            moves, change = push(
                self.fixed, self.state, users, ptr, guests, self.tries, least, thorough, self.estimate, found
            )
            gained += self._count("push", moves, change)
        return gained

    def close(self) -> float:
        """Brokers give up all their users, the least loaded first, where that saves; the change of cost."""
        gained, least = 0.0, LEAST * self.total
        for broker in np.argsort(self.state.load, kind="stable").tolist():
            if self.over():
                break
            gained += self._vacate(broker, self.order, least)
        return gained

    def regroup(self) -> float:
        """Users of like interest come to a broker together, or leave it together; the change of cost.

        Blocks of the users in the order of their interest: all, halves, quarters and so on, each overlapping
        its neighbours by half.
        """
        gained = 0.0
        least = LEAST * self.total
        trail = np.zeros(self.problem.n_users, dtype=np.int32)
        for broker in range(self.problem.n_brokers):
            for block in _blocks(self.alike):
                if self.over():
                    return gained
                moves, change = attract(self.fixed, self.state, broker, block, least, trail[: len(block)])
                gained += self._count("attract", moves, change)
                gained += self._vacate(broker, block, least)
        return gained

    def _vacate(self, broker: int, users: Ints, least: float) -> float:
        guests = users[self.state.broker[users] == broker]
        if not len(guests):
            return 0.0
        moves, change = vacate(
            self.fixed, self.state, broker, guests, self.tries, least, self.estimate, self.left
        )
        return self._count("vacate", moves, change)

    def gather(self) -> float:
        """Few subscribers of a channel leave a broker together, where that saves; the change of cost."""
        gained = 0.0
        least = LEAST * self.total
        for channel in range(self.problem.n_channels):
            counts = self.state.wanted[channel]
            if not np.any((counts > 1) & (counts <= GATHERED)) or not self.problem.channel_rate[channel]:
                continue
            if self.over():
                break
            moves, change = gather(
                self.fixed,
                self.state,
                channel,
                self.problem.subscribers_of(channel),
                GATHERED,
                self.tries,
                least,
                self.estimate,
                self.left,
            )
            gained += self._count("gather", moves, change)
        return gained

    def reach_local_optimum(self) -> None:
        """To a local optimum: no migration or push saves anything more, no user can leave an overload.

        Nor any gathering or closing of a broker, but for what trees get lighter by new brokers then. Or as
        far as the time goes, if it is limited (`until`).
        """
        while True:
            while self._moved(self.descend):
                pass
            if not self._moved(self.push, self.gather, self.close):
                self.state.relieved[:] = UNKNOWN
                looks = partial(self.descend, thorough=True), partial(self.push, thorough=True)
                if self.fixed.code != FREE or not self._moved(*looks):
                    return

    def _moved(self, *passes: Callable[[], float]) -> bool:
        """Did users move? The change of cost does not say it: who leaves an overload may pay for it."""
        before = sum(self.moves.values())
        for each in passes:
            each()
        return sum(self.moves.values()) > before

    def reach_block_optimum(self) -> None:
        """To a local optimum that blocks of users do not improve by much either."""
        self.reach_local_optimum()
        if self.problem.n_users * self.problem.n_brokers <= REGROUPED:
            while self.regroup() < -WORTH * self.total:
                self.reach_local_optimum()

    def cool(self, near: Ints, counter: int, proposals: int, start: float, end: float) -> int:
        """A slice of annealing; the counter of its random stream."""
        check_stop(self.progress)
        after, change, taken = anneal(self.fixed, self.state, near, np.uint64(counter), proposals, start, end)
        self._count("anneal", taken, change)
        return int(after)

    def _slices(self) -> Iterator[Ints]:
        for first in range(0, len(self.order), SLICE):
            if self.over():
                return
            yield self.order[first : first + SLICE]

    def _guests(self) -> tuple[Longs, Ints]:
        guests = np.argsort(self.state.broker, kind="stable").astype(np.int32)
        return pointers(self.state.broker, self.problem.n_brokers), guests

    def _count(self, kind: str, moves: int, change: float) -> float:
        self.moves[kind] = self.moves.get(kind, 0) + int(moves)
        return float(change)


def near_brokers(problem: ContentProblem) -> Ints:
    """For every user the brokers with the lowest access prices, in order of their numbers."""
    n = min(NEAR, problem.n_brokers)
    near = np.zeros((problem.n_users, n), dtype=np.int32)
    for first in range(0, problem.n_users, BLOCK):
        rows = slice(first, first + BLOCK)
        near[rows] = np.sort(np.argpartition(problem.access[rows], n - 1, axis=1)[:, :n], axis=1)
    return sealed(near)


def _blocks(users: Ints) -> Iterator[Ints]:
    """All users, then overlapping halves, quarters and so on."""
    yield users
    size = len(users) // 2
    while size >= SMALLEST_BLOCK:
        for first in range(0, len(users) - size // 2, size // 2):
            yield users[first : first + size]
        size //= 2


def interest_centers(problem: ContentProblem) -> Floats:
    """The middle of the channels each user wants; for those that want none, of what they publish."""
    lengths = (1.0 + problem.want_last - problem.want_first).astype(np.float64)
    wanted = _means(problem.want_ptr, (problem.want_first + problem.want_last) / 2.0, lengths)
    published = _means(problem.rate_ptr, problem.rate_channels, problem.rates)
    return np.where(wanted >= 0.0, wanted, published)


def _means(ptr: Longs, place: NDArray[Any], weight: Floats) -> Floats:
    """The weighted mean place of every owner's entries; -1 without any."""
    n = len(ptr) - 1
    owner = np.repeat(np.arange(n), np.diff(ptr))
    total = np.bincount(owner, weights=weight, minlength=n)
    moment = np.bincount(owner, weights=place * weight, minlength=n)
    means: Floats = np.divide(moment, total, out=np.full(n, -1.0), where=total > 0)
    return means
