"""The phases of divide and conquer in their order, on any engine, and what a build reports about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from topicloom.base.progress import Stopwatch
from topicloom.overlay.builders.divide.knowledge import knowledge, pn_ratio
from topicloom.overlay.builders.divide.plan import Ground, Plan, Settings, plan_levels


def run_phases(
    ground: Ground, settings: Settings, watch: Stopwatch, notice: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Plan the levels, then build them one after the other; the report.

    `notice` hears, before anything is built, of a plan that does not keep to the limit.
    """
    with watch.phase("choose representatives"):
        plan = plan_levels(ground, settings)
    if notice is not None and (remark := plan.remark()):
        notice(remark)
    edges = []
    for level in range(plan.n_steps):
        shown = f"{phase_name(level)} (level {level + 1} of {plan.n_steps})"
        with watch.phase(phase_name(level), max(plan.groups_at(level), 1), shown=shown):
            edges.append(ground.build(plan.groups, level))
    return describe(plan, edges)


def phase_name(level: int) -> str:
    """What the phase that builds a level is called."""
    return "conquer" if level == 0 else f"combine {level}"


def describe(plan: Plan, edges: list[int]) -> dict[str, Any]:
    """The plan in figures; `edges` are those of each level and of the last call."""
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


def _level(plan: Plan, level: int, edges: int) -> dict[str, Any]:
    """One level; `nodes_known` are the nodes that a member had to know [Chen2010, IV-D]."""
    last = level == len(plan.levels)
    nodes = (plan.n_last,) if last else plan.levels[level].nodes
    known = knowledge(plan)[level]
    return {
        "phase": phase_name(level),
        "groups": len(nodes),
        "nodes": sum(nodes),
        "largest_group": max(nodes, default=0),
        "representatives": 0 if last else sum(plan.levels[level].representatives),
        "edges": edges,
        "nodes_known": {"min": known.least, "avg": known.average, "max": known.most},
    }
