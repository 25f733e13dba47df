"""The searches of `improve`, each a lane that goes on from the best overlay so far, round by round.

Which of them run depends on what is asked for: the search of `balanced` is the quickest for few edges and
knows nothing of hops; the one within hops keeps a radius per topic; the one on paths counts costs, hops and
milliseconds exactly; the one on survival keeps that topics survive deaths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from topicloom.base.progress import Progress, QuietProgress
from topicloom.overlay.builders.constrained import ConstrainedTask, Edges, joined_edges
from topicloom.overlay.builders.hop_search import HopSearch
from topicloom.overlay.builders.improve_goals import WEIGHED, WIDE, Bounds, Found, Goal, largest_degree
from topicloom.overlay.builders.local_search import LocalSearch
from topicloom.overlay.builders.path_search import PathSearch
from topicloom.overlay.builders.sturdy_search import SturdySearch
from topicloom.overlay.model.constraints import Constraints, NodePairs
from topicloom.overlay.model.overlay import Overlay

MOVES, LOCAL_MOVES, MOST_LOCAL_MOVES = 0.25, 4, 10_000  # per edge in one round, and in all
COLD_EVERY = 4  # of so many rounds one in which nothing gets worse
NO_EDGE_MORE = 3  # rounds of relief that take no edge more than before
TIME_WEIGHT = 0.25  # of the slowest edge, where survival must be kept; depths weigh the hops


class Lane(Protocol):
    """One search: it makes rounds of moves, and says what has come of them."""

    def step(self, best: Found, cap: int, round_: int) -> None:
        """Make one round, no node above `cap`."""
        ...

    def edges(self) -> Edges:
        """Return the overlay as it stands."""
        ...


@dataclass(frozen=True, slots=True)
class LaneMaker:
    """What all lanes start from."""

    goal: Goal
    progress: Progress

    @property
    def task(self) -> ConstrainedTask:
        return self.goal.task

    def kinds(self, bounds: Bounds) -> tuple[str, ...]:
        """Return the lanes that take turns, the best one first."""
        objective, free = self.goal.objective, bounds.hops >= WIDE
        if bounds.survive:
            return ("sturdy-ms", "sturdy") if objective == "rate-ms" else ("sturdy",)
        if objective == "rate-ms":
            return ("path",)
        if objective in WEIGHED:
            return ("path", "hop")
        within = "local" if free and objective != "hops" else "hop"
        if objective == "cost":
            return ("path", within)
        first = ("path",) if self.task.constraints.load_caps is not None else ()
        return (*first, *(("local", "hop") if within == "local" else ("hop",)))

    def lane(self, kind: str, overlay: Overlay, bounds: Bounds, seed: int) -> Lane:
        """Return a lane of that kind."""
        makers: dict[str, Callable[..., Lane]] = {
            "hop": HopLane,
            "local": LocalLane,
            "path": PathLane,
            "sturdy": SturdyLane,
            "sturdy-ms": TimedSturdyLane,
        }
        return makers[kind](self, overlay, bounds, seed)

    def _priced_by_time(self) -> Constraints:
        """Return the constraints with times as costs; 1, the cost of other pairs, is that of the slowest."""
        limits = self.task.constraints
        slowest = float(limits.times.max(initial=0.0)) or 1.0
        return replace(limits, priced=limits.timed, costs=limits.times / slowest)

    def edges_of(self, overlay: Overlay) -> Edges:
        """Return the edges of an overlay, the fixed ones first."""
        fixed = self.task.fixed
        pairs = NodePairs(overlay.u, overlay.v).without(NodePairs(*fixed), overlay.n_nodes)
        return joined_edges(fixed, (pairs.u, pairs.v))

    def hop_search(
        self,
        overlay: Overlay,
        hops: int,
        cap: int,
        seed: int,
        *,
        survive: int = 0,
        cost: str = "tie",
        timed: bool = False,
    ) -> HopSearch:
        """Return a search within hops, or one that keeps survival; if `timed` it looks for fast edges."""
        task = self.task
        options: dict[str, Any] = {
            "n_fixed": len(task.fixed[0]),
            "cap": cap,
            "constraints": self._priced_by_time() if timed else task.constraints,
            "costs": cost,
            "weights": self.goal.depth_weights(),
            "seed": seed,
            "progress": QuietProgress(self.progress),
        }
        edges = self.edges_of(overlay)
        if survive:
            search: HopSearch = SturdySearch(task.interest, edges, deaths=survive, **options)
        else:
            search = HopSearch(task.interest, edges, **options)
        largest = int(task.interest.topic_sizes().max(initial=1))
        search.center(max(min(hops // 2, largest), 1))
        if self.goal.objective in WEIGHED:
            # The moves add no edge, so only depths count, and times.
            search.by_cost = (0.0, TIME_WEIGHT if timed else 0.0)
        return search


class HopLane:
    """The search within hops, under a radius per topic."""

    def __init__(self, maker: LaneMaker, overlay: Overlay, bounds: Bounds, seed: int) -> None:
        self._objective = maker.goal.objective
        self._search = maker.hop_search(overlay, bounds.hops, bounds.degree, seed, cost=maker.task.costs)

    def step(self, best: Found, cap: int, round_: int) -> None:
        """Relieve nodes or shorten topics where that is the objective, then exchange edges."""
        if self._objective == "max-degree":
            self._search.relieve(cap)
        elif self._objective == "hops" and (fewer := int(best.objective) - 1) >= 2:
            self._search.center(max(fewer // 2, 1))
            self._search.squeeze(cap, max(fewer // 2, 1))
        moves = max(int(MOVES * self._search.n_edges), 1)
        self._search.improve(cap, moves, cold=round_ % COLD_EVERY == COLD_EVERY - 1)

    def edges(self) -> Edges:
        return self._search.edges()


class SturdyLane(HopLane):
    """The search that keeps survival; it cannot shorten topics by force."""

    timed = False

    def __init__(self, maker: LaneMaker, overlay: Overlay, bounds: Bounds, seed: int) -> None:
        self._objective = "edges" if maker.goal.objective == "hops" else maker.goal.objective
        found = maker.hop_search(
            overlay,
            bounds.hops,
            bounds.degree,
            seed,
            survive=bounds.survive,
            cost=maker.task.costs,
            timed=self.timed,
        )
        assert isinstance(found, SturdySearch)
        found.prune()
        self._search = found


class TimedSturdyLane(SturdyLane):
    """The same for milliseconds: between overlays of equal depths it goes for faster edges."""

    timed = True


class LocalLane:
    """The search of `balanced`, where hops do not matter."""

    def __init__(self, maker: LaneMaker, overlay: Overlay, bounds: Bounds, seed: int) -> None:
        self._objective = maker.goal.objective
        self._search = LocalSearch(
            maker.task,
            maker.edges_of(overlay),
            cap=bounds.degree,
            seed=seed,
            progress=QuietProgress(maker.progress),
        )
        self._search.prune()

    def step(self, best: Found, cap: int, round_: int) -> None:
        """Relieve nodes where that is the objective, and exchange edges."""
        if self._objective == "max-degree":
            self._search.relieve(cap, rounds=NO_EDGE_MORE)
        n_edges = self._search.n_edges
        self._search.improve(cap, min(LOCAL_MOVES * n_edges, max(n_edges, MOST_LOCAL_MOVES)))

    def edges(self) -> Edges:
        return self._search.edges()


class PathLane:
    """The search that counts costs and paths exactly."""

    def __init__(self, maker: LaneMaker, overlay: Overlay, bounds: Bounds, seed: int) -> None:
        goal, task = maker.goal, maker.task
        largest = max(task.interest.n_nodes * (task.interest.n_nodes - 1) // 2, overlay.n_edges)
        roomy = 4 * overlay.n_edges + 64  # more edges than that no search adds
        rates = goal.rates
        if rates is None:
            rates = goal.pair_weights() * 0 + 1.0
        self._search = PathSearch(
            task,
            maker.edges_of(overlay),
            cap=bounds.degree,
            most_edges=min(bounds.edges, largest, roomy),
            most_hops=bounds.hops,
            weights=goal.pair_weights(),
            rates=rates,
            priced=goal.objective not in WEIGHED,
            timed=goal.objective == "rate-ms",
            seed=seed,
            progress=QuietProgress(maker.progress),
        )

    def step(self, best: Found, cap: int, round_: int) -> None:
        """Make moves on the value itself."""
        self._search.run(cap)

    def edges(self) -> Edges:
        return self._search.edges()


def lowered(best: Found, bounds: Bounds, objective: str) -> int:
    """Return the cap of a round: one below the best maximum where that is the objective."""
    largest = largest_degree(best.overlay)
    return min(largest - 1, bounds.degree) if objective == "max-degree" and largest > 1 else bounds.degree
