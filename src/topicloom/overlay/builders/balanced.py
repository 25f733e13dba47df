"""Balanced: a low average and a low maximum degree together. Our own builder, and the default.

A greedy for few edges makes hubs; one for a low maximum buys weak edges early. But under a hard cap close to
the final maximum the first one loses almost nothing, and overshoots the cap at a few nodes only. So: cap it
one lower, relieve the few, then search locally with what the cap leaves free.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count, repeat
from typing import Annotated

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress, QuietProgress, Stopwatch
from topicloom.overlay.builders.constrained import (
    ConstrainedTask,
    Costs,
    Edges,
    choose_constrained,
    joined_edges,
    known_needs,
    new_greedy,
    rising,
)
from topicloom.overlay.builders.diagnosis import diagnose
from topicloom.overlay.builders.greedy import NO_LIMIT
from topicloom.overlay.builders.hop_balance import HopBalance
from topicloom.overlay.builders.hops import MaxHops, asked_hops, hops_report, topic_hops
from topicloom.overlay.builders.local_search import LocalSearch
from topicloom.overlay.builders.serving_tree import PATH_DEGREE, least_degree, serving_tree
from topicloom.overlay.builders.time_limit import TimeLimit
from topicloom.overlay.builders.twin_trees import Twins
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

ROOM = 2  # the first cap tried lies so far above the average degree of gm, rounded up
DEAREST = 1.08  # a cap is too low if it costs more edges than this times gm's
HIGH, DEAR = 1.2, 1.18  # where the cap is above so many times gm-m's maximum, a lower one may cost so much
SHALLOW_CAP = 4  # a tree of inner nodes with two branches each, and one to spare
LEAST_CAP = 3  # a path has 2, and nothing is gained by a greedy that may only make pairs
ROUNDS = 20  # of local search; after each the cap may come down
PATIENCE = 5  # rounds that a lower cap is tried for, and then not tried for
PATIENT_ROUNDS = 3  # of relief in each of them: no edge more than before
FULL_WORK_NODES, NO_WORK_NODES = 2_000, 20_000
FULL_WORK = 20.0  # within a bound on hops
FREE_WORK, WORK_PER_NODE = 560.0, 3.0  # without one moves are cheaper: so many per edge, fewer for few nodes
MANY_TOPICS, MORE_WORK = 50.0, 1.5  # where nodes want fewer topics moves are quick: up to so many times more
FEW_NODES = 1_000  # from here on fewer again
AT_A_TIME, MOST_AT_A_TIME = 4, 10_000  # moves per edge and in all in a round, where only time ends it


def default_work(n_nodes: int) -> float:
    """Return the moves per edge: 20 up to 2,000 nodes, then linear in log V down to 0 at 20,000.

    >>> default_work(1000), round(default_work(5000), 1), default_work(50_000)
    (20.0, 12.0, 0.0)
    """
    share = math.log(NO_WORK_NODES / max(n_nodes, 1)) / math.log(NO_WORK_NODES / FULL_WORK_NODES)
    return round(FULL_WORK * min(max(share, 0.0), 1.0), 2)  # logarithms differ in their last bits


def free_work(n_nodes: int, topics_per_node: float = MANY_TOPICS) -> float:
    """Return the moves per edge without a bound on hops: most at 200 to 1,000 nodes that want few topics.

    >>> free_work(20), free_work(100), free_work(1000), free_work(2000), free_work(20_000)
    (60.0, 300.0, 560.0, 160.82, 0.0)
    >>> free_work(1000, 40), free_work(1000, 10), free_work(2000, 10)
    (700.0, 840.0, 241.23)
    """
    quick = min(max(MANY_TOPICS / max(topics_per_node, 1.0), 1.0), MORE_WORK)
    work = min(FREE_WORK * quick, WORK_PER_NODE * n_nodes)
    if n_nodes > FEW_NODES:
        fewer = (FEW_NODES / min(n_nodes, FULL_WORK_NODES)) ** 1.8  # moves take longer too
        work *= fewer * default_work(n_nodes) / FULL_WORK
    return round(work, 2)


def own_work(n_nodes: int, n_subscriptions: int, *, free: bool) -> float:
    """Return the moves per edge of `work=auto`, `free` of a bound on hops or within one."""
    return free_work(n_nodes, n_subscriptions / max(n_nodes, 1)) if free else default_work(n_nodes)


def build_balanced(
    interest: Interest,
    *,
    constraints: Constraints = UNCONSTRAINED,
    start: Overlay | None = None,
    work: Annotated[
        float | str,
        Parameter("moves per edge; auto: by size, more without a bound on hops", ("auto",), 0),
    ] = "auto",
    time_limit: Annotated[
        float, Parameter("seconds after which it stops improving, and with work=auto no sooner", least=0)
    ] = 0.0,
    max_hops: MaxHops = "auto",
    max_degree: Annotated[
        int | str,
        Parameter(
            "the cap on degrees aimed at; auto: the lowest that is cheap; first: the first it tries",
            ("auto", "first"),
            2,
        ),
    ] = "auto",
    costs: Costs = "tie",
    twins: Twins = "tree",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Build:
    """Build with few edges under the lowest cap on degrees that costs hardly any, then search locally.

    `work` is the number of local-search moves per edge (`auto`: `default_work`, without a bound on hops
    `free_work`). `time_limit` in seconds, 0 for none, ends the search for a better overlay; with `work=auto`
    it alone does. Without one the same seed gives the same edges.
    `max_hops` bounds the hops between two subscribers inside a topic (`none`: no bound, fewer edges); the
    report says what was reached. `constraints`, `start`, `costs` and `twins` are those of `build_gm`.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    >>> int(build_balanced(interest).overlay.degrees().max())
    2
    """
    bound = asked_hops(interest, max_hops)
    own = own_work(interest.n_nodes, interest.n_subscriptions, free=bound is None)
    moves = own if work == "auto" else float(work)
    watch = Stopwatch(progress)
    limit = TimeLimit(time_limit, progress)
    task = ConstrainedTask.of(interest, constraints, start, costs, threads, twins)
    cap = max_degree if isinstance(max_degree, int) else None
    timed = work == "auto" and time_limit > 0
    patient = max_hops != "auto" and work == "auto"
    one_cap = max_degree == "first"
    balance = Balance(task, seed, watch, limit, bound, cap, patient=patient, timed=timed, one_cap=one_cap)
    overlay = balance.overlay(moves)
    report = dict(balance.report)
    if bound is not None:
        with watch.phase("measure hops"):
            report |= hops_report(interest, overlay, max_hops, threads=threads)
    if constraints.caps is not None or len(constraints.forbidden):
        report |= diagnose(task, overlay, balance.rebuild, watch)
    parameters = {"work": "auto" if timed else round(moves, 2), "time_limit": time_limit}
    parameters |= {"max_hops": max_hops, "max_degree": max_degree, "costs": costs, "twins": twins}
    return Build(overlay, "balanced", parameters, seed, watch.seconds, report)


@dataclass(slots=True)
class Balance:
    """One balanced build, step by step."""

    task: ConstrainedTask
    seed: int
    watch: Stopwatch
    limit: TimeLimit
    bound: int | None = None  # on hops
    cap: int | None = None  # on degrees, where the user asks for one
    patient: bool = False  # about the bound on hops
    timed: bool = False  # the time limit alone ends the search
    one_cap: bool = False  # the first one is good enough
    gm_edges: int = 0
    needs: Ints | None = None
    report: dict[str, object] = field(default_factory=dict)

    def rebuild(self, task: ConstrainedTask, quiet: Progress) -> Overlay:
        """Return the overlay of another task, without local search: that connects nothing."""
        return Balance(task, self.seed, Stopwatch(quiet), self.limit).overlay(work=0)

    @property
    def late(self) -> bool:
        """Has the time limit passed?"""
        return self.limit.over

    def overlay(self, work: float) -> Overlay:
        """Run all steps; the overlay keeps all caps, and is topic-connected if that was reached."""
        tree, interest = None, self.task.interest
        with self.watch.phase("look for a tree"):
            if self.task.is_free:
                tree = serving_tree(interest, twins=self.task.twins, progress=self.watch.progress)
        if tree is not None:
            return self._shortened(self._from_tree(tree, work), work)
        first = self._greedy(NO_LIMIT)
        self.gm_edges = len(first[0])
        if self.gm_edges == 0:
            return Overlay.from_edges(interest.node_ids, *first)
        search, cap = self._lowest_cap(first)
        if self.bound is None or not self.task.is_free:
            cap = self._improve(search, cap, work)
            if work or self.timed:
                with self.watch.phase("prune"):
                    search.prune()
        overlay = Overlay.from_edges(interest.node_ids, *self._within_caps(search))
        cap = min(cap, int(overlay.degrees().max()))
        self.report = {"cap": cap, "gm_edges": self.gm_edges, "tree": False}
        return overlay if self.bound is None else self._within_hops(overlay, cap, work)

    def _within_hops(self, overlay: Overlay, cap: int, work: float) -> Overlay:
        """Search for an overlay within the bound on hops, under the cap that does without one."""
        if not check_overlay(self.task.interest, overlay).topic_connected:
            self.report["remark"] = "hops were not bounded: not every topic is connected"
            return overlay
        edges = joined_edges(self.task.fixed, self._without_fixed(overlay))
        return self._shorten(edges, self.cap or max(cap, LEAST_CAP), work, fresh=self.task.is_free)

    def _shortened(self, overlay: Overlay, work: float) -> Overlay:
        """Return a tree as it is if it keeps the bound on hops, else what a search finds from there."""
        if self.bound is None or topic_hops(self.task.interest, overlay).max(initial=0) <= self.bound:
            return overlay
        cap = max(int(overlay.degrees().max(initial=0)), SHALLOW_CAP)
        return self._shorten((overlay.u, overlay.v), cap, work, fresh=True)

    def _shorten(self, edges: Edges, cap: int, work: float, *, fresh: bool) -> Overlay:
        """Search within the bound, from edges that look at hops if `fresh`; note what that costs."""
        hops = self._hop_balance(cap)
        if self.timed:  # the clock ends it
            work = max(work, FULL_WORK)
        found = hops.run(hops.start(edges) if fresh else edges, work)
        for run in count(1):
            if not self.timed or self.late:
                break
            # Each run draws other lots: with the same ones it would repeat a run that found nothing.
            again = joined_edges(self.task.fixed, self._without_fixed(found))
            found = self._better_within(found, self._hop_balance(cap, run).run(again, work))
        degree = int(found.degrees().max(initial=0))
        self.report |= {"cap": max(cap, degree), "edges_unbounded": len(edges[0])}
        return found

    def _hop_balance(self, cap: int, run: int = 0) -> HopBalance:
        assert self.bound is not None
        return HopBalance(
            self.task,
            self.bound,
            cap,
            self.needs,
            self.seed,
            self.watch,
            limit=self.limit,
            firm=self.cap is not None,
            patient=self.patient,
            run_number=run,
        )

    def _better_within(self, one: Overlay, other: Overlay) -> Overlay:
        """Return the overlay that keeps the bound in more topics, then that of fewer edges, then degree."""

        bound = self.bound or 0

        def worth(overlay: Overlay) -> tuple[int, int, int]:
            hops = topic_hops(self.task.interest, overlay, threads=self.task.threads)
            return int((hops > bound).sum()), overlay.n_edges, int(overlay.degrees().max(initial=0))

        return min(one, other, key=worth)

    def _without_fixed(self, overlay: Overlay) -> Edges:
        """Return the edges but the fixed ones."""
        pairs = NodePairs(overlay.u, overlay.v).without(NodePairs(*self.task.fixed), overlay.n_nodes)
        return pairs.u, pairs.v

    def _from_tree(self, tree: Edges, work: float) -> Overlay:
        """Relieve a tree: no overlay has fewer edges, but the maximum degree may come down to a path's."""
        search = self._search(tree, cap=1)
        cap = int(search.degree.max(initial=0))
        least = least_degree(self.task.interest, self.task.twins)
        with self.watch.phase("relieve the tree"):
            while cap > least and not self.late and search.relieve(cap - 1, rounds=PATIENT_ROUNDS):
                cap -= 1
        if cap > least:
            cap = self._improve(search, cap, work, least=least, free=False)
        self.report = {"cap": cap, "tree": True, "edges_bound": search.n_edges}
        return Overlay.from_edges(self.task.interest.node_ids, *search.edges())

    def _greedy(self, limit: int) -> Edges:
        """Choose edges by contribution beside the fixed ones; the limit rises while topics are split.

        Where caps of single nodes leave topics split they are passed over at last: relief comes later.
        """
        task = self.task
        with self.watch.phase("choose edges", 1.0):
            greedy = new_greedy(task, task.fixed, progress=self.watch.progress)
            greedy.run(limit)
            for higher in rising(limit, task.interest.n_nodes):
                if greedy.open_joins == 0:
                    break
                greedy.run(higher)
            if greedy.open_joins:
                greedy.lift_caps()
                greedy.run(NO_LIMIT)
        u, v, _ = greedy.steps()
        return task.planted(joined_edges(task.fixed, (u, v)))

    def _capped(self, cap: int, dearest: float = DEAREST) -> LocalSearch:
        """Return the overlay of a greedy run under `cap`, pruned and relieved if it is not too dear."""
        edges = self._greedy(cap - 1)
        with self.watch.phase("relieve nodes"):
            search = self._search(edges, cap)
            search.prune()
            if search.n_edges <= dearest * self.gm_edges:
                search.relieve(cap)
        return search

    def _search(self, edges: Edges, cap: int) -> LocalSearch:
        progress = self.watch.progress
        return LocalSearch(self.task, edges, cap=cap, needs=self.needs, seed=self.seed, progress=progress)

    def _good(self, search: LocalSearch, cap: int, dearest: float = DEAREST) -> bool:
        return len(search.above(cap)) == 0 and search.n_edges <= dearest * self.gm_edges

    def _lowest_cap(self, first: Edges) -> tuple[LocalSearch, int]:
        """Return the overlay under the lowest good cap, from `ROOM` above the average on, and that cap.

        Nodes that are known to need more keep what they need, so that a hub does not lift everybody's cap.
        """
        n_nodes = self.task.interest.n_nodes
        degrees = np.bincount(np.concatenate(first), minlength=n_nodes)
        cap = self.cap or max(math.ceil(degrees.mean()) + ROOM, LEAST_CAP)
        self.needs = known_needs(self.task.interest, np.flatnonzero(degrees >= cap))
        search = self._capped(cap)
        if self.cap is not None or self.one_cap:
            pass  # the user's choice
        elif self._good(search, cap):
            while cap > LEAST_CAP and not self.late:
                lower = self._capped(cap - 1)
                if not self._good(lower, cap - 1):
                    break
                search, cap = lower, cap - 1
        else:
            search, cap = self._between(*self._first_good(search, cap, max(int(degrees.max()), cap)))
        over = search.above(cap)
        return search, max(cap, int(search.degree[over].max(initial=0)))

    def _first_good(self, search: LocalSearch, bad: int, highest: int) -> tuple[LocalSearch, int]:
        """Try higher caps, in wider steps after a while, then halve the range between bad and good."""
        cap = bad
        for higher in rising(bad, highest):
            if self.late:
                return search, cap
            search, cap = self._capped(higher), higher
            if self._good(search, cap):
                break
            bad = cap
        while cap - bad > 1 and not self.late:
            middle = (bad + cap) // 2
            lower = self._capped(middle)
            if self._good(lower, middle):
                search, cap = lower, middle
            else:
                bad = middle
        return search, cap

    def _between(self, search: LocalSearch, cap: int) -> tuple[LocalSearch, int]:
        """Return what lies between gm and gm-m, where a cap that costs hardly any edges is far above gm-m's.

        On heavy-tailed interests each degree fewer costs edges. Neither is bad then: the maximum comes down
        to `HIGH` times that of gm-m, if there is such an overlay of at most `DEAR` times the edges of gm.
        """
        if not self.task.is_free or self.late:
            return search, cap
        with self.watch.phase("look at gm-m"):
            quiet = QuietProgress(self.watch.progress)
            found = choose_constrained(self.task, phases=True, progress=quiet)
        most = int(HIGH * np.bincount(np.concatenate(self.task.planted(found.edges))).max(initial=0))
        bad, good = most + 1, max(math.ceil(2 * self.gm_edges / self.task.interest.n_nodes) + ROOM, LEAST_CAP)
        best = None
        # A cap is exceeded at a few nodes, so the cap to keep `most` lies below it. The highest costs least.
        middle = most
        while cap > most and bad - good > 1 and not self.late:
            lower = self._capped(middle, DEAR)
            if int(lower.degree.max(initial=0)) > most:
                bad = middle
            else:
                good, best = middle, lower
            middle = (bad + good) // 2
        if best is None or best.n_edges > DEAR * self.gm_edges:
            return search, cap
        return best, most

    def _improve(
        self, search: LocalSearch, cap: int, work: float, *, least: int = PATH_DEGREE, free: bool = True
    ) -> int:
        """Search locally in rounds, some of them under a cap one lower; return the cap that everybody keeps.

        Under the lower cap nodes at the old one take no edge any more and relief moves some of theirs away.
        If that does not empty them all within `PATIENCE` rounds, it was still no loss: nobody is above.
        Only if `free` relief may cost edges.
        """
        moves = int(work * search.n_edges)
        tried = 0
        with self.watch.phase("local search", max(moves, 1)):
            for share in self._rounds(moves, search.n_edges):
                if self.late:
                    break
                crowded = 4 * len(search.above(cap - 1)) >= len(search.degree)
                lower = cap > least and tried < PATIENCE and not crowded
                search.improve(cap - lower, share)
                self.limit.charge(share)
                self.watch.progress.advance(share)
                if lower and self._relieved(search, cap - 1, free=free):
                    cap, tried = cap - 1, 0
                else:
                    tried = (tried + 1) % (2 * PATIENCE)
        return cap

    def _rounds(self, moves: int, n_edges: int) -> Iterable[int]:
        """Yield how many moves each round makes; without end where only time ends the search."""
        if self.timed and self.bound is None:  # within one the time is for the search that keeps it
            return repeat(min(max(AT_A_TIME * n_edges, 1), MOST_AT_A_TIME))
        return (
            moves * (done + 1) // ROUNDS - moves * done // ROUNDS for done in range(ROUNDS if moves else 0)
        )

    def _relieved(self, search: LocalSearch, cap: int, *, free: bool) -> bool:
        """Relieve nodes above `cap`; only once few are left may that cost edges."""
        if search.relieve(cap, rounds=PATIENT_ROUNDS):
            return True
        few = 100 * len(search.above(cap)) < len(search.degree)
        return few and free and search.relieve(cap)

    def _within_caps(self, search: LocalSearch) -> Edges:
        """Return the edges without those above a node's cap: a topic is split rather than a cap broken."""
        limits = self.task.constraints
        if limits.caps is None:
            return search.edges()
        kept = search.edges_within(limits.caps)
        if len(kept[0]) == search.n_edges:
            return kept
        greedy = new_greedy(self.task, kept, progress=QuietProgress(self.watch.progress))
        greedy.run(NO_LIMIT)  # what room is left
        u, v, _ = greedy.steps()
        return joined_edges(kept, (u, v))
