"""Balanced, and on small interests the best of it and of quick builders: the default loses to none of them.

On a few dozen nodes luck decides between heuristics, and trying them all costs milliseconds. The best is the
one with the fewest edges, then with the lowest maximum degree. An overlay beyond the bound on hops, above a
maximum degree that was asked for, or with hubs that balanced does without, does not win. Who names one of the
two as objective gets the best by that, and on a few hundred nodes a search of neighborhoods from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from topicloom.base.progress import SILENT, Progress, QuietProgress, Stopwatch
from topicloom.overlay.builders.balanced import build_balanced
from topicloom.overlay.builders.constrained import ConstrainedTask
from topicloom.overlay.builders.gm import build_gm, build_gm_m
from topicloom.overlay.builders.hops import asked_hops, hops_report, topic_hops
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

SMALL_NODES = 1_000  # up to so many gm and gm-m are tried
EXACT_NODES, EXACT_PAIRS = 40, 1_000  # up to so many nodes, and pairs that share a topic, exact is tried too
HUB, ROOM = 1.2, 4  # times the maximum degree of balanced, or so much more, and an overlay does not win
NEAR_NODES = 300  # up to so many neighborhoods are searched for an objective
SEARCH_SHARE = 0.5  # of a time limit, that balanced may use before
EXACT_STEPS = 100  # linear programs that it solves, a fixed number: the same edges on any machine

BOTH = "both"  # few edges under a low maximum degree, neither alone
AIMS = (BOTH, "edges", "max-degree")  # what is to be least


def build_best_balanced(
    interest: Interest,
    *,
    constraints: Constraints = UNCONSTRAINED,
    start: Overlay | None = None,
    objective: str = BOTH,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
    **parameters: Any,
) -> Build:
    """Run `build_balanced`; up to `SMALL_NODES` nodes without constraints take the best of several overlays.

    Tried are gm and gm-m and, up to `EXACT_NODES` nodes and `EXACT_PAIRS` pairs, exact for `EXACT_STEPS`
    steps. Where one of them wins the report has `taken_from` and `taken_because`. With an `objective` the
    best by that is taken, and up to `NEAR_NODES` nodes neighborhoods are searched from there, under
    constraints too.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    >>> build_best_balanced(interest).n_edges
    3
    """
    shared: dict[str, Any] = {"seed": seed, "threads": threads, "progress": progress}
    limit = float(parameters.get("time_limit", 0.0))
    aimed = objective != BOTH
    mine = parameters | ({"time_limit": SEARCH_SHARE * limit} if aimed and limit else {})
    began = progress.now()
    made = build_balanced(interest, constraints=constraints, start=start, **shared, **mine)
    free = not constraints.kinds() and start is None
    if aimed:
        made = replace(made, parameters={**made.parameters, "time_limit": limit})
    if interest.n_nodes > SMALL_NODES or not (free or aimed) or not made.n_edges:
        return made
    watch = Stopwatch(QuietProgress(progress))
    best, name = made.overlay, made.algorithm
    with watch.phase("try others"):
        for other, overlay in _others(interest, best, made.parameters, shared) if free else ():
            if _worth(overlay, objective) < _worth(best, objective) and _allowed(
                interest, overlay, made, hubs=aimed
            ):
                best, name = overlay, other
    if aimed and interest.n_nodes <= NEAR_NODES:
        left = max(limit - (progress.now() - began), 0.001) if limit else 0.0
        task = ConstrainedTask.of(interest, constraints, start, threads=threads)
        with watch.phase("search neighborhoods"):
            found = _near(task, best, made, objective, left, shared)
        if _worth(found, objective) < _worth(best, objective) and _allowed(interest, found, made, hubs=True):
            best, name = found, "neighborhoods"
    seconds = dict(made.seconds) | watch.seconds
    if best is made.overlay:
        return replace(made, seconds=seconds)
    return replace(made, overlay=best, seconds=seconds, report=_report(interest, made, best, name, threads))


def _near(
    task: ConstrainedTask, best: Overlay, made: Build, objective: str, seconds: float, shared: dict[str, Any]
) -> Overlay:
    """Return what a search of neighborhoods finds from an overlay; it keeps what was promised."""
    # Loading the solver takes longer than most small builds.
    from topicloom.base.solver.linear_program import Budget
    from topicloom.overlay.builders.neighborhoods import STEPS, NeighborhoodSearch

    if not check_overlay(task.interest, best).topic_connected:
        return best
    caps, cap = task.constraints.caps, made.parameters["max_degree"]
    if isinstance(cap, int):
        most = np.full(best.n_nodes, max(cap, made.degree_max))
        caps = most if caps is None else np.minimum(caps, most)
    bound = asked_hops(task.interest, made.parameters["max_hops"])
    if bound is not None:
        bound = max(bound, int(topic_hops(task.interest, best).max(initial=0)))
    budget = Budget(seconds, QuietProgress(shared["progress"]), steps=STEPS)
    search = NeighborhoodSearch(
        task, best, objective, caps=caps, bound=bound, seed=shared["seed"], budget=budget
    )
    return search.run() if search.is_small else best


# The registry reads the parameters off the signature: they are those of balanced.
build_best_balanced.__wrapped__ = build_balanced  # type: ignore[attr-defined]
build_best_balanced.__annotations__ = build_balanced.__annotations__


def _others(
    interest: Interest, best: Overlay, parameters: Any, shared: dict[str, Any]
) -> Iterator[tuple[str, Overlay]]:
    """Yield the overlays of the other builders by name; exact starts from the best one so far."""
    quiet = shared | {"progress": QuietProgress(shared["progress"])}
    for build in (build_gm, build_gm_m):
        found = build(interest, twins=parameters["twins"], **quiet)
        if _worth(found.overlay) < _worth(best):
            best = found.overlay
        yield found.algorithm, found.overlay
    if interest.n_nodes <= EXACT_NODES and not parameters["time_limit"]:
        # Loading the solver takes longer than most small builds.
        from topicloom.overlay.builders.exact_program import count_pairs

        if count_pairs(interest, EXACT_PAIRS) <= EXACT_PAIRS:
            yield "exact", _searched(interest, best, quiet["progress"])


def _searched(interest: Interest, start: Overlay, progress: Progress) -> Overlay:
    """Return what a few steps of the exact search find from an overlay."""
    from topicloom.base.solver.linear_program import Budget
    from topicloom.overlay.builders.exact_parts import fewest_edges

    found = fewest_edges(interest, start, Budget(0, progress, steps=EXACT_STEPS))
    return Overlay.from_edges(interest.node_ids, *found.edges)


def _worth(overlay: Overlay, objective: str = BOTH) -> tuple[int, int]:
    """Rank an overlay: smaller is better."""
    both = overlay.n_edges, int(overlay.degrees().max(initial=0))
    return both[::-1] if objective == "max-degree" else both


def _allowed(interest: Interest, overlay: Overlay, made: Build, *, hubs: bool = False) -> bool:
    """Return whether an overlay may win: connected, within the hops and the maximum degree asked for.

    Only where `hubs` are welcome may it have nodes of many more edges than balanced makes.
    """
    bound, cap = asked_hops(interest, made.parameters["max_hops"]), made.parameters["max_degree"]
    if bound is not None:
        most = max(bound, int(topic_hops(interest, made.overlay).max(initial=0))) if hubs else bound
        if topic_hops(interest, overlay).max(initial=0) > most:
            return False
    edges, degree = _worth(overlay)
    if isinstance(cap, int) and degree > max(cap, made.degree_max):
        return False
    hub = degree > max(HUB * made.degree_max, made.degree_max + ROOM)
    if hub and not hubs and edges * degree > made.n_edges * made.degree_max:
        return False  # a few edges less are no gain if one node has to take all of them
    return check_overlay(interest, overlay).topic_connected


def _report(interest: Interest, made: Build, best: Overlay, name: str, threads: int | None) -> dict[str, Any]:
    """Return the report of balanced as it holds for the overlay that won, and why that one did."""
    edges, degree = _worth(best)
    about_hops = ("hops_", "topics_beyond", "remark")
    report = {key: value for key, value in made.report.items() if not key.startswith(about_hops)}
    report |= {"cap": degree, "tree": False}
    report |= hops_report(interest, best, made.parameters["max_hops"], threads=threads)
    mine = "their search" if name == "neighborhoods" else name
    why = f"{mine} has {edges:,} edges and a maximum degree of {degree:,}, the search of balanced "
    return report | {
        "taken_from": name,
        "taken_because": f"{why}{made.n_edges:,} and {made.degree_max:,}",
    }
