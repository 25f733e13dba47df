"""What an improvement is after and what it keeps: objectives, bounds, and the figures of an overlay by them.

All figures here are measured on the overlay itself; no search is believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs
from topicloom.base.parameters import Parameter
from topicloom.errors import InputError
from topicloom.overlay.builders.constrained import ConstrainedTask
from topicloom.overlay.builders.hops import topic_hops
from topicloom.overlay.measures.deliveries import delivery_hops, delivery_ms, pair_weights, rates_of
from topicloom.overlay.measures.hops import measure_hops
from topicloom.overlay.measures.load import node_loads
from topicloom.overlay.measures.measure import OverlayView, view_of
from topicloom.overlay.model.constraints import Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

OBJECTIVES = ("edges", "max-degree", "hops", "mean-hops", "cost", "rate-hops", "rate-ms")
WEIGHED = ("mean-hops", "rate-hops", "rate-ms")  # a sum over paths
WIDE = 1 << 20  # hops or edges that nobody asks about
DEPTH_UNIT = 1024  # what a hop counts in a topic of mean weight, where depths are weighed in whole numbers
ROUNDED = 1e-9  # sums of rates differ in their last bits

Objective = Annotated[str, Parameter("what is to become less", choices=OBJECTIVES)]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What every overlay that is taken keeps."""

    edges: int
    degree: int
    hops: int
    survive: int

    def told(self) -> dict[str, int | None]:
        """Return them by name; None: no bound."""
        edges, hops = (None if value >= WIDE else value for value in (self.edges, self.hops))
        return {"edges": edges, "degree_max": self.degree, "hops": hops, "survive": self.survive}


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """An overlay and its figures; `value` is smaller where the overlay is better.

    First what nodes forward above their caps, then the objective, then what decides among equals.
    """

    overlay: Overlay
    value: tuple[float, ...]

    @property
    def objective(self) -> float:
        return self.value[1]


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """An objective, on the topics of one task."""

    task: ConstrainedTask
    objective: str

    @property
    def rates(self) -> Floats | None:
        """Return the rate of each topic, None where nothing is known."""
        return rates_of(self.task.interest, self.task.constraints)

    def pair_weights(self) -> Floats:
        """Return what a path between two subscribers of each topic counts; 0 where paths do not."""
        interest = self.task.interest
        if self.objective == "mean-hops":
            return np.ones(interest.n_topics)
        if self.objective in WEIGHED and self.rates is not None:
            return pair_weights(interest, self.rates)
        return np.zeros(interest.n_topics)

    def depth_weights(self) -> Longs | None:
        """Return what a hop to the root of each topic counts, None: 1.

        A topic of n subscribers has about n times as many hops between them as hops to its root.
        """
        if self.objective not in WEIGHED:
            return None
        weights = self.pair_weights() * self.task.interest.topic_sizes()
        mean = float(weights.mean()) if len(weights) else 0.0
        scaled: Longs = np.rint(weights * DEPTH_UNIT / (mean or 1.0)).astype(np.int64)
        return scaled

    def view(self, overlay: Overlay) -> OverlayView:
        return view_of(self.task.interest, overlay, threads=self.task.threads)

    def hops(self, overlay: Overlay) -> int:
        """Return the most hops inside a topic."""
        return int(topic_hops(self.task.interest, overlay, threads=self.task.threads).max(initial=0))

    def overload(self, overlay: Overlay) -> Floats:
        """Return what each node forwards above its cap."""
        task = self.task
        return load_above_caps(task.interest, overlay, constraints=task.constraints, threads=task.threads)

    def found(self, overlay: Overlay) -> Found:
        """Measure an overlay."""
        return Found(overlay, (float(self.overload(overlay).sum()), *self._value(overlay)))

    def _value(self, overlay: Overlay) -> tuple[float, ...]:
        counts, constraints = (overlay.n_edges, largest_degree(overlay)), self.task.constraints
        if self.objective == "max-degree":
            return counts[::-1]
        if self.objective == "hops":
            return (self.hops(overlay), *counts)
        if self.objective == "mean-hops":
            return (measure_hops(self.view(overlay))["hops_mean"], *counts)
        if self.objective == "cost":
            return (constraints.cost_of(overlay), *counts)
        if self.objective in WEIGHED:
            assert self.rates is not None
            view = self.view(overlay)
            if self.objective == "rate-hops":
                return (delivery_hops(view, self.rates), *counts)
            return (delivery_ms(view, self.rates, constraints), *counts)
        return counts


def load_above_caps(
    interest: Interest, overlay: Overlay, *, constraints: Constraints, threads: int | None = None
) -> Floats:
    """Return what each node forwards above its cap."""
    caps = constraints.load_caps
    if caps is None:
        return np.zeros(overlay.n_nodes)
    loads = node_loads(view_of(interest, overlay, threads=threads), rates_of(interest, constraints))
    over: Floats = np.maximum(loads - caps - ROUNDED * np.maximum(loads, 1.0), 0.0)
    return over


def largest_degree(overlay: Overlay) -> int:
    """Return the maximum degree."""
    return int(overlay.degrees().max(initial=0))


def check_objective(objective: str, constraints: Constraints, interest: Interest | None = None) -> None:
    """Refuse an objective that nothing was given for; rates may stand in the interest's table."""
    if objective == "cost" and not len(constraints.priced):
        raise InputError("`objective=cost` needs `costs`: without them every edge costs 1")
    if objective == "rate-ms" and not len(constraints.timed):
        raise InputError("`objective=rate-ms` needs `rtt`: the round-trip times of pairs")
    known = interest is None or rates_of(interest, constraints) is not None
    if objective in ("rate-hops", "rate-ms") and not known:
        raise InputError(f"`objective={objective}` needs `rates`, or a column 'rate' in the interest's table")


def above_caps(overlay: Overlay, constraints: Constraints, asked: int | str) -> Ints:
    """Return the nodes with more edges than they may have."""
    caps = np.full(overlay.n_nodes, asked if isinstance(asked, int) else WIDE)
    if constraints.caps is not None:
        caps = np.minimum(caps, constraints.caps)
    return np.flatnonzero(overlay.degrees() > caps).astype(np.int32)
