"""Exact: the fewest edges, or the lowest maximum degree and then the fewest edges, with a proof.

Branch and cut on an integer program (Bonnet, Falamas and Watrigant 2019 and Dar et al. 2021 solve the same
problem under the names minimum connectivity inference and subset interconnection design); ours cuts by
partitions, which leaves a linear bound that is mostly the optimum itself. Guarantee: the overlay is
topic-connected, no worse than the best heuristic, and within the reported bounds whenever time runs out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.base.solver.linear_program import Budget
from topicloom.errors import UsageError
from topicloom.overlay.builders.balanced import build_balanced, default_work
from topicloom.overlay.builders.exact_parts import ExactAnswer, fewest_edges, lowest_degree
from topicloom.overlay.builders.exact_program import count_pairs
from topicloom.overlay.builders.gm import build_gm, build_gm_m
from topicloom.overlay.builders.serving_tree import serving_tree
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

# Whose overlays it starts from; the best one is the answer if the search finds nothing better.
HEURISTICS: tuple[Callable[..., Build], ...] = (build_gm, build_gm_m, build_balanced)

START_SHARE = 0.25  # of the time limit; `balanced` takes as long as it is let, the others are quick
MAX_PAIRS = 200_000


def build_exact(
    interest: Interest,
    *,
    objective: Annotated[
        str, Parameter("what is minimised; max-degree: first that, then the edges", ("edges", "max-degree"))
    ] = "edges",
    time_limit: Annotated[
        float, Parameter("seconds after which the best so far is given; 0: none", least=0)
    ] = 60.0,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Build:
    """Find the optimum, or the best overlay within `time_limit` seconds (0: no limit).

    `objective="edges"` minimises the edges, `"max-degree"` first the maximum degree and then the edges at
    that degree. The report holds `optimal`, `edges_bound` (no overlay has fewer; with `max-degree`
    `edges_bound_at_degree`), `degree_max_bound` and `gap`, the share of edges above their bound. The same
    seed gives the same edges where no time limit cuts it.

    >>> interest = Interest.from_pairs([(node, topic) for node in "abcd" for topic in "xyz"])
    >>> build = build_exact(interest)
    >>> build.overlay.n_edges, build.report["optimal"]
    (3, True)
    """
    if time_limit:
        _compile()
    watch = Stopwatch(progress)
    budget = Budget(time_limit, progress)
    with watch.phase("test for one tree"):
        tree = serving_tree(interest, twins="path", progress=progress)
    answer = None if tree is None else _tree_answer(interest, tree, objective)
    report: dict[str, Any] = {"tree": tree is not None}
    if answer is None:
        if count_pairs(interest, MAX_PAIRS) > MAX_PAIRS:
            raise UsageError(
                f"exact takes at most {MAX_PAIRS:,} pairs of nodes that share a topic, this interest has "
                "more; use `algorithm=balanced`, with `certify` for a bound on its gap"
            )
        with watch.phase("start from heuristics"):
            overlays = _start_overlays(interest, time_limit, seed, threads, progress)
        if tree is not None:
            overlays["tree"] = Overlay.from_edges(interest.node_ids, *tree)
        best = min(overlays, key=lambda name: _worth(overlays[name], objective))
        report |= {"start": best, "start_edges": overlays[best].n_edges}
        with watch.phase("search"):
            solve = fewest_edges if objective == "edges" else lowest_degree
            answer = solve(interest, overlays[best], budget)
    overlay = Overlay.from_edges(interest.node_ids, *answer.edges)
    parameters = {"objective": objective, "time_limit": time_limit}
    return Build(overlay, "exact", parameters, seed, watch.seconds, report | _report(answer, overlay))


@cache
def _compile() -> None:
    """Have everything compiled by a run on a toy: a time limit is for the search, not for first use."""
    toy = Interest.from_pairs([(f"n{i}", f"t{i * k % 7}") for i in range(12) for k in (1, 2, 3)])
    for objective in ("edges", "max-degree"):
        build_exact(toy, objective=objective, time_limit=0)


def _report(answer: ExactAnswer, overlay: Overlay) -> dict[str, Any]:
    edges, degree = overlay.n_edges, int(overlay.degrees().max(initial=0))
    return {
        "optimal": edges == answer.edges_bound and (degree == answer.degree_bound or not answer.by_degree),
        # At a given maximum degree more edges may be needed than without: no bound for every overlay.
        "edges_bound_at_degree" if answer.by_degree else "edges_bound": answer.edges_bound,
        "degree_max_bound": answer.degree_bound,
        "gap": edges / answer.edges_bound - 1 if edges else 0.0,
        **answer.work,
    }


def _tree_answer(interest: Interest, tree: tuple[Ints, Ints], objective: str) -> ExactAnswer | None:
    """Return a serving tree as the answer: it has the fewest edges; its degree must meet the bound too."""
    u, v = tree
    degrees = np.bincount(np.concatenate(tree), minlength=interest.n_nodes)
    chained = bool((degrees > 1).any())  # three nodes in a row: somebody has two neighbors in any overlay
    bound = 2 if chained else min(len(u), 1)
    if objective == "max-degree" and int(degrees.max(initial=0)) > bound:
        return None
    return ExactAnswer((u, v), len(u), bound, by_degree=objective == "max-degree")


def _worth(overlay: Overlay, objective: str) -> tuple[int, int]:
    """Rank an overlay: smaller is better."""
    both = (overlay.n_edges, int(overlay.degrees().max(initial=0)))
    return both if objective == "edges" else both[::-1]


def _start_overlays(
    interest: Interest, time_limit: float, seed: int, threads: int | None, progress: Progress
) -> dict[str, Overlay]:
    """Return the overlays of the heuristics by name, without those that do not serve every topic."""
    overlays = {}
    for make in HEURISTICS:
        limits: dict[str, float] = {}
        if make is build_balanced:  # without `work` it would use all the time it is given
            limits = {"work": default_work(interest.n_nodes), "time_limit": time_limit * START_SHARE}
        build = make(interest, seed=seed, threads=threads, progress=progress, **limits)
        # What it starts from is what it may give back, so nothing is taken on trust.
        if check_overlay(interest, build.overlay).topic_connected:
            overlays[build.algorithm] = build.overlay
    return overlays
