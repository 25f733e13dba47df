"""What `build` and `improve` say of objectives and of caps on loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topicloom.overlay.model.build import BuildSummary

UNITS = {
    "edges": "edges",
    "max-degree": "edges of the busiest node",
    "hops": "hops inside a topic at most",
    "mean-hops": "hops inside topics on average",
    "cost": "for all edges",
    "rate-hops": "hops of a delivery on average",
    "rate-ms": "ms of a delivery on average",
}


def objective_told(objective: str, before: float, after: float) -> str:
    """Say what the search has made of its objective."""
    return f"{before:,.6g} {UNITS[objective]} before, {after:,.6g} now"


def loads_missed(summary: BuildSummary) -> list[str]:
    """Return who has to forward more than it may."""
    report = summary.report
    if "nodes_above_load" not in report:
        return []
    name, count = report["nodes_above_load"][0], report["nodes_above_load_count"]
    whose = f"nodes {name!r} and {count - 1:,} more have" if count > 1 else f"node {name!r} has"
    return [f"{whose} to forward more than {'their caps' if count > 1 else 'its cap'} on loads"]
