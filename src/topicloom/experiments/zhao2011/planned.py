"""What the experiments of [Zhao2011] share: its planners on one drawn problem, and ours beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from topicloom.experiments.model import Figure, Run, Scale

PUBLISHED = {"greedy packing": "greedy-packing", "clustering": "clustering", "mixing": "steiner-mixing"}
ORDER = (
    "with random intervals nearly every broker wants every channel, so access prices decide: the core is "
    "below 5% of the cost at a price ratio of 1, and greedy packing is within 10% of the best possible"
)
CHANNELS = 20  # the paper does not say
FIGURES = (Figure(y="cost reduction ratio", key="crr"),)


def problem(users: float, ratio: float = 1.0) -> dict[str, Any]:
    """Return the settings of a problem of section VI: a hundred users for each broker."""
    return {"users": int(users), "brokers": max(2, int(users) // 100), "channels": CHANNELS, "ratio": ratio}


def grid(problem_at: Callable[[float], dict[str, Any]]) -> Callable[[Scale], Iterator[Run]]:
    """Return the runs of an experiment: the paper's planners everywhere, and ours with an upper bound."""
    quick = {"start": "greedy-packing", "work": 0}

    def runs(scale: Scale) -> Iterator[Run]:
        for x in scale.xs:
            for label, name in PUBLISHED.items():
                yield Run(label, x, "plan", {**problem_at(x), "algorithm": name})
        for x in scale.ours:
            on = problem_at(x)
            yield Run("local-search", x, "plan", {**on, "algorithm": "local-search", "set": quick}, ours=True)
            yield Run("upper bound on any plan", x, "plan", {**on, "algorithm": "bound"}, ours=True)

    return runs
