"""What `topicloom build` says about deaths: what surviving them costs, and which topics do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.base.counts import counted
from topicloom.base.summaries import UNSET

if TYPE_CHECKING:
    from topicloom.overlay.model.build import BuildSummary


def deaths_told(summary: BuildSummary) -> list[str]:
    """Return one line about the edges that were spent on deaths, if any were."""
    report = summary.report
    before = report.get("edges_before")
    if before is None:
        return []
    more = f"{counted(summary.edges - before, 'edge')} more than without"
    if before:
        more += f" ({summary.edges / before - 1:.1%})"
    if "survive" in report:
        whose = "any node" if report["survive"] == 1 else f"any {report['survive']} nodes"
        return [f"to survive the death of {whose}: {more}"]
    return [f"to save splits by the death of a node: {more}"]


def deaths_missed(summary: BuildSummary) -> list[str]:
    """Return why the topics do not survive the deaths asked for; nothing if they do."""
    if summary.survival is UNSET or summary.survival.survives:
        return []
    from topicloom.overlay.model.verdict import survival_told

    return [
        f"no overlay that survives was found: {survival_told(summary.survival)}",
        "next: higher caps, or fewer forbidden pairs",
    ]
