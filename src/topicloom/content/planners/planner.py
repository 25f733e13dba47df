"""What the registry of planners holds about an algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from topicloom.base.parameters import Parameter, parameters_of
from topicloom.base.registry import Entry
from topicloom.content.model.problem import ContentPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner(Entry):
    """What there is to know about an algorithm that assigns users to brokers.

    `plan(problem, *, core_model, seed, time_limit, progress, **parameters)` gives a ContentPlan. All planners
    take the four common arguments; one that has no use for the core model, a seed or a time limit ignores it.
    """

    plan: Callable[..., ContentPlan]

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Its own arguments, as `plan` declares them."""
        return parameters_of(self.plan)
