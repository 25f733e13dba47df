"""How a plan's figures are told: first what its cost consists of, and what that means."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from topicloom.content.advice import advice

Problem = Annotated[
    Path | None,
    typer.Argument(
        metavar="DIR",
        help="A content problem: brokers, prices, rates, wants and channels (see content generate, traffic).",
        show_default=False,
    ),
]
OVERFLOWS = (
    "topicloom: the plan does not fit: {:,.6g} messages per second exceed the capacities; add capacity, or "
    "try --algorithm local-search"
)


def judged_lines(summary: dict[str, Any], name: str) -> list[str]:
    """Core share and density first, then cost, comparison with random plans, and the proved bound."""
    return [
        f"core share {summary['core_share']:.1%}: {advice(summary['core_share'], summary['broker_density'])}",
        f"density {summary['density']:.1%} of the (user, channel) pairs are wanted; "
        f"{summary['broker_density']:.1%} of the (broker, channel) pairs have a subscriber",
        f"{summary['users']:,} users, {summary['brokers_used']:,} of {summary['brokers']:,} brokers used, "
        f"{summary['channels']:,} channels; core model {summary['core_model']}",
        f"{name}: cost {summary['cost']:,.6g} = access {summary['access_cost']:,.6g} + core "
        f"{summary['core_cost']:,.6g}; random plans cost {summary['crr']:.2f} times as much",
        f"fullest broker at {summary['load_max_share']:.0%} of its capacity"
        + (f", {summary['overflow']:,.6g} too much in all" if summary["overflow"] else ""),
        f"no plan costs less than {summary['bound']:,.6g}{_within(summary['gap'])}",
    ]


def _within(gap: float | None) -> str:
    if gap is None:
        return ""
    if gap > 1.0:
        return f": this one costs at most {gap + 1.0:.1f} times the optimum"
    return f": this one is within {gap:.1%} of optimal"
