"""The phases of divide and conquer in order, on any engine, and what a build reports about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from topicloom.base.arrays import Floats
from topicloom.base.progress import Stopwatch
from topicloom.base.summaries import plain
from topicloom.overlay.builders.divide.groups import clump_groups, group_sizes
from topicloom.overlay.builders.divide.plan import DivideEngine, DividePlan, DivideSettings, plan_levels


def run_phases(
    engine: DivideEngine,
    settings: DivideSettings,
    watch: Stopwatch,
    notice: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Plan the levels, then build them one after the other; the report.

    `notice` hears, before anything is built, of a plan that does not keep to the limit.
    """
    with watch.phase("choose representatives"):
        plan = plan_levels(engine, settings)
    if notice is not None and (remark := plan.remark()):
        notice(remark)
    edges = []
    for level in range(plan.n_steps):
        shown = f"{phase_name(level)} (level {level + 1} of {plan.n_steps})"
        with watch.phase(phase_name(level), max(plan.groups_at(level), 1), shown=shown):
            edges.append(engine.build(plan.groups, level))
    moves = settings.moves
    if moves is None or sum(plan.levels[0].nodes) == 0:
        return describe(plan, edges)
    with watch.phase(POLISH, max(plan.groups_at(0), 1)):
        polished = engine.polish(plan.groups, moves)
    return describe(plan, [polished.edges, *edges[1:]]) | {"polish": plain(polished)}


POLISH = "polish"


def phase_name(level: int) -> str:
    """Return the name of the phase that builds a level."""
    return "conquer" if level == 0 else f"combine {level}"


def describe(plan: DividePlan, edges: list[int]) -> dict[str, Any]:
    """Return the plan in figures; `edges` are those of each level and of the last call."""
    remark = plan.remark()
    return {
        "bulk": plan.n_bulk,
        "light": sum(plan.levels[0].nodes),
        "representatives": sum(plan.levels[0].representatives),
        "groups": plan.groups[0],
        "pn_ratio": pn_ratio(plan),
        "inner_edges": edges[0],
        "outer_edges": sum(edges[1:]),
        "levels": [_level(plan, level, edges[level]) for level in range(plan.n_steps)],
        **({"remark": remark} if remark else {}),
    }


def _level(plan: DividePlan, level: int, edges: int) -> dict[str, Any]:
    """Describe one level; `nodes_known` are the nodes that a member had to know [Chen2010, IV-D]."""
    last = level == len(plan.levels)
    nodes = (plan.n_last,) if last else plan.levels[level].nodes
    return {
        "phase": phase_name(level),
        "groups": len(nodes),
        "nodes": sum(nodes),
        "largest_group": max(nodes, default=0),
        "representatives": 0 if last else sum(plan.levels[level].representatives),
        "edges": edges,
        "nodes_known": nodes_known(plan)[level],
    }


def nodes_known(plan: DividePlan) -> list[dict[str, float]]:
    """Return how many nodes, itself included, a member of each level has to know: min, avg, max.

    A light node knows its group. A representative knows the other members of its group at the next level
    too, and so on; a bulk node knows the groups it is in from level 1 on. Where representatives of one group
    know different numbers of nodes, the larger one is taken for the next level.
    """
    nodes = np.array(plan.levels[0].nodes, dtype=np.float64)
    found = [_summed(nodes, nodes)]
    known = nodes  # what a member of each clump knows
    for level, dealt in enumerate(plan.levels, start=1):
        clumps = np.array(dealt.representatives, dtype=np.float64)
        n_groups, n_singles = plan.groups_at(level), plan.n_bulk if level == 1 else 0
        nodes = group_sizes(dealt.representatives, n_singles, n_groups).astype(np.float64)
        home = clump_groups(len(clumps), n_groups)
        singles = nodes - np.bincount(home, clumps, n_groups)
        by_clump = known - clumps + nodes[home]
        found.append(_summed(np.concatenate((by_clump, nodes)), np.concatenate((clumps, singles))))
        known = nodes
        np.maximum.at(known, home, np.where(clumps > 0, by_clump, 0.0))
    return found


def pn_ratio(plan: DividePlan) -> float:
    """Return the largest share of all nodes that any one node has to know [Chen2010, Equation 12]."""
    n_nodes = plan.n_bulk + sum(plan.levels[0].nodes)
    return max(known["max"] for known in nodes_known(plan)) / max(n_nodes, 1)


def _summed(known: Floats, members: Floats) -> dict[str, float]:
    """Summarise over all members; `known[i]` is what each of `members[i]` nodes knows."""
    there = members > 0
    if not there.any():
        return {"min": 0, "avg": 0.0, "max": 0}
    average = round(float((known * members).sum() / members.sum()), 1)
    return {"min": int(known[there].min()), "avg": average, "max": int(known[there].max())}
