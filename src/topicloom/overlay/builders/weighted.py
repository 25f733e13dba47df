"""Balanced with an objective: the fewest edges, what costs least, or what delivers soonest.

On small interests, where no death is to be survived, the search for few edges or a low maximum degree is that
of `best_of_small.py`. Else the build comes first, as without an objective. Then the searches of `improve` go
on from it under what holds of it: its edges (and `more_edges` percent), its maximum degree, its hops, its
survival. With caps on loads they also move what nodes forward above them, and may take more edges for that.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from topicloom.base.arrays import Floats
from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress
from topicloom.errors import UsageError
from topicloom.overlay.builders.best_of_small import AIMS, BOTH, SMALL_NODES
from topicloom.overlay.builders.hops import hops_report
from topicloom.overlay.builders.improve import improve_overlay
from topicloom.overlay.builders.improve_goals import (
    OBJECTIVES,
    ROUNDED,
    check_objective,
    load_above_caps,
)
from topicloom.overlay.builders.sturdy import (
    build_sturdy,
    check_deaths_and_edges,
    lasting_report,
    take_parameters,
)
from topicloom.overlay.measures.connectivity import topic_components
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

ROUNDS = 60  # of search, where no time limit says how long
NO_MORE = (BOTH, "edges")  # objectives for which no edge is added
FOR_LOADS = (10, 30)  # percent of edges more, one after the other, where a cap on loads is not met without
TOLD = (
    "objective",
    "objective_start",
    "rounds",
    "edges_added",
    "nodes_above_load",
    "nodes_above_load_count",
    "edges_for_loads",
)

Objective = Annotated[
    str,
    Parameter(
        "what is to be least; both: few edges under a low maximum degree, neither alone", (BOTH, *OBJECTIVES)
    ),
]
MoreEdges = Annotated[
    float, Parameter("percent of edges that an objective other than edges may add", least=0, most=1000)
]


def build_weighted(
    interest: Interest,
    *,
    constraints: Constraints = UNCONSTRAINED,
    start: Overlay | None = None,
    objective: Objective = BOTH,
    more_edges: MoreEdges = 0.0,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
    **parameters: Any,
) -> Build:
    """Run balanced; with an `objective`, or caps on loads, improve what it has made.

    That takes `time_limit` seconds more where there is a limit, and else 60 rounds. Topics that are split
    stay so: the search goes on with the others. `extra_edges` are spent at the end. Where a cap on loads is
    not met with the edges allowed, and `more_edges` does not say how many they are, more are taken.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    >>> build_weighted(interest, objective="mean-hops", more_edges=50.0).n_edges
    4
    """
    aim = "edges" if objective == BOTH else objective
    check_objective(aim, constraints, interest)
    if more_edges and objective in NO_MORE:
        raise UsageError(
            f"`more_edges={more_edges:g}` goes without `objective={objective}`, which takes none"
        )
    near = objective in AIMS and interest.n_nodes <= SMALL_NODES and not parameters.get("survive")
    loads = constraints.load_caps is not None
    done = not loads and (objective == BOTH or (near and not more_edges))
    extra = 0.0 if done else float(parameters.get("extra_edges", 0.0))
    check_deaths_and_edges(int(parameters.get("survive", 0)), extra, loads=loads)
    made = build_sturdy(
        interest,
        constraints=constraints.without_weights(),
        start=start,
        objective=objective if near else BOTH,
        seed=seed,
        threads=threads,
        progress=progress,
        **(parameters | ({"extra_edges": 0.0} if extra else {})),
    )
    asked = {"objective": objective, "more_edges": more_edges} | ({"extra_edges": extra} if extra else {})
    made = replace(made, parameters={**made.parameters, **asked})
    if done:
        return made
    limit = float(parameters.get("time_limit", 0.0))
    max_hops = made.parameters["max_hops"]
    most, survive = _most_edges(made, aim, more_edges), _survived(made)
    # The search that keeps survival adds no edge, and costs have no bound on edges.
    more = loads and not (more_edges or survive or most == "auto")
    tries = 1 + (len(FOR_LOADS) + (aim != "edges") if more else 0)
    limits = _with_start(constraints, start, interest.n_nodes)
    search = partial(
        improve_overlay,
        interest,
        objective=aim,
        constraints=limits,
        survive=survive,
        extra_edges=extra,
        max_hops=max_hops,
        time_limit=limit / tries,
        rounds="auto" if limit else ROUNDS,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    better = search(made.overlay, max_edges=most)
    if more:
        above = partial(load_above_caps, interest, constraints=limits, threads=threads)
        better = _within_loads(search, above, made, better, limit)
    report = lasting_report(interest, made, better.overlay)
    if (topic_components(interest, better.overlay) <= 1).all():
        bound = "none" if max_hops == "auto" and parameters.get("survive") else max_hops  # as before
        report |= hops_report(interest, better.overlay, bound, threads=threads)
    report |= {"cap": better.degree_max, "tree": False}
    report |= {key: better.report[key] for key in TOLD if key in better.report}
    if extra:
        report["edges_before"] = better.n_edges - better.report["edges_added"]
    seconds = dict(made.seconds) | {f"improve: {name}": value for name, value in better.seconds.items()}
    return replace(made, overlay=better.overlay, seconds=seconds, report=report)


def _within_loads(
    search: partial[Build], above: Callable[[Overlay], Floats], made: Build, better: Build, limit: float
) -> Build:
    """Return what meets the caps on loads with more edges, if those there are do not do; told in the report.

    Edges between nodes that forward little take the place of those at a node that forwards too much. At last
    the maximum degree may rise by one, unless one was asked for. Every try is for few edges, as another
    objective takes all that it is allowed, and it counts only if less is forwarded above caps. Then the
    objective asked for has the edges that are there, and what is left of `limit` seconds.
    """
    first, steps, left = better, [better], limit - search.keywords["time_limit"]
    for percent in FOR_LOADS:
        if "nodes_above_load" not in better.report:
            break
        most = max(better.n_edges, made.n_edges + math.ceil(percent * made.n_edges / 100))
        last = percent == FOR_LOADS[-1] and not isinstance(made.parameters["max_degree"], int)
        degree = better.degree_max + 1 if last else "auto"  # auto: as large as it is
        found = search(better.overlay, objective="edges", max_edges=most, max_degree=degree)
        steps.append(found)
        left -= search.keywords["time_limit"]
        if above(found.overlay).sum() < above(better.overlay).sum() * (1 - ROUNDED):
            better = found
    other = search.keywords["objective"] != "edges"
    if (better is not first and other) or (limit and (other or len(steps) <= len(FOR_LOADS))):
        most = max(better.n_edges, made.n_edges)
        better = search(better.overlay, max_edges=most, time_limit=max(left, 0.0))
        steps.append(better)
    seconds: Counter[str] = Counter()
    for step in steps:
        seconds.update(step.seconds)
    report = dict(better.report) | {"objective_start": first.report["objective_start"]}
    report["rounds"] = sum(step.report["rounds"] for step in steps)
    if better.n_edges > made.n_edges:
        report["edges_for_loads"] = better.n_edges - made.n_edges
    return replace(better, seconds=dict(seconds), report=report)


def _survived(made: Build) -> int:
    """Return the deaths that the build is to survive, if it does."""
    return int(made.parameters["survive"]) if made.report.get("survives") else 0


def _most_edges(made: Build, objective: str, percent: float) -> int | str:
    """Return the bound on edges: those there are and some percent; costs alone need none."""
    if objective == "cost" and not percent:
        return "auto"
    more = 0 if objective == "edges" else int(percent * made.n_edges / 100 + 1e-9)
    return made.n_edges + more


def _with_start(constraints: Constraints, start: Overlay | None, n_nodes: int) -> Constraints:
    """Return the constraints under which existing edges are required ones."""
    if start is None:
        return constraints
    kept = NodePairs(start.u, start.v).without(constraints.forbidden, n_nodes)
    u, v = (
        [*one.tolist(), *two.tolist()]
        for one, two in ((kept.u, constraints.required.u), (kept.v, constraints.required.v))
    )
    return replace(constraints, required=NodePairs.of(u, v, n_nodes))


take_parameters(build_weighted, build_sturdy, ("objective", "more_edges"))
