"""Improve an overlay that exists: never worse by the objective, and no bound that held is broken.

What is not allowed or not connected is set right first: forbidden edges go, required ones come, split topics
are joined. The searches of `improve_lanes` do the rest, in rounds; after each the overlay is taken if it
is the best so far and keeps every bound, which is measured, not believed. A topic that cannot be made whole
keeps the edges that carry it, and the search goes on with the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np

from topicloom.base.arrays import Longs
from topicloom.base.parameters import Parameter, parameters_of
from topicloom.base.progress import SILENT, Progress, QuietProgress, Stopwatch
from topicloom.overlay.builders.constrained import ConstrainedTask, Edges, check_constraints, joined_edges
from topicloom.overlay.builders.hops import hops_report
from topicloom.overlay.builders.improve_goals import (
    WIDE,
    Bounds,
    Found,
    Goal,
    Objective,
    above_caps,
    check_objective,
    largest_degree,
)
from topicloom.overlay.builders.improve_lanes import LaneMaker, lowered
from topicloom.overlay.builders.split_saving import spend_edges
from topicloom.overlay.builders.sturdy import (
    ExtraEdges,
    Survive,
    carries,
    check_deaths_and_edges,
    fragile_report,
)
from topicloom.overlay.builders.sturdy_closing import Closing
from topicloom.overlay.builders.time_limit import TimeLimit
from topicloom.overlay.measures.connectivity import topic_components
from topicloom.overlay.measures.deliveries import rates_of
from topicloom.overlay.measures.survival import check_survival
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

PATIENCE = {"path": 4, "local": 4}  # rounds in vain before another lane has its turn
OTHERS_PATIENCE = 24
STANDING = 64  # rounds in which the clock does not move: it never will

Bound = Annotated[
    int | str,
    Parameter("the most hops inside a topic; auto: as many as there are; none: any", ("auto", "none"), 1),
]
MaxEdges = Annotated[
    int | str,
    Parameter(
        "the most edges; auto: as many as there are, for costs any number; none: any", ("auto", "none"), 0
    ),
]
Cap = Annotated[int | str, Parameter("the most edges of a node; auto: as many as there are", ("auto",), 1)]
Seconds = Annotated[float, Parameter("seconds to search", least=0)]
Rounds = Annotated[
    int | str, Parameter("rounds of search, whatever the time; auto: until it is up", ("auto",), 0)
]


Checkpoint = Callable[[Build], None]


def improve_overlay(
    interest: Interest,
    edges: Overlay,
    *,
    objective: Objective = "edges",
    constraints: Constraints = UNCONSTRAINED,
    survive: Survive = 0,
    extra_edges: ExtraEdges = 0.0,
    max_hops: Bound = "auto",
    max_degree: Cap = "auto",
    max_edges: MaxEdges = "auto",
    time_limit: Seconds = 60.0,
    rounds: Rounds = "auto",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
    checkpoint: Checkpoint | None = None,
) -> Build:
    """Search for an overlay better than `edges` for `time_limit` seconds; `checkpoint` hears of better ones.

    Neither the maximum degree nor the largest hops inside topics nor the number of edges grows, nor does a
    topic become fragile that was not: `max_degree`, `max_hops`, `max_edges` and `survive` set other bounds
    (costs alone need no bound on edges). With `extra_edges` so many percent more are spent at the end where
    they save the most splits.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    >>> loose = Overlay.from_edges(interest.node_ids, [0, 1, 0, 2], [1, 2, 2, 3])
    >>> improve_overlay(interest, loose, rounds=1, max_hops="none").n_edges
    3
    """
    check_constraints(interest, constraints, None)
    check_objective(objective, constraints, interest)
    check_deaths_and_edges(survive, extra_edges, loads=constraints.load_caps is not None)
    asked = {"objective": objective, "survive": survive, "extra_edges": extra_edges, "max_hops": max_hops}
    asked |= {"max_degree": max_degree, "max_edges": max_edges, "time_limit": time_limit, "rounds": rounds}
    costs = "weight" if objective == "cost" else "tie"
    task = ConstrainedTask.of(interest, constraints, None, costs, threads)
    improver = Improver(task, asked, seed, Stopwatch(progress), checkpoint)
    return replace(improver.run(edges), seed=seed)


@dataclass(slots=True)
class Improver:
    """One improvement, step by step."""

    task: ConstrainedTask
    asked: dict[str, Any]
    seed: int
    watch: Stopwatch
    checkpoint: Checkpoint | None
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def objective(self) -> str:
        return str(self.asked["objective"])

    def run(self, overlay: Overlay) -> Build:
        """Set right, search, spend what may be spent."""
        progress = self.watch.progress
        until = TimeLimit(self.asked["time_limit"], progress)
        self.report = {"edges_start": overlay.n_edges, "degree_start": largest_degree(overlay)}
        with self.watch.phase("set right"):
            start = self._set_right(overlay)
        maker = LaneMaker(Goal(self._searched(start), self.objective), progress)
        bounds = self._bounds(overlay, start, maker.goal)
        best = maker.goal.found(start)
        self.report |= {"objective_start": best.objective, "bounds": bounds.told()}
        rounds = self.asked["rounds"]
        limit = math.inf if rounds == "auto" else int(rounds)
        if rounds == "auto" and not self.asked["time_limit"]:
            limit = 0
        if start.n_edges and limit:
            with self.watch.phase("search", None if math.isinf(limit) else limit):
                best = self._search(maker, best, bounds, until, limit)
        if self.asked["extra_edges"]:
            best = self._spend(maker.goal, best, bounds)
        return self._build(best, bounds, maker.goal)

    def _searched(self, start: Overlay) -> ConstrainedTask:
        """Return the task of the topics that are whole; edges that carry the others stay as they are."""
        task, whole = self.task, self._components(start) <= 1
        if whole.all():
            return task
        kept = carries(task.interest, (start.u, start.v), ~whole)
        fixed = joined_edges(task.fixed, (start.u[kept], start.v[kept]))
        pairs = NodePairs.of(*fixed, start.n_nodes)
        rates = rates_of(task.interest, task.constraints)
        constraints = replace(task.constraints, rates=rates)
        inner = task.interest.only_topics(whole)
        return replace(task, interest=inner, constraints=constraints, fixed=(pairs.u, pairs.v))

    def _set_right(self, overlay: Overlay) -> Overlay:
        """Return the overlay without forbidden edges, with required ones, and with every topic connected."""
        task, interest = self.task, self.task.interest
        given = NodePairs(overlay.u, overlay.v)
        allowed = given.without(task.constraints.forbidden, interest.n_nodes)
        more = allowed.without(task.constraints.required, interest.n_nodes)
        edges = joined_edges(task.fixed, (more.u, more.v))
        self.report["edges_forbidden"] = len(given) - len(allowed)
        self.report["edges_required"] = len(edges[0]) - len(allowed)
        before, progress = len(edges[0]), QuietProgress(self.watch.progress)
        cap = self._cap(max(largest_degree(overlay), 2))
        survive = self.asked["survive"]
        edges, _ = Closing(task, 0, progress).close(edges, cap, firm=False)
        self.report["edges_joining"] = len(edges[0]) - before
        if survive:
            edges, _ = Closing(task, survive, progress).close(edges, cap)
        joined = Overlay.from_edges(interest.node_ids, *edges)
        caps = task.constraints.caps
        firm = isinstance(self.asked["max_degree"], int)
        if (caps is not None and (joined.degrees() > caps).any()) or (firm and largest_degree(joined) > cap):
            joined = self._relieved(joined, cap, survive or self._survived(overlay))
        return joined

    def _relieved(self, overlay: Overlay, cap: int, survive: int) -> Overlay:
        """Move edges away from nodes above their caps, as far as topics still survive."""
        if not self._whole(overlay):
            return overlay
        maker = LaneMaker(Goal(self.task, self.objective), self.watch.progress)
        search = maker.hop_search(overlay, WIDE, cap, self.seed, survive=survive, cost=self.task.costs)
        search.relieve(cap)
        return Overlay.from_edges(overlay.node_ids, *search.edges())

    def _whole(self, overlay: Overlay) -> bool:
        return bool((self._components(overlay) <= 1).all())

    def _components(self, overlay: Overlay) -> Longs:
        found: Longs = topic_components(self.task.interest, overlay)
        return found

    def _cap(self, there: int) -> int:
        asked = self.asked["max_degree"]
        return asked if isinstance(asked, int) else there

    def _bounds(self, given: Overlay, start: Overlay, goal: Goal) -> Bounds:
        """Return what holds of the start, or what was asked for instead."""
        asked, edges = self.asked["max_hops"], self.asked["max_edges"]
        hops = WIDE if asked == "none" else asked
        if asked == "auto":
            hops = max(goal.hops(start), 1)
        if edges == "auto":
            edges = "none" if self.objective == "cost" else start.n_edges
        most = WIDE if edges == "none" else int(edges)
        survive = self.asked["survive"] or self._survived(given)
        return Bounds(most, max(self._cap(largest_degree(start)), 1), int(hops), survive)

    def _survived(self, overlay: Overlay) -> int:
        """Return how many deaths every topic survives."""
        if overlay.n_edges and check_survival(self.task.interest, overlay, 1).survives:
            return 2 if check_survival(self.task.interest, overlay, 2).survives else 1
        return 0

    def _search(self, maker: LaneMaker, best: Found, bounds: Bounds, until: TimeLimit, limit: float) -> Found:
        """Run rounds until the time is up; every overlay that is taken is better and keeps the bounds."""
        kinds, turn, progress = maker.kinds(bounds), 0, self.watch.progress
        lane = maker.lane(kinds[0], best.overlay, bounds, self.seed)
        best = self._better(maker.goal, lane.edges(), best, bounds)  # a lane prunes first
        round_ = vain = standing = 0
        before = progress.now()
        while round_ < limit and not until.over and standing < STANDING:
            if vain >= PATIENCE.get(kinds[turn % len(kinds)], OTHERS_PATIENCE):
                self.seed, turn, vain = self.seed + 1, turn + 1, 0  # again from the best, with other lots
                lane = maker.lane(kinds[turn % len(kinds)], best.overlay, bounds, self.seed)
            lane.step(best, lowered(best, bounds, self.objective), round_)
            found = self._better(maker.goal, lane.edges(), best, bounds)
            vain = 0 if found is not best else vain + 1
            best, round_ = found, round_ + 1
            progress.advance(1)
            now = progress.now()
            standing = standing + 1 if math.isinf(limit) and now == before else 0
            before = now
        self.report["rounds"] = round_
        return best

    def _better(self, goal: Goal, edges: Edges, best: Found, bounds: Bounds) -> Found:
        """Return what a search has found, if it is better than the best and keeps every bound."""
        overlay = Overlay.from_edges(self.task.interest.node_ids, *edges)
        if overlay.n_edges > max(bounds.edges, best.overlay.n_edges):
            return best
        if largest_degree(overlay) > max(bounds.degree, largest_degree(best.overlay)):
            return best
        found = goal.found(overlay)
        if found.value >= best.value or not self._keeps(goal, overlay, best.overlay, bounds):
            return best
        if self.checkpoint is not None:
            self.checkpoint(self._build(found, bounds, goal))
        return found

    def _keeps(self, goal: Goal, overlay: Overlay, before: Overlay, bounds: Bounds) -> bool:
        """Are pairs, hops, caps, deaths and connected topics no worse than asked for, or than they were?"""
        limits = self.task.constraints
        pairs, n_nodes = NodePairs(overlay.u, overlay.v), overlay.n_nodes
        missing = limits.required.without(pairs, n_nodes)
        if len(missing) or len(pairs.without(limits.forbidden, n_nodes)) < len(pairs):
            return False
        if limits.caps is not None and (overlay.degrees() > np.maximum(limits.caps, before.degrees())).any():
            return False
        if (goal.overload(overlay) > goal.overload(before)).any():
            return False
        if bounds.hops < WIDE and goal.hops(overlay) > max(bounds.hops, goal.hops(before)):
            return False
        if (self._components(overlay) > np.maximum(self._components(before), 1)).any():
            return False
        deaths = bounds.survive
        if deaths == 0:
            return True
        return check_survival(self.task.interest, overlay, deaths).topics_fragile <= (
            check_survival(self.task.interest, before, deaths).topics_fragile
        )

    def _spend(self, goal: Goal, best: Found, bounds: Bounds) -> Found:
        """Spend the extra edges, no node above the bound on degrees."""
        edges: Edges = (best.overlay.u, best.overlay.v)
        base = min(len(edges[0]), bounds.edges)  # an earlier run may have spent some already
        budget = math.ceil(self.asked["extra_edges"] * base / 100 - 1e-9) - (len(edges[0]) - base)
        with self.watch.phase("save splits"):
            found, _ = spend_edges(
                self.task, edges, max(budget, 0), bounds.degree, self.watch.progress, firm=True
            )
        self.report["edges_added"] = len(found[0]) - len(edges[0])
        overlay = Overlay.from_edges(self.task.interest.node_ids, *found)
        return goal.found(overlay)

    def _build(self, found: Found, bounds: Bounds, goal: Goal) -> Build:
        """Return the build of the best overlay, with what there is to say of it."""
        interest, overlay, report = self.task.interest, found.overlay, dict(self.report)
        report["objective"] = found.objective
        if isinstance(self.asked["max_hops"], int):
            report |= hops_report(interest, overlay, self.asked["max_hops"], threads=self.task.threads)
        if self.asked["survive"]:
            edges: Edges = (overlay.u, overlay.v)
            report |= fragile_report(self.task, edges, bounds.survive, QuietProgress(self.watch.progress))
        over = above_caps(overlay, self.task.constraints, self.asked["max_degree"])
        loaded = np.flatnonzero(goal.overload(overlay))
        for key, nodes in (("nodes_above_cap", over), ("nodes_above_load", loaded)):
            if len(nodes):
                report[key] = [interest.node_ids[int(node)].as_py() for node in nodes[:20]]
                report[f"{key}_count"] = len(nodes)
        counts = self.task.constraints.counts()
        if counts:
            self.asked["constraints"] = counts
        if "costs" in counts:
            report["cost_total"] = self.task.constraints.cost_of(overlay)
        return Build(overlay, "improve", dict(self.asked), self.seed, dict(self.watch.seconds), report)


def improve_parameters() -> Mapping[str, Parameter]:
    """Return what may be asked of an improvement."""
    return parameters_of(improve_overlay)
