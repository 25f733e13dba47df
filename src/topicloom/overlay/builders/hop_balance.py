"""Balanced within a bound on hops: a start with short paths, then local search under a cap and a radius.

Whoever is at most R hops from the root of a topic is at most 2 R hops from anybody else in it. So a bound of
H hops becomes a radius of H / 2, and an odd one the radius above. Most topics keep it all the same, because
few subscribers are that far on both sides. The others get an edge as root and a radius of (H - 1) / 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.progress import Progress, Stopwatch
from topicloom.overlay.builders.constrained import ConstrainedTask, Edges
from topicloom.overlay.builders.hop_search import HopSearch
from topicloom.overlay.builders.hops import topic_hops
from topicloom.overlay.builders.short_gm import ShortGreedy
from topicloom.overlay.builders.time_limit import TimeLimit
from topicloom.overlay.model.overlay import Overlay

STRETCH = 3.0  # of the start; less where the bound asks for it
DEAREST = 1.12  # so many times the edges that are known to do without a bound the start may have
RAISED = 1  # by so much the cap may have risen in it
LEAST_LIMIT = 3  # of degrees in the start: two branches and a way up
MOST_MOVES, LOOKS, TOPICS_A_LOOK = 4.0, 72.0, 256  # moves for each one asked for, by what a move looks at
ROUNDS, SQUEEZING = 20, 8  # of local search; in the first ones the radius falls
PATIENCE, FEW, MANY = 2, 5, 0.01  # rounds of relief until the cap rises if so many nodes are still above it
ROOM, RISES = 2, (10, 14)  # a cap of our own may rise by so much, in these rounds, if the bound is not kept
MORE_ROUNDS = 20  # at most, while a bound that somebody asked for is not kept
AT_A_TIME = 10_000  # moves between two looks at the clock
COLD_ROUNDS = 2  # at the end in which nothing gets worse any more


@dataclass(slots=True)
class HopBalance:
    """One search for an overlay within `bound` hops and, as far as possible, `cap` edges per node.

    A `patient` one makes more moves where they are cheap, and goes on while the bound is not kept; unless the
    cap is `firm` it rises then, up to twice what it was.
    """

    task: ConstrainedTask
    bound: int
    cap: int
    needs: Ints | None
    seed: int
    watch: Stopwatch
    limit: TimeLimit
    firm: bool = False  # the cap is the user's
    patient: bool = False
    run_number: int = 0  # each has random numbers of its own

    @property
    def radius(self) -> int:
        return (self.bound + 1) // 2

    @property
    def _highest(self) -> int:
        """Return the cap that a search may end with."""
        if self.firm:
            return self.cap
        return 2 * self.cap if self.patient else self.cap + ROOM

    def start(self, known: Edges) -> Edges:
        """Choose edges by the greedy that looks at hops, unless those `known` are clearly fewer.

        Only where there is nothing to respect. Where that greedy had to raise the cap it made hubs, of which
        the search gets rid more slowly than of long paths; so it runs again from as far below the cap.
        """
        with self.watch.phase("choose edges within hops", 1.0):
            greedy = self._greedy(self.cap)
            if greedy.limit > self.cap + RAISED:
                greedy = self._greedy(max(2 * self.cap - greedy.limit, LEAST_LIMIT))
        found = greedy.edges()
        dear = len(found[0]) > DEAREST * len(known[0])
        return known if dear or greedy.limit > self.cap + RAISED else found

    def _greedy(self, limit: int) -> ShortGreedy:
        progress = self.watch.progress
        greedy = ShortGreedy(self.task.interest, limit, self.bound, STRETCH, progress=progress)
        greedy.choose_all()
        return greedy

    def run(self, edges: Edges, work: float) -> Overlay:
        """Search from `edges`, which connect every topic; `work` moves per edge."""
        with self.watch.phase("shorten paths"):
            search = self._search(edges, self.watch.progress)
            widest = int(search.radius.max(initial=0))
            if not work:
                self._settle(search, self.radius)
                while not self._settle(search, self._radii(search)) and self.cap < self._highest:
                    self.cap += 1
        moves = int(work * self._moves(search) * search.n_edges)
        highest = self._highest
        step = max(math.ceil((widest - self.radius) / SQUEEZING), 1)
        with self.watch.phase("local search within hops", max(moves, 1)):
            for round_ in range(ROUNDS + (MORE_ROUNDS if self.patient else 0) if moves else 0):
                if self.limit.over:
                    break
                wide = max(widest - step * (round_ + 1), self.radius)
                tight = round_ >= SQUEEZING and wide == self.radius
                kept = self._settle(search, self._radii(search) if tight else wide)
                if round_ >= ROUNDS:
                    if kept:
                        break
                    self.cap += self.cap < highest
                elif round_ + 1 == PATIENCE:
                    self.cap += self._in_vain(search)
                elif round_ in RISES and not kept:
                    self.cap += self.cap < highest
                share = moves * (round_ + 1) // ROUNDS - moves * round_ // ROUNDS
                self._improve(search, share, cold=ROUNDS - COLD_ROUNDS <= round_ < ROUNDS)
                self.watch.progress.advance(share if round_ < ROUNDS else 0)
            if moves:
                self._settle(search, self._radii(search))
        return Overlay.from_edges(self.task.interest.node_ids, *search.edges())

    def _improve(self, search: HopSearch, moves: int, *, cold: bool) -> None:
        """Make so many moves, or as many as the time allows."""
        for done in range(0, moves, AT_A_TIME):
            if self.limit.over:
                break
            some = min(AT_A_TIME, moves - done)
            search.improve(self.cap, some, cold=cold)
            self.limit.charge(some)

    def _in_vain(self, search: HopSearch) -> bool:
        """Are so many nodes above a cap of our own that there is no room for short paths under it?

        Relief would go on for rounds, leave a few above all the same, and topics beyond the bound.
        """
        many = max(MANY * self.task.interest.n_nodes, FEW)
        return not self.firm and len(search.above(self.cap)) >= many

    def _moves(self, search: HopSearch) -> float:
        """Return how many moves to make for each one asked for: more where they are cheap, if `patient`.

        A move looks at what hangs on a few edges, and at all words of the topics of their ends.
        """
        if not self.patient:
            return 1.0
        interest = self.task.interest
        looks = interest.n_subscriptions / max(search.n_edges, 1) + interest.n_topics / TOPICS_A_LOOK
        return min(max(LOOKS / max(looks, 1.0), 1.0), MOST_MOVES)

    def _search(self, edges: Edges, progress: Progress) -> HopSearch:
        task = self.task
        return HopSearch(
            task.interest,
            edges,
            n_fixed=len(task.fixed[0]),
            cap=self._highest,
            needs=self.needs,
            constraints=task.constraints,
            costs=task.costs,
            seed=self.seed,
            run=self.run_number,
            progress=progress,
        )

    def _radii(self, search: HopSearch) -> Longs:
        """Return the radius of each topic; under an odd bound one less where the diameter is beyond it."""
        interest = self.task.interest
        if self.bound % 2:
            overlay = Overlay.from_edges(interest.node_ids, *search.edges())
            search.odd |= topic_hops(interest, overlay, threads=self.task.threads) >= self.bound
        return np.where(search.odd, self.bound // 2, self.radius)

    def _settle(self, search: HopSearch, radius: int | Longs) -> bool:
        """Move edges away from nodes above the cap, choose roots anew, bring wide topics down.

        True if nobody is above and every topic came down.
        """
        relieved = len(search.above(self.cap)) == 0 or search.relieve(self.cap)
        search.center(radius)
        return search.squeeze(self.cap, radius, patient=self.patient) and relieved
