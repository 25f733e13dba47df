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
