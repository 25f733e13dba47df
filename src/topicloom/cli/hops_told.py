"""What `topicloom build` says about hops: how many there are, what the bound costs, and why it was missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.base.counts import counted

if TYPE_CHECKING:
    from topicloom.overlay.model.build import BuildSummary


def hops_told(summary: BuildSummary) -> list[str]:
    """Return one line about the hops of a build, if a bound was in force."""
    report = summary.report
    if "hops_max" not in report:
        return []
    asked = "asked for" if isinstance(summary.parameters.get("max_hops"), int) else "the bound is"
    line = f"hops inside topics: at most {report['hops_max']:,} ({asked} {report['max_hops']:,})"
    if "hops_mean" in report:
        line += f", mean {report['hops_mean']:.1f}, 95% up to {report['hops_p95']:,}"
    if "edges_unbounded" in report:
        more = summary.edges - report["edges_unbounded"]
        than = "more" if more >= 0 else "fewer"
        line += f"; {counted(abs(more), 'edge')} {than} than before paths were shortened"
    return [line]


def hops_missed(summary: BuildSummary) -> list[str]:
    """Return why the hops that were asked for by number are not kept; nothing if they are."""
    report = summary.report
    if report.get("hops_kept", True) or not isinstance(summary.parameters.get("max_hops"), int):
        return []
    names, count = report["topics_beyond"], report["topics_beyond_count"]
    more = f" and {count - 1:,} more" if count > 1 else ""
    return [
        f"no overlay within {report['max_hops']:,} hops was found: topic {names[0]!r}{more} has longer paths",
        f"next: --max-hops {report['hops_max']}, the smallest that was found, or a higher degree",
    ]
