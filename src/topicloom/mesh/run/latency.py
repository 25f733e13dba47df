"""How long messages take from their publisher to the others, beside the hops of each topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from topicloom.base.summaries import Summary
from topicloom.mesh.model.mesh import Mesh, hops_by_topic


class TopicLatency(Summary, frozen=True):
    """One topic: its longest path in links, how many deliveries were timed, and half and 99% of them."""

    topic: str
    hops_max: int
    samples: int
    p50_ms: float
    p99_ms: float


class Latency(Summary, frozen=True):
    """All deliveries that were timed, and those of each topic; None where there are none."""

    p50_ms: float | None
    p99_ms: float | None
    topics: tuple[TopicLatency, ...]


def measure_latency(mesh: Mesh, delays: Mapping[str, Sequence[float]]) -> Latency:
    """Sum up the seconds that deliveries took, by topic."""
    hops = hops_by_topic(mesh)
    every = [delay for own in delays.values() for delay in own]
    return Latency(
        percentile(every, 50) if every else None,
        percentile(every, 99) if every else None,
        tuple(
            TopicLatency(topic, hops.get(topic, 0), len(own), percentile(own, 50), percentile(own, 99))
            for topic, own in sorted(delays.items())
            if own
        ),
    )


def percentile(seconds: Sequence[float], percent: int) -> float:
    """Return in milliseconds what so many percent of these do not exceed.

    >>> percentile([0.001, 0.002, 0.003, 0.1], 50), percentile([0.001, 0.002, 0.003, 0.1], 99)
    (2.0, 100.0)
    """
    ordered = sorted(seconds)
    place = -(-len(ordered) * percent // 100) - 1
    return round(ordered[place] * 1000, 3)
