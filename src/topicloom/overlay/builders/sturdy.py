"""Balanced, and more where nodes may die: every topic survives K deaths, or a few edges more save splits.

An overlay of few edges comes first, as balanced makes it. Then pairs are added that close the most fragments
of topics, and edges go that no topic needs any more, for deaths or for its paths. So all constraints hold
that balanced honours; a cap is no reason to give up, only a reason for a topic to stay fragile.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, get_type_hints

import numpy as np

from topicloom.base.arrays import Bools
from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.errors import UsageError
from topicloom.overlay.builders.balanced import build_balanced
from topicloom.overlay.builders.best_of_small import BOTH, build_best_balanced
from topicloom.overlay.builders.constrained import ConstrainedTask, Edges, joined_edges
from topicloom.overlay.builders.hops import asked_hops, hops_report
from topicloom.overlay.builders.split_saving import spend_edges
from topicloom.overlay.builders.sturdy_closing import Closing, open_fragments
from topicloom.overlay.builders.sturdy_search import SturdySearch
from topicloom.overlay.measures.connectivity import topic_components
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

ROOM = 1  # by so much the cap rises at once: survival takes about a third more edges
NAMED = 20  # topics that the report names

Survive = Annotated[
    int,
    Parameter("nodes that may die, any of them, without any topic being split", least=0, most=2),
]
ExtraEdges = Annotated[
    float,
    Parameter("percent of edges to add where they save the most splits by one death", least=0, most=1000),
]


def build_sturdy(
    interest: Interest,
    *,
    constraints: Constraints = UNCONSTRAINED,
    start: Overlay | None = None,
    objective: str = BOTH,
    survive: Survive = 0,
    extra_edges: ExtraEdges = 0.0,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
    **parameters: Any,
) -> Build:
    """Run balanced; then let every topic survive the death of any `survive` nodes, or save splits.

    With `survive` every topic's subgraph is connected whoever of its subscribers dies, up to so many; the
    report says whether that was reached. Then `max_hops="auto"` asks for no bound: what survival needs
    shortens paths by itself. `extra_edges` is a share of the edges in percent.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    >>> build_sturdy(interest, survive=1).n_edges
    4
    """
    check_deaths_and_edges(survive, extra_edges)
    shared: dict[str, Any] = {"constraints": constraints, "start": start, "seed": seed}
    shared |= {"threads": threads, "progress": progress}
    own = {"survive": survive, "extra_edges": extra_edges}
    asked = parameters.get("max_hops", "auto")
    bound = parameters | ({"max_hops": "none"} if survive and asked == "auto" else {})
    made = build_best_balanced(interest, objective=objective, **shared, **bound)
    made = replace(made, parameters={**made.parameters, **own})
    if not survive and not extra_edges:
        return made
    made = replace(made, parameters={**made.parameters, "max_hops": asked})
    task = ConstrainedTask.of(interest, constraints, start, made.parameters["costs"], threads)
    watch = Stopwatch(progress)
    more = _Sturdy(task, made, watch)
    overlay, report = more.surviving(survive) if survive else more.saving(extra_edges)
    seconds = dict(made.seconds) | watch.seconds
    return replace(made, overlay=overlay, seconds=seconds, report=report)


def check_deaths_and_edges(survive: int, extra_edges: float, *, loads: bool = False) -> None:
    """Refuse to spend edges on splits where there are none, or under caps on `loads`."""
    if survive and extra_edges:
        raise UsageError(
            f"`extra_edges={extra_edges:g}` goes without `survive={survive}`: no death splits a topic there"
        )
    if loads and extra_edges:
        raise UsageError(
            f"`extra_edges={extra_edges:g}` goes without caps on loads: more edges are more to forward"
        )


def take_parameters(build: Callable[..., Build], known: Callable[..., Build], own: Sequence[str]) -> None:
    """Give `build` the parameters of `known` before its own, as the registry reads them."""
    hints = get_type_hints(build, include_extras=True)
    mine, whole = inspect.signature(build).parameters, [*inspect.signature(known).parameters.values()]
    place = [one.name for one in whole].index("seed")
    build.__annotations__ = get_type_hints(known, include_extras=True) | {name: hints[name] for name in own}
    added = [mine[name] for name in own]
    signature = inspect.signature(known).replace(parameters=[*whole[:place], *added, *whole[place:]])
    build.__signature__ = signature  # type: ignore[attr-defined]


take_parameters(build_sturdy, build_balanced, ("survive", "extra_edges"))


class _Sturdy:
    """What is added to one build of balanced."""

    def __init__(self, task: ConstrainedTask, made: Build, watch: Stopwatch) -> None:
        self._task, self._made, self._watch = task, made, watch
        self._cap = made.parameters["max_degree"]

    def surviving(self, deaths: int) -> tuple[Overlay, dict[str, Any]]:
        """Return an overlay in which topics survive so many deaths, as far as that can be had."""
        task, watch = self._task, self._watch
        edges = self._fixed_first(self._made.overlay)
        with watch.phase("close fragments"):
            edges, cap = Closing(task, deaths, watch.progress).close(edges, self._first_cap())
        with watch.phase("prune"):
            edges = pruned(task, edges, deaths, asked_hops(task.interest, self._bound()), watch.progress)
        overlay = Overlay.from_edges(task.interest.node_ids, *edges)
        report = self._report(overlay, max(cap, int(overlay.degrees().max(initial=0))))
        report |= fragile_report(task, edges, deaths, watch.progress)
        return overlay, report

    def saving(self, percent: float) -> tuple[Overlay, dict[str, Any]]:
        """Return the overlay with a share of its edges more, which save the most splits."""
        edges = self._fixed_first(self._made.overlay)
        budget = math.ceil(percent * len(edges[0]) / 100 - 1e-9)
        with self._watch.phase("save splits"):
            found, cap = spend_edges(self._task, edges, budget, self._first_cap(), self._watch.progress)
        overlay = Overlay.from_edges(self._task.interest.node_ids, *found)
        report = self._report(overlay, max(cap, int(overlay.degrees().max(initial=0))))
        return overlay, report | {"edges_added": len(found[0]) - len(edges[0])}

    def _bound(self) -> int | str:
        """Return the bound on hops that the build keeps: only a number asked for."""
        asked = self._made.parameters["max_hops"]
        survive = self._made.parameters["survive"]
        return "none" if survive and asked == "auto" else asked

    def _first_cap(self) -> int:
        return self._cap if isinstance(self._cap, int) else self._made.degree_max + ROOM

    def _fixed_first(self, overlay: Overlay) -> Edges:
        pairs = NodePairs(overlay.u, overlay.v).without(NodePairs(*self._task.fixed), overlay.n_nodes)
        return joined_edges(self._task.fixed, (pairs.u, pairs.v))

    def _report(self, overlay: Overlay, cap: int) -> dict[str, Any]:
        """Return what balanced reports, as it holds for the overlay that has grown out of its own."""
        kept = lasting_report(self._task.interest, self._made, overlay)
        kept |= {"cap": cap, "tree": False, "edges_before": self._made.n_edges}
        return kept | hops_report(self._task.interest, overlay, self._bound(), threads=self._task.threads)


def lasting_report(interest: Interest, made: Build, overlay: Overlay) -> dict[str, Any]:
    """Return what of a build's report also holds for an overlay that has grown out of its own."""
    stale: tuple[str, ...] = ("hops_", "topics_beyond", "max_hops", "remark", "edges_unbounded", "taken_")
    if (topic_components(interest, overlay) <= 1).all():
        stale += ("topics_split", "nodes_at_cap", "topics_cut_by", "smallest_cap", "impossible")
    return {key: value for key, value in made.report.items() if not key.startswith(stale)}


