"""An assignment under improvement: passes of local search and slices of annealing on the exact cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Floats, Ints, Longs, pointers, sealed
from topicloom.base.progress import Progress, check_stop
from topicloom.content.kernels.anneal import anneal
from topicloom.content.kernels.assignment import AssignmentState, ProblemArrays, fill_state
from topicloom.content.kernels.broker_trees import FREE
from topicloom.content.kernels.group_moves import attract, gather, vacate
from topicloom.content.kernels.move_bounds import UNKNOWN
from topicloom.content.kernels.user_moves import descend, push
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.content.planners.cost import search_arrays

SLICE = 256  # users per kernel call, so that a request to stop is heard
LEAST = 1e-9  # a change must save this share of the total cost: less is rounding
PUSHED = 4  # users of a full broker that are tried as the one to leave
GATHERED = 16  # subscribers of a channel on one broker that may leave it together
REGROUPED = 100_000  # pairs of a user and a broker up to which blocks of users are tried
SMALLEST_BLOCK = 4
WORTH = 1e-3  # blocks are tried again if they saved this share of the cost
BLOCK = 4096
PROPOSALS = 10_000  # of annealing in one call: well under a second
COOLED = 1.0 / 300.0  # a round of annealing ends at this share of its first temperature
NEAR = 8  # brokers with the lowest access price that annealing proposes more often


@dataclass(slots=True)
class AssignmentSearch:
    """One assignment, all tables that follow from it, and the moves that change it.

    Every move returns the change of cost. `until` is the time at which the search ends, if it is limited.
    `best` is the best assignment that was noted, `least` its overflow and cost.
    """

    problem: ContentProblem
    fixed: ProblemArrays
    state: AssignmentState
    tries: int
    progress: Progress
    order: Ints
    alike: Ints
    best: Ints
    until: float | None = None
    least: tuple[float, float] = (inf, inf)
    moves: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(
        cls, problem: ContentProblem, model: CoreModel, assignment: Ints, *, tries: int, progress: Progress
    ) -> AssignmentSearch:
        """Start from an assignment; users with the most traffic come first in a pass."""
        fixed, state = search_arrays(problem, model, assignment)
        order = np.argsort(-problem.demand, kind="stable").astype(np.int32)
        alike = np.argsort(interest_centers(problem), kind="stable").astype(np.int32)
        return cls(problem, fixed, state, tries, progress, order, alike, assignment)

    @property
    def total(self) -> float:
        """The cost of the assignment."""
        access = self.problem.access[np.arange(self.problem.n_users), self.state.broker]
        return float(np.sum(self.problem.demand * access) + np.sum(self.state.cost))

    @property
    def overflow(self) -> float:
        """How much the loads exceed the capacities in all."""
        return float(np.sum(np.maximum(self.state.load - self.fixed.capacity, 0.0)))

    def reset(self, assignment: Ints) -> None:
        """Continue from another assignment."""
        self.state.broker[:] = assignment
        fill_state(self.fixed, self.state)

    def note_best(self) -> None:
        """Keep the present assignment as `best` if it has the least overflow so far, then the least cost."""
        if (self.overflow, self.total) < self.least:
            self.least, self.best = (self.overflow, self.total), self.state.broker.copy()

    def out_of_time(self) -> bool:
        """Tell whether the time has passed; raise if the user asked to stop."""
        check_stop(self.progress)
        return self.until is not None and self.progress.now() >= self.until

    def descend(self, *, thorough: bool = False) -> float:
        """Migrate every user to its best broker with room, if that saves.

        Users leave overloaded brokers even at a cost. A `thorough` pass looks at the users that others pass
        over: they save only if trees get lighter with a new broker.
        """
        how = self.tries, LEAST * self.total, thorough
        return sum(self._apply("migrate", descend, users, *how) for users in self._slices())

    def push(self, *, thorough: bool = False) -> float:
        """Let users take the places of others on full brokers (swaps and chains)."""
        by_broker = np.argsort(self.state.broker, kind="stable").astype(np.int32)
        homes = pointers(self.state.broker, self.problem.n_brokers), by_broker
        how = homes, self.tries, LEAST * self.total, thorough, np.zeros(PUSHED, dtype=np.int32)
        return sum(self._apply("push", push, users, *how) for users in self._slices())

    def close(self) -> float:
        """Move all users off brokers, the least loaded first, where that saves."""
        gained, least = 0.0, LEAST * self.total
        for broker in np.argsort(self.state.load, kind="stable").tolist():
            if self.out_of_time():
                break
            gained += self._vacate(broker, self.order, least)
        return gained

    def regroup(self) -> float:
        """Move blocks of users of like interest to a broker, or off it, together where that saves.

        Blocks are taken in the order of interest: all users, halves, quarters and so on, each overlapping its
        neighbors by half.
        """
        gained, least = 0.0, LEAST * self.total
        trail = np.zeros(self.problem.n_users, dtype=np.int32)
        for broker in range(self.problem.n_brokers):
            for block in _blocks(self.alike):
                if self.out_of_time():
                    return gained
                gained += self._apply("attract", attract, broker, block, least, trail[: len(block)])
                gained += self._vacate(broker, block, least)
        return gained

    def _vacate(self, broker: int, users: Ints, least: float) -> float:
        leaving = users[self.state.broker[users] == broker]
        if not len(leaving):
            return 0.0
        return self._apply("vacate", vacate, broker, leaving, self.tries, least)

    def gather(self) -> float:
        """Move the few subscribers of a channel off a broker together, where that saves."""
        gained, found = 0.0, np.zeros(GATHERED, dtype=np.int32)
        how = found, self.tries, LEAST * self.total
        for channel in np.flatnonzero(self.problem.channel_rate).tolist():
            counts = self.state.wanted[channel]
            if np.any((counts > 1) & (counts <= GATHERED)):
                if self.out_of_time():
                    break
                users = self.problem.subscribers_of(channel)
                gained += self._apply("gather", gather, channel, users, *how)
        return gained

    def reach_local_optimum(self) -> None:
        """Improve until no migration or push saves anything more and no user can leave an overload.

        Gathering or closing brokers saves nothing either, except by trees that get lighter with new brokers.
        A limited time may end it earlier.
        """
        while True:
            while self._moved(self.descend):
                pass
            if not self._moved(self.push, self.gather, self.close):
                self.state.relieved[:] = UNKNOWN
                looks = partial(self.descend, thorough=True), partial(self.push, thorough=True)
                if self.fixed.core.code != FREE or not self._moved(*looks):
                    return

    def _moved(self, *passes: Callable[[], float]) -> bool:
        """Tell whether users moved. The change of cost does not: a user may pay for leaving an overload."""
        before = self.moves.total()
        for each in passes:
            each()
        return self.moves.total() > before

    def reach_block_optimum(self) -> None:
        """Improve to a local optimum that moving blocks of users does not improve by much either."""
        self.reach_local_optimum()
        if self.problem.n_users * self.problem.n_brokers <= REGROUPED:
            while self.regroup() < -WORTH * self.total:
                self.reach_local_optimum()

    def anneal(self, near: Ints, counter: int, proposals: int, heat: float) -> int:
        """Make proposals of annealing from a temperature on; return the counter of the random stream."""
        for done in range(0, proposals, PROPOSALS):
            if self.out_of_time():
                break
            part = min(PROPOSALS, proposals - done)
            heats = (heat * COOLED ** (at / proposals) for at in (done, done + part))
            after, taken = anneal(self.fixed, self.state, near, np.uint64(counter), part, *heats)
            self.moves["anneal"] += int(taken)
            self.progress.advance(part)
            counter = int(after)
        return counter

    def _slices(self) -> Iterator[Ints]:
        for first in range(0, len(self.order), SLICE):
            if self.out_of_time():
                return
            yield self.order[first : first + SLICE]

    def _apply(self, kind: str, kernel: Callable[..., Any], *arguments: Any) -> float:
        """Call a kernel that moves users; count its moves and return the change of cost."""
        moves, change = kernel(self.fixed, self.state, *arguments)
        self.moves[kind] += int(moves)
        return float(change)


def near_brokers(problem: ContentProblem) -> Ints:
    """Return for every user the brokers with the lowest access prices, in order of their numbers."""
    n = min(NEAR, problem.n_brokers)
    near = np.zeros((problem.n_users, n), dtype=np.int32)
    for first in range(0, problem.n_users, BLOCK):
        rows = slice(first, first + BLOCK)
        near[rows] = np.sort(np.argpartition(problem.access[rows], n - 1, axis=1)[:, :n], axis=1)
    return sealed(near)


def _blocks(users: Ints) -> Iterator[Ints]:
    """Yield all users, then overlapping halves, quarters and so on."""
    yield users
    size = len(users) // 2
    while size >= SMALLEST_BLOCK:
        for first in range(0, len(users) - size // 2, size // 2):
            yield users[first : first + size]
        size //= 2


def interest_centers(problem: ContentProblem) -> Floats:
    """Return the middle of the channels each user wants; of those it publishes on, if it wants none."""
    lengths = (1.0 + problem.want_last - problem.want_first).astype(np.float64)
    wanted = _means(problem.want_ptr, (problem.want_first + problem.want_last) / 2.0, lengths)
    published = _means(problem.rate_ptr, problem.rate_channels, problem.rates)
    return np.where(wanted >= 0.0, wanted, published)


def _means(ptr: Longs, place: NDArray[Any], weight: Floats) -> Floats:
    """Return the weighted mean place of every owner's entries; -1 without any."""
    n = len(ptr) - 1
    owner = np.repeat(np.arange(n), np.diff(ptr))
    total = np.bincount(owner, weights=weight, minlength=n)
    moment = np.bincount(owner, weights=place * weight, minlength=n)
    means: Floats = np.divide(moment, total, out=np.full(n, -1.0), where=total > 0)
    return means
