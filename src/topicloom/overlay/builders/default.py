"""Which builder runs when none is named: balanced while its time model allows, else the best of what fits.

That is balanced with one cap and without search, then gm-m, and at last divide and conquer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from topicloom.base.arrays import Longs
from topicloom.base.machine_speed import known_speed
from topicloom.overlay.builders.balanced import own_work
from topicloom.overlay.builders.best_of_small import BOTH
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.builders.hop_balance import MOST_MOVES
from topicloom.overlay.builders.registry import parse_parameters
from topicloom.overlay.measures.profile_advice import told_seconds
from topicloom.overlay.model.interest import Interest

DEFAULT, FALLBACK = "balanced", "dcbr-m"
MOST_SECONDS = 600.0
JOINS_PER_EDGE = 2.0  # of nodes that share no topic by chance
TRY_NODES = 5_000  # up to so many nodes gm says how many edges there will be

# Fitted to builds of 400 to 20,000 nodes on two cores of about 3 GHz: seconds for each list entry that one
# scan of all rows reads, where nodes want ten topics (a build scans about five times, and ends the sooner the
# more topics nodes share), and for each subscription. A move of the local search takes a time by itself, and
# for each topic that its edge carries one that grows with the nodes of the topic.
PER_ENTRY, USUAL_SIZE, PER_SUBSCRIPTION = 4e-8, 10.0, 1e-5
PER_MOVE, PER_TOPIC, GROWTH = 1.3e-5, 1.3e-7, 0.5  # within a bound on hops
# Surviving one death or two, and saving splits: for each list entry, as for a scan.
PER_DEATHS, PER_SAVING = (0.0, 1.3e-7, 4e-7), 6e-8
FREE_MOVE, FREE_TOPIC = 1.5e-5, 4e-8  # without one: two searches at a time


class Extent(Protocol):
    """What the time model wants to know of an interest, in memory or not."""

    @property
    def n_nodes(self) -> int: ...
    @property
    def n_subscriptions(self) -> int: ...
    def topic_sizes(self) -> Longs: ...


@dataclass(frozen=True, slots=True)
class BuilderChoice:
    """A builder, its parameters, and why it was taken; `name` tells it from others of the same builder."""

    algorithm: str
    parameters: dict[str, Any]
    reason: str
    name: str


@dataclass(frozen=True, slots=True)
class Quicker:
    """What runs where the default takes too long: a builder and settings, and its time model."""

    name: str
    algorithm: str
    settings: tuple[str, ...]
    per_entry: float
    per_subscription: float

    def seconds(self, interest: Extent) -> float:
        """Estimate its time, as `expected_seconds` does."""
        entries = float(np.square(interest.topic_sizes().astype(np.float64)).sum())
        size = interest.n_subscriptions / max(interest.n_nodes, 1)
        scans = self.per_entry * entries / math.sqrt(max(size / USUAL_SIZE, 1.0))
        return scans + self.per_subscription * interest.n_subscriptions


# From the best to the quickest. One cap needs the scan of gm and one run under it, and nothing is searched.
# Fitted to builds of 6,000 to 40,000 nodes, mostly too long by a factor of up to two.
QUICKER = (
    Quicker("balanced with one cap", DEFAULT, ("work=0", "max_hops=none", "max_degree=first"), 8e-9, 1.2e-5),
    Quicker("gm-m", "gm-m", (), 5e-9, 1e-5),
)


def expected_seconds(
    interest: Extent, work: float | str = "auto", edges: int | None = None, *, max_hops: int | str = "auto"
) -> float:
    """Estimate how long `balanced` takes, on the machine that this was fitted on; `edges` if they are known.

    Mostly within a factor of 1.5, without a bound on hops of 2.
    """
    nodes, subscriptions = interest.n_nodes, interest.n_subscriptions
    if subscriptions == 0:
        return 0.0
    sizes = interest.topic_sizes().astype(np.float64)
    entries = float(np.square(sizes).sum())
    if edges is None:  # an edge joins the topics that two nodes share by chance, and a few more
        joins = JOINS_PER_EDGE + entries / nodes**2
        edges = int((subscriptions - np.count_nonzero(sizes)) / joins)
    greedy = PER_ENTRY * entries / math.sqrt(max(subscriptions / nodes / USUAL_SIZE, 1.0))
    free = max_hops == "none"
    moves_per_edge = own_work(nodes, subscriptions, free=free) if work == "auto" else float(work)
    per_move, per_topic = (FREE_MOVE, FREE_TOPIC) if free else (PER_MOVE, PER_TOPIC)
    walks = per_topic * subscriptions * math.pow(entries / subscriptions, GROWTH)
    return greedy + PER_SUBSCRIPTION * subscriptions + moves_per_edge * (per_move * edges + walks)


def sturdy_seconds(interest: Extent, parameters: Mapping[str, Any]) -> float:
    """Estimate what `survive` and `extra_edges` take, after the overlay without them."""
    entries = float(np.square(interest.topic_sizes().astype(np.float64)).sum())
    saving = PER_SAVING if float(parameters.get("extra_edges", 0.0)) else 0.0
    return entries * (PER_DEATHS[int(parameters.get("survive", 0))] + saving)


def told_expectation(
    interest: Extent,
    work: float | str = "auto",
    *,
    max_hops: int | str = "auto",
    time_limit: float = 0.0,
    more: float = 0.0,
) -> str:
    """Say how long `balanced` takes on this machine, and `more` seconds; nothing is ever chosen by it."""
    timed = work == "auto" and time_limit > 0
    seconds = expected_seconds(interest, 0 if timed else work, max_hops=max_hops)
    if isinstance(interest, Interest) and seconds >= 1 and interest.n_nodes <= TRY_NODES and not timed:
        edges = build_gm(interest).n_edges
        seconds = expected_seconds(interest, work, edges=edges, max_hops=max_hops)
    if time_limit:
        seconds = max(seconds, time_limit / (known_speed() or 1.0)) if timed else seconds
    return told_seconds((seconds + more) * (known_speed() or 1.0))


def told_work(
    interest: Extent,
    work: float | str = "auto",
    *,
    max_hops: int | str = "auto",
    time_limit: float = 0.0,
    more: float = 0.0,
) -> str:
    """Say how many moves `balanced` makes where that was left to it, and how long it takes."""
    told = told_expectation(interest, work, max_hops=max_hops, time_limit=time_limit, more=more)
    if work != "auto":
        return f"it takes {told} on this machine"
    if time_limit:
        return f"work=auto: as many moves as {time_limit:g} s allow"
    moves = own_work(interest.n_nodes, interest.n_subscriptions, free=max_hops == "none")
    most = f" to {MOST_MOVES * moves:g}" if isinstance(max_hops, int) and moves else ""
    return f"work=auto: {moves:g}{most} moves per edge, {told} on this machine"


def told_parameters(interest: Extent, parameters: Mapping[str, Any]) -> str:
    """Say what `told_work` says, of the parameters of a build, and that an objective takes more."""
    objective = parameters.get("objective", BOTH)
    after = "" if objective == BOTH else f", then the search for objective={objective}"
    told = told_work(
        interest,
        parameters.get("work", "auto"),
        max_hops=asked_bound(parameters),
        time_limit=float(parameters.get("time_limit", 0.0)),
        more=sturdy_seconds(interest, parameters),
    )
    return told + after


def asked_bound(parameters: Mapping[str, Any]) -> int | str:
    """Return the bound on hops that balanced searches within."""
    bound: int | str = parameters.get("max_hops", "auto")
    return "none" if parameters.get("survive") and bound == "auto" else bound  # as the builder has it


def choose_default(
    interest: Extent, parameters: Mapping[str, Any], *, bound: bool, here: bool = True
) -> BuilderChoice:
    """Choose the builder: `balanced` if it is quick enough or `bound` by parameters only it knows.

    Else the first of `QUICKER` that is, for interests that are built `here` in one process; else `FALLBACK`.

    >>> from topicloom.overlay.model.interest import Interest
    >>> interest = Interest.from_pairs([("a", "x"), ("b", "x")])
    >>> choose_default(interest, {"work": "auto"}, bound=False).reason
    'balanced: no algorithm was named; work=auto: 20 moves per edge, under 1 s on this machine'
    """
    work, max_hops = parameters.get("work", "auto"), asked_bound(parameters)
    more = sturdy_seconds(interest, parameters)
    timed = work == "auto" and float(parameters.get("time_limit", 0.0)) > 0
    told = told_parameters(interest, parameters)
    if more + expected_seconds(interest, 0 if timed else work, max_hops=max_hops) <= MOST_SECONDS:
        return BuilderChoice(DEFAULT, dict(parameters), f"{DEFAULT}: no algorithm was named; {told}", DEFAULT)
    if bound:
        reason = f"{DEFAULT}: parameters or constraints of its were given; {told}"
        return BuilderChoice(DEFAULT, dict(parameters), reason, DEFAULT)
    long = told_expectation(interest, work, max_hops=max_hops, more=more)
    why = (
        f"no algorithm was named, and {DEFAULT} takes more than ten minutes by its time model "
        f"({long} on this machine); `algorithm={DEFAULT}` runs it all the same"
    )
    for way in QUICKER if here else ():
        if way.seconds(interest) <= MOST_SECONDS:
            return BuilderChoice(
                way.algorithm,
                parse_parameters(way.algorithm, way.settings),
                f"{way.name}: {why}; this takes "
                f"{told_seconds(way.seconds(interest) * (known_speed() or 1.0))}",
                way.name,
            )
    return BuilderChoice(FALLBACK, parse_parameters(FALLBACK, []), f"{FALLBACK}: {why}", FALLBACK)
