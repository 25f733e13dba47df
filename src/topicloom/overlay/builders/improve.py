"""Improve an overlay that exists: never worse by the objective, and no bound that held is broken.

What is not allowed or not connected is set right first: forbidden edges go, required ones come, split topics
are joined. The local searches of `balanced` do the rest, in rounds; after each the overlay is taken if it
is the best so far and keeps every bound, which is measured, not believed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np

from topicloom.base.parameters import Parameter, parameters_of
from topicloom.base.progress import SILENT, Progress, QuietProgress, Stopwatch
from topicloom.errors import InputError
from topicloom.overlay.builders.constrained import ConstrainedTask, Edges, check_constraints, joined_edges
from topicloom.overlay.builders.hop_search import HopSearch
from topicloom.overlay.builders.hops import hops_report, topic_hops
from topicloom.overlay.builders.split_saving import spend_edges
from topicloom.overlay.builders.sturdy import (
    ExtraEdges,
    Survive,
    check_deaths_and_edges,
    fragile_report,
)
from topicloom.overlay.builders.sturdy_closing import Closing
from topicloom.overlay.builders.sturdy_search import SturdySearch
from topicloom.overlay.measures.connectivity import topic_components
from topicloom.overlay.measures.hops import measure_hops
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.measures.survival import check_survival
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

OBJECTIVES = ("edges", "max-degree", "hops", "mean-hops", "cost")
MOVES = 0.25  # per edge in one round
COLD_EVERY = 4  # of so many rounds one in which nothing gets worse
PATIENCE = 24  # rounds in vain
WIDE = 1 << 20  # hops that nobody asks about

Objective = Annotated[str, Parameter("what is to become less", choices=OBJECTIVES)]
Bound = Annotated[
    int | str,
    Parameter("the most hops inside a topic; auto: as many as there are; none: any", ("auto", "none"), 1),
]
Cap = Annotated[int | str, Parameter("the most edges of a node; auto: as many as there are", ("auto",), 1)]
Seconds = Annotated[float, Parameter("seconds to search", least=0)]
Rounds = Annotated[
    int | str, Parameter("rounds of search, whatever the time; auto: until it is up", ("auto",), 0)
]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What every overlay that is taken keeps."""

    edges: int
    degree: int
    hops: int
    survive: int


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """An overlay and its figures; `value` is smaller where the overlay is better."""

    overlay: Overlay
    value: tuple[float, ...]


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
    time_limit: Seconds = 60.0,
    rounds: Rounds = "auto",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
    checkpoint: Checkpoint | None = None,
) -> Build:
    """Search for an overlay better than `edges` for `time_limit` seconds; `checkpoint` hears of better ones.

    Neither the maximum degree nor the largest hops inside topics nor the number of edges grows, nor does a
    topic become fragile that was not: `max_degree`, `max_hops` and `survive` set other bounds. With
    `extra_edges` so many percent more are spent at the end where they save the most splits.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    >>> loose = Overlay.from_edges(interest.node_ids, [0, 1, 0, 2], [1, 2, 2, 3])
    >>> improve_overlay(interest, loose, rounds=1, max_hops="none").n_edges
    3
    """
    check_constraints(interest, constraints, None)
    check_objective(objective, constraints)
    check_deaths_and_edges(survive, extra_edges)
    asked = {"objective": objective, "survive": survive, "extra_edges": extra_edges, "max_hops": max_hops}
    asked |= {"max_degree": max_degree, "time_limit": time_limit, "rounds": rounds}
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

    def run(self, overlay: Overlay) -> Build:
        """Set right, search, spend what may be spent."""
        progress = self.watch.progress
        deadline = progress.now() + self.asked["time_limit"] if self.asked["time_limit"] else math.inf
        self.report = {"edges_start": overlay.n_edges, "degree_start": _degree(overlay)}
        with self.watch.phase("set right"):
            start = self._set_right(overlay)
        bounds = self._bounds(overlay, start)
        best = Found(start, self._value(start))
        self.report |= {"objective_start": best.value[0], "bounds": _told(bounds)}
        rounds = self.asked["rounds"]
        limit = math.inf if rounds == "auto" else int(rounds)
        if rounds == "auto" and not self.asked["time_limit"]:
            limit = 0
        if start.n_edges and self._whole(start) and limit:
            with self.watch.phase("search", None if math.isinf(limit) else limit):
                best = self._search(best, bounds, deadline, limit)
        if self.asked["extra_edges"]:
            best = self._spend(best, bounds)
        return self._build(best, bounds)

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
        cap = self._cap(max(_degree(overlay), 2))
        survive = self.asked["survive"]
        edges, _ = Closing(task, 0, progress).close(edges, cap, firm=False)
        self.report["edges_joining"] = len(edges[0]) - before
        if survive:
            edges, _ = Closing(task, survive, progress).close(edges, cap)
        joined = Overlay.from_edges(interest.node_ids, *edges)
        caps = task.constraints.caps
        firm = isinstance(self.asked["max_degree"], int)
        if (caps is not None and (joined.degrees() > caps).any()) or (firm and _degree(joined) > cap):
            joined = self._relieved(joined, cap, survive or self._survived(overlay))
        return joined

    def _relieved(self, overlay: Overlay, cap: int, survive: int) -> Overlay:
        """Move edges away from nodes above their caps, as far as topics still survive."""
        if not self._whole(overlay):
            return overlay
        search = self._new_search(overlay, WIDE, cap, survive)
        search.relieve(cap)
        return Overlay.from_edges(overlay.node_ids, *search.edges())

    def _whole(self, overlay: Overlay) -> bool:
        return bool((topic_components(self.task.interest, overlay) <= 1).all())

    def _cap(self, there: int) -> int:
        asked = self.asked["max_degree"]
        return asked if isinstance(asked, int) else there

    def _bounds(self, given: Overlay, start: Overlay) -> Bounds:
        """Return what holds of the start, or what was asked for instead."""
        asked = self.asked["max_hops"]
        hops = WIDE if asked == "none" else asked
        if asked == "auto":
            hops = max(self._hops(start), 1)
        survive = self.asked["survive"] or self._survived(given)
        return Bounds(start.n_edges, max(self._cap(_degree(start)), 1), int(hops), survive)

    def _survived(self, overlay: Overlay) -> int:
        """Return how many deaths every topic survives."""
        if overlay.n_edges and check_survival(self.task.interest, overlay, 1).survives:
            return 2 if check_survival(self.task.interest, overlay, 2).survives else 1
        return 0

    def _hops(self, overlay: Overlay) -> int:
        return int(topic_hops(self.task.interest, overlay, threads=self.task.threads).max(initial=0))

    def _value(self, overlay: Overlay) -> tuple[float, ...]:
        """Return the objective of an overlay, then what decides among equals."""
        counts = (overlay.n_edges, _degree(overlay))
        objective = self.asked["objective"]
        if objective == "max-degree":
            return counts[::-1]
        if objective == "hops":
            return (self._hops(overlay), *counts)
        if objective == "mean-hops":
            view = view_of(self.task.interest, overlay, threads=self.task.threads)
            return (measure_hops(view)["hops_mean"], *counts)
        if objective == "cost":
            return (self.task.constraints.cost_of(overlay), *counts)
        return counts

    def _new_search(self, overlay: Overlay, hops: int, cap: int, survive: int = 0) -> HopSearch:
        task = self.task
        options: dict[str, Any] = {
            "n_fixed": len(task.fixed[0]),
            "cap": cap,
            "constraints": task.constraints,
            "costs": task.costs,
            "seed": self.seed,
            "progress": QuietProgress(self.watch.progress),
        }
        pairs = NodePairs(overlay.u, overlay.v).without(NodePairs(*task.fixed), overlay.n_nodes)
        edges = joined_edges(task.fixed, (pairs.u, pairs.v))
        if survive:
            search: HopSearch = SturdySearch(task.interest, edges, deaths=survive, **options)
        else:
            search = HopSearch(task.interest, edges, **options)
        largest = int(task.interest.topic_sizes().max(initial=1))
        search.center(max(min(hops // 2, largest), 1))
        if self.asked["objective"] == "mean-hops":
            search.by_cost = (0.0, 0.0)  # the moves add no edge, so only depths count
        return search

    def _search(self, best: Found, bounds: Bounds, deadline: float, limit: float) -> Found:
        """Run rounds until the time is up; every overlay that is taken is better and keeps the bounds."""
        search = self._new_search(best.overlay, bounds.hops, bounds.degree, bounds.survive)
        if isinstance(search, SturdySearch):
            search.prune()
            best = self._better(search, best, bounds)
        round_ = vain = 0
        while round_ < limit and self.watch.progress.now() < deadline:
            cap = bounds.degree
            if vain >= PATIENCE:  # it has gone astray: again from the best, with other lots
                self.seed += 1
                search = self._new_search(best.overlay, bounds.hops, bounds.degree, bounds.survive)
                vain = 0
            if self.asked["objective"] == "max-degree" and _degree(best.overlay) > 1:
                cap = min(_degree(best.overlay) - 1, cap)
                search.relieve(cap)
            elif self.asked["objective"] == "hops" and not isinstance(search, SturdySearch):
                self._squeeze(search, best, cap)
            moves = max(int(MOVES * search.n_edges), 1)
            search.improve(cap, moves, cold=round_ % COLD_EVERY == COLD_EVERY - 1)
            found = self._better(search, best, bounds)
            vain = 0 if found is not best else vain + 1
            best, round_ = found, round_ + 1
            self.watch.progress.advance(1)
        self.report["rounds"] = round_
        return best

    def _squeeze(self, search: HopSearch, best: Found, cap: int) -> None:
        """Bring topics down to fewer hops than the best overlay has."""
        fewer = int(best.value[0]) - 1
        if fewer >= 2:
            search.center(max(fewer // 2, 1))
            search.squeeze(cap, max(fewer // 2, 1))

    def _better(self, search: HopSearch, best: Found, bounds: Bounds) -> Found:
        """Return what the search has found, if it is better than the best and keeps every bound."""
        overlay = Overlay.from_edges(self.task.interest.node_ids, *search.edges())
        if overlay.n_edges > bounds.edges or _degree(overlay) > max(bounds.degree, _degree(best.overlay)):
            return best
        value = self._value(overlay)
        if value >= best.value or not self._keeps(overlay, best.overlay, bounds):
            return best
        found = Found(overlay, value)
        if self.checkpoint is not None:
            self.checkpoint(self._build(found, bounds))
        return found

    def _keeps(self, overlay: Overlay, before: Overlay, bounds: Bounds) -> bool:
        """Are hops, caps, deaths and connected topics no worse than asked for, or than they were?"""
        interest, caps = self.task.interest, self.task.constraints.caps
        if caps is not None and (overlay.degrees() > np.maximum(caps, before.degrees())).any():
            return False
        if bounds.hops < WIDE and self._hops(overlay) > max(bounds.hops, self._hops(before)):
            return False
        if not self._whole(overlay):
            return False
        deaths = bounds.survive
        if deaths == 0:
            return True
        return check_survival(interest, overlay, deaths).topics_fragile <= (
            check_survival(interest, before, deaths).topics_fragile
        )

    def _spend(self, best: Found, bounds: Bounds) -> Found:
        """Spend the extra edges, no node above the bound on degrees."""
        edges: Edges = (best.overlay.u, best.overlay.v)
        budget = math.ceil(self.asked["extra_edges"] * len(edges[0]) / 100 - 1e-9)
        with self.watch.phase("save splits"):
            found, _ = spend_edges(self.task, edges, budget, bounds.degree, self.watch.progress, firm=True)
        self.report["edges_added"] = len(found[0]) - len(edges[0])
        overlay = Overlay.from_edges(self.task.interest.node_ids, *found)
        return Found(overlay, self._value(overlay))

    def _build(self, found: Found, bounds: Bounds) -> Build:
        """Return the build of the best overlay, with what there is to say of it."""
        interest, overlay, report = self.task.interest, found.overlay, dict(self.report)
        report["objective"] = found.value[0]
        if isinstance(self.asked["max_hops"], int):
            report |= hops_report(interest, overlay, self.asked["max_hops"], threads=self.task.threads)
        if self.asked["survive"]:
            edges: Edges = (overlay.u, overlay.v)
            report |= fragile_report(self.task, edges, bounds.survive, QuietProgress(self.watch.progress))
        over = _above(overlay, self.task.constraints, self.asked["max_degree"])
        if len(over):
            report["nodes_above_cap"] = [interest.node_ids[int(node)].as_py() for node in over[:20]]
            report["nodes_above_cap_count"] = len(over)
        counts = self.task.constraints.counts()
        if counts:
            self.asked["constraints"] = counts
        if "costs" in counts:
            report["cost_total"] = self.task.constraints.cost_of(overlay)
        return Build(overlay, "improve", dict(self.asked), self.seed, dict(self.watch.seconds), report)


def _above(overlay: Overlay, constraints: Constraints, asked: int | str) -> Any:
    caps = np.full(overlay.n_nodes, asked if isinstance(asked, int) else WIDE)
    if constraints.caps is not None:
        caps = np.minimum(caps, constraints.caps)
    return np.flatnonzero(overlay.degrees() > caps)


def _degree(overlay: Overlay) -> int:
    return int(overlay.degrees().max(initial=0))


def _told(bounds: Bounds) -> dict[str, int | None]:
    hops = None if bounds.hops >= WIDE else bounds.hops
    return {"edges": bounds.edges, "degree_max": bounds.degree, "hops": hops, "survive": bounds.survive}


def improve_parameters() -> Mapping[str, Parameter]:
    """Return what may be asked of an improvement."""
    return parameters_of(improve_overlay)


def check_objective(objective: str, constraints: Constraints) -> None:
    """Refuse an objective that nothing was given for."""
    if objective == "cost" and not len(constraints.priced):
        raise InputError("`objective=cost` needs `costs`: without them every edge costs 1")
