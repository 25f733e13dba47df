"""Interests that simulation tests share."""

from __future__ import annotations

from functools import cache

from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
from topicloom.spidercast.simulator.run import SimulationOutcome, simulate
from topicloom.spidercast.simulator.scenario import Scenario


@cache
def rss(nodes: int, seed: int = 1, popularity: str = "rss") -> Interest:
    """The workload of [Chockler2007b]: 100 topics, 10 each."""
    return generate_interest(
        workload_from_options(nodes, topics=100, subscriptions="10", popularity=popularity, seed=seed)
    )


def run(interest: Interest, *settings: str, protocol: str = "spidercast", seed: int = 1) -> SimulationOutcome:
    return simulate(interest, Scenario.of(protocol, settings, seed=seed))


@cache
def mixed(nodes: int, seed: int = 1) -> Interest:
    """Few nodes with some topics each, some of them rare."""
    return generate_interest(
        workload_from_options(nodes, topics=10, subscriptions="1:5", popularity="rss", seed=seed)
    )


@cache
def departments(nodes: int, size: int) -> Interest:
    """Departments with a topic of their own, and one topic that all have in common."""
    own = [(f"n{node:04d}", f"d{node // size}") for node in range(nodes)]
    return Interest.from_pairs([*own, *((node, "all") for node, _ in own)])
