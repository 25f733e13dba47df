"""How a plan's figures are told: first what its cost consists of, and what that means."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli.words import in_options
from topicloom.content.jobs.plan import Judged
from topicloom.content.planners.advice import advice
from topicloom.content.planners.registry import DEFAULT

Problem = Annotated[
    Path | None,
    typer.Argument(
        metavar="DIR",
        help="A content problem: brokers, prices, rates, wants and channels (see content generate, traffic).",
        show_default=False,
    ),
]

PROVED, LOOSE = 1e-9, 0.5
"""Gaps up to which a plan is called optimal, and above which it is told in times instead of percent."""


def overflow_line(overflow: float, algorithm: str = "") -> str:
    """What to do about a plan that does not fit."""
    other = "" if algorithm == DEFAULT else f", or try --algorithm {DEFAULT}"
    return (
        f"topicloom: the plan does not fit: {overflow:,.6g} messages per second exceed the capacities; add "
        f"capacity{other}"
    )


def judged_lines(judged: Judged, name: str) -> list[str]:
    """Core share and density first, then cost, comparison with random plans, and the proved bound."""
    return [
        f"core share {judged.core_share:.1%}: "
        + in_options(advice(judged.core_share, judged.broker_density, judged.random_core_share)),
        f"density {judged.density:.1%} of the (user, channel) pairs are wanted; "
        f"{judged.broker_density:.1%} of the (broker, channel) pairs have a subscriber",
        f"{judged.users:,} users, {judged.brokers_used:,} of {judged.brokers:,} brokers used, "
        f"{judged.channels:,} channels; core model {judged.core_model}",
        f"{name}: cost {judged.cost:,.6g} = access {judged.access_cost:,.6g} + core "
        f"{judged.core_cost:,.6g}; random plans cost {_beside_random(judged)}",
        f"fullest broker at {judged.load_max_share:.0%} of its capacity"
        + (f", {judged.overflow:,.6g} too much in all" if judged.overflow else ""),
        f"no plan that fits costs less than {judged.bound:,.6g}{_within(judged.gap)}",
    ]


def _beside_random(judged: Judged) -> str:
    ratio = judged.crr
    return f"{judged.random_cost:,.6g}" if ratio is None else f"{ratio:.2f} times as much"


def _within(gap: float | None) -> str:
    if gap is None:
        return ""
    if gap <= PROVED:
        return ": this one is optimal"
    if gap > LOOSE:
        return f": this one costs at most {gap + 1.0:.1f} times the optimum"
    return f": this one is within {gap:.1%} of optimal"
