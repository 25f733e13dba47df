"""Which builder runs when none is named: balanced while its time model allows, else divide and conquer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from topicloom.base.arrays import Longs
from topicloom.overlay.builders.balanced import default_work
from topicloom.overlay.builders.registry import parse_parameters
from topicloom.overlay.measures.profile_advice import told_seconds

DEFAULT, FALLBACK = "balanced", "dcbr-m"
MOST_SECONDS = 600.0
EDGES_PER_NODE = 2.5

# Fitted to builds of 1,000 to 10,000 nodes on two cores of about 3 GHz: seconds for each list entry that one
# scan of all rows reads, where nodes want ten topics (a build scans about five times, and ends the sooner the
# more topics nodes share), for each subscription, for each move.
PER_ENTRY, USUAL_SIZE, PER_SUBSCRIPTION = 2.5e-8, 10.0, 1e-5
PER_MOVE, PER_MOVE_AND_NODE = 6e-5, 1e-8


class Extent(Protocol):
    """What the time model wants to know of an interest, in memory or not."""

    @property
    def n_nodes(self) -> int: ...
    @property
    def n_subscriptions(self) -> int: ...
    def topic_sizes(self) -> Longs: ...


@dataclass(frozen=True, slots=True)
class BuilderChoice:
    """A builder, its parameters, and why it was taken."""

    algorithm: str
    parameters: dict[str, Any]
    reason: str


def expected_seconds(interest: Extent, work: float | str = "auto") -> float:
    """Estimate how long `balanced` takes: a rough guide, within a factor of about two."""
    if interest.n_nodes == 0:
        return 0.0
    entries = float(np.square(interest.topic_sizes().astype(np.float64)).sum())
    size = interest.n_subscriptions / interest.n_nodes
    greedy = PER_ENTRY * entries / math.sqrt(max(size / USUAL_SIZE, 1.0))
    moves_per_edge = default_work(interest.n_nodes) if work == "auto" else float(work)
    moves = moves_per_edge * EDGES_PER_NODE * interest.n_nodes
    per_move = PER_MOVE + PER_MOVE_AND_NODE * interest.n_nodes
    return greedy + PER_SUBSCRIPTION * interest.n_subscriptions + per_move * moves


def choose_default(interest: Extent, parameters: Mapping[str, Any], *, bound: bool) -> BuilderChoice:
    """Choose the builder: `balanced` if it is quick enough or `bound` by parameters only it knows.

    >>> from topicloom.overlay.model.interest import Interest
    >>> interest = Interest.from_pairs([("a", "x"), ("b", "x")])
    >>> choose_default(interest, {"work": "auto"}, bound=False).reason
    'balanced: no algorithm was named, and its time model says under 1 s'
    """
    seconds = expected_seconds(interest, parameters.get("work", "auto"))
    told = told_seconds(seconds)
    if seconds <= MOST_SECONDS:
        reason = f"no algorithm was named, and its time model says {told}"
    elif bound:
        reason = f"parameters or constraints of its were given; its time model says {told}"
    else:
        return BuilderChoice(
            FALLBACK,
            parse_parameters(FALLBACK, []),
            f"{FALLBACK}: no algorithm was named, and the time model of {DEFAULT} says {told}; "
            f"`algorithm={DEFAULT}` runs it all the same",
        )
    return BuilderChoice(DEFAULT, dict(parameters), f"{DEFAULT}: {reason}")
