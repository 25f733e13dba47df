"""Balanced with an objective: the fewest edges, what costs least, or what delivers soonest.

On small interests, where no death is to be survived, the search for few edges or a low maximum degree is that
of `best_of_small.py`. Else the build comes first, as without an objective. Then the searches of `improve` go
on from it under what holds of it: its edges (and `more_edges` percent), its maximum degree, its hops, its
survival. With caps on loads they also move what nodes forward above them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress
from topicloom.errors import UsageError
from topicloom.overlay.builders.best_of_small import AIMS, BOTH, SMALL_NODES
from topicloom.overlay.builders.hops import hops_report
from topicloom.overlay.builders.improve import improve_overlay
from topicloom.overlay.builders.improve_goals import OBJECTIVES, check_objective
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
TOLD = (
    "objective",
    "objective_start",
    "rounds",
    "edges_added",
    "nodes_above_load",
    "nodes_above_load_count",
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
    stay so: the search goes on with the others. `extra_edges` are spent at the end.

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
    better = improve_overlay(
        interest,
        made.overlay,
        objective=aim,
        constraints=_with_start(constraints, start, interest.n_nodes),
        survive=_survived(made),
        extra_edges=extra,
        max_hops=max_hops,
        max_edges=_most_edges(made, aim, more_edges),
        time_limit=limit,
        rounds="auto" if limit else ROUNDS,
        seed=seed,
        threads=threads,
        progress=progress,
    )
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