def pruned(task: ConstrainedTask, edges: Edges, deaths: int, bound: int | None, progress: Progress) -> Edges:
    """Drop edges that no topic needs to survive so many deaths, the fixed ones aside.

    No topic gets longer paths than `bound`, or than it has where it is beyond. Edges that carry a topic that
    is split stay as they are.
    """
    interest = task.interest
    overlay = Overlay.from_edges(interest.node_ids, *edges)
    whole = topic_components(interest, overlay) <= 1
    n_fixed = len(task.fixed[0])
    if not whole.all():
        kept = carries(interest, edges, ~whole)
        kept[:n_fixed] = True
        order = np.argsort(~kept, kind="stable")
        edges, n_fixed = (edges[0][order], edges[1][order]), int(kept.sum())
        interest = interest.only_topics(whole)
    search = SturdySearch(
        interest,
        edges,
        deaths=deaths,
        n_fixed=n_fixed,
        cap=int(overlay.degrees().max(initial=0)),
        constraints=task.constraints,
        seed=0,
        progress=progress,
    )
    radius = int(interest.topic_sizes().max(initial=1)) if bound is None else max(bound // 2, 1)
    search.center(radius)
    search.prune()
    return search.edges()


def carries(interest: Interest, edges: Edges, topics: Bools) -> Bools:
    """Return for each edge whether both its ends want one of these topics."""
    found: Bools = np.zeros(len(edges[0]), np.bool_)
    inside = np.zeros(interest.n_nodes, np.bool_)
    for topic in np.flatnonzero(topics).tolist():
        inside[:] = False
        inside[interest.nodes_of(topic)] = True
        found |= inside[edges[0]] & inside[edges[1]]
    return found


def fragile_report(task: ConstrainedTask, edges: Edges, deaths: int, progress: Progress) -> Mapping[str, Any]:
    """Return what a build says of the deaths that its topics survive; it names some that do not."""
    open_ = np.flatnonzero(open_fragments(task, edges, deaths, progress))
    report: dict[str, Any] = {"survive": deaths, "survives": len(open_) == 0}
    if len(open_):
        report["topics_fragile"] = [task.interest.topic_ids[int(t)].as_py() for t in open_[:NAMED]]
        report["topics_fragile_count"] = len(open_)
    return report
