"""What the command line says about constraints: what was limited, and what to do where they leave no way."""

from __future__ import annotations

from topicloom.base.summaries import Report
from topicloom.overlay.model.build import BuildSummary

WORDS = {
    "caps": "node{s} with a cap",
    "forbid": "forbidden pair{s}",
    "require": "required pair{s}",
    "costs": "pair{s} with a cost",
    "start": "existing edge{s}",
}
SHOWN = 5
"""So many topics or nodes are named on the screen; the report in summary.json names more."""


def limits_told(summary: BuildSummary) -> list[str]:
    """One line about the constraints of a build, if it had any."""
    counts = summary.parameters.get("constraints")
    if not counts:
        return []
    told = ", ".join(
        f"{count:,} {WORDS[kind].format(s='' if count == 1 else 's')}" for kind, count in counts.items()
    )
    cost = summary.report.get("cost_total")
    return [f"constraints: {told}" + ("" if cost is None else f"; total cost {cost:,.6g}")]


def infeasible(summary: BuildSummary) -> list[str]:
    """Why topics stayed split under constraints, and what to do next; nothing if none were given."""
    report = summary.report
    if "topics_split" not in report:
        return []
    proof = report["impossible"]
    lines = [
        "no overlay was found that connects every topic under these constraints (there may be one)"
        if proof is None
        else f"no overlay connects every topic under these constraints: {proof}",
        f"topics that stay split: {_listed(report, 'topics_split')}",
    ]
    if report["nodes_at_cap_count"]:
        lines.append(f"nodes at their cap: {_listed(report, 'nodes_at_cap')}")
    return [*lines, f"next: {_advice(report)}"]


def _advice(report: Report) -> str:
    if report["topics_cut_by_forbidden_count"]:
        return f"allow a pair across {_listed(report, 'topics_cut_by_forbidden')}; no cap helps there"
    cap = report["smallest_cap"]
    if cap is None:
        return "try another builder or fewer constraints"
    return f"raise every cap to at least {cap}, with which this builder connects every topic"


def _listed(report: Report, key: str) -> str:
    names, count = report[key][:SHOWN], report[f"{key}_count"]
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    return ", ".join(map(repr, names)) + more
