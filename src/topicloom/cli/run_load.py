"""What `topicloom run` says of traffic: how long it takes, how much goes, what broken links do to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topicloom.mesh.jobs.run import RunSummary
    from topicloom.mesh.run.cuts import BrokenLinks

SLOWEST = 3  # topics shown with their latency


def broken_line(one: BrokenLinks) -> str:
    """Say what came of links that were cut or stalled."""
    how = "stalled" if one.how == "stall" else "cut"
    line = f"{one.links:,} links {how} for {one.seconds:.0f} s: {one.lost:,} of {one.delivered + one.lost:,} "
    line += (
        f"deliveries lost{'' if one.durable else ', as links keep nothing'}, {one.doubled:,} messages doubled"
    )
    if one.retained:
        line += f"; {one.retained_wrong:,} of {one.retained:,} retained messages wrong"
    again = "exact again" if one.exact_again else "NOT exact again"
    back = "" if one.how == "stall" else f"all links back after {one.seconds_back:.1f} s, "
    return f"{line}; {back}{again}"


def rate_lines(summary: RunSummary) -> list[str]:
    """Say at which rate messages are dropped, if that was asked."""
    if summary.rate is None:
        return []
    found, why = summary.rate, "and our clients cannot publish faster"
    if found.lossy_rate is not None:
        why = f"at {found.lossy_rate:,.0f} some were lost"
    return [
        f"rate: {found.rate:,.0f} messages per second ({found.deliveries:,.0f} deliveries) without a loss, "
        f"{why}; half of the deliveries took up to {found.latency.p50_ms or 0:.1f} ms, 99% up to "
        f"{found.latency.p99_ms or 0:.1f} ms"
    ]


def slowest_lines(summary: RunSummary) -> list[str]:
    """Name the topics that take longest, beside their hops."""
    found = sorted(summary.latency.topics, key=lambda one: (-one.p99_ms, one.topic))[:SLOWEST]
    return [
        f"{one.topic[:60]}: p50 {one.p50_ms:.1f} ms, p99 {one.p99_ms:.1f} ms, up to {one.hops_max:,} hops"
        for one in found
    ]


def latency_line(summary: RunSummary) -> str:
    """Return half and 99% of all deliveries."""
    found = summary.latency
    if found.p50_ms is None or not found.topics:
        return "not measured"
    return f"p50 {found.p50_ms:.1f} ms, p99 {found.p99_ms:.1f} ms"
