"""Shorthands that experiments are written in: workloads, runs of a line, and what our own builders reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from topicloom.experiments.model import Run, Sample, Settings

BALANCED, SHORT, BOUND = "balanced", "short-gm", "lower bound"


def workload(nodes: float, topics: float, subscriptions: float | str, popularity: str) -> dict[str, Any]:
    """Return the settings of a drawn workload."""
    size = subscriptions if isinstance(subscriptions, str) else str(int(subscriptions))
    return {"nodes": int(nodes), "topics": int(topics), "subscriptions": size, "popularity": popularity}


def preset(nodes: float, name: str) -> dict[str, Any]:
    """Return the settings of a preset: its topics and sizes."""
    return {"nodes": int(nodes), "popularity": name}


def instance(name: str, n: float) -> dict[str, Any]:
    """Return the settings of the instance of a proof."""
    return {"instance": name, "n": int(n)}


def build(line: str, x: float, on: Settings, algorithm: str, *, ours: bool = False, **values: Any) -> Run:
    """Return a run of a builder with parameters of its own."""
    return Run(line, x, "build", {**on, "algorithm": algorithm, **({"set": values} if values else {})}, ours)


def simulation(line: str, x: float, on: Settings, *values: str, protocol: str = "spidercast") -> Run:
    """Return a run of a protocol; SpiderCast's roots, which the paper has not, are off unless asked for."""
    own = [*values]
    if protocol == "spidercast" and not any(word.startswith("root=") for word in own):
        own.append("root=off")
    return Run(line, x, "simulate", {**on, "protocol": protocol, "set": own}, "root=on" in own)


def reached(x: float, on: Settings, label: str = "", *, bound: bool = True) -> Iterator[Run]:
    """Yield what topicloom itself reaches on a workload: `balanced`, `short-gm`, and the proved bound."""
    for builder in (BALANCED, SHORT):
        yield build(f"{builder}{label}", x, on, builder, ours=True)
    if bound:
        yield Run(f"{BOUND}{label}", x, "bound", on, ours=True)


def value(line: str, x: float, key: str = "degree_avg") -> Callable[[Sample], float]:
    """Return what measures one point of a line."""
    return lambda sample: sample(line, x, key)


def difference(above: str, below: str, x: float, key: str) -> Callable[[Sample], float]:
    """Return what measures how far one line is above another at a place."""
    return lambda sample: sample(above, x, key) - sample(below, x, key)


def ratio(above: str, below: str, x: float, key: str) -> Callable[[Sample], float]:
    """Return what measures one line over another at a place."""
    return lambda sample: sample(above, x, key) / sample(below, x, key)
