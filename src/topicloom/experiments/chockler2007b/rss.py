"""What the experiments of [Chockler2007b] share: the RSS workload and SpiderCast's usual setting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from topicloom.experiments.lines import build, reached, simulation, workload
from topicloom.experiments.model import Run

SPIDER = "SpiderCast (3,0)"
SIZES = (1000, 2000, 4000, 6000, 8000, 10_000)
QUICK = (1000, 2000, 4000)
PRINTED: dict[float, float] = {1000: 10.81, 2000: 10.11, 4000: 9.53, 6000: 9.24, 8000: 9.08, 10_000: 8.95}


def rss(nodes: float, topics: float = 100, size: float | str = 10) -> dict[str, Any]:
    return workload(nodes, topics, size, "zipf:0.5")


def spider(nodes: float) -> Run:
    """Return (3,0)-coverage with full views: the same repetition in every figure that shows it."""
    return simulation(SPIDER, nodes, rss(nodes))


def central(nodes: float) -> Iterator[Run]:
    """Yield what a planner that knows everything needs on the same workload."""
    yield build("GM", nodes, rss(nodes), "gm", ours=True)
    yield from reached(nodes, rss(nodes))
