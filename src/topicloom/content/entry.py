"""What the registry of planners holds about an algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from topicloom.model.content import ContentPlan
from topicloom.model.parameters import Parameter


@dataclass(frozen=True, slots=True)
class Planner:
    """What there is to know about an algorithm that assigns users to brokers.

    `plan(problem, *, core_model, seed, time_limit, progress, **parameters)` gives a ContentPlan. All planners
    take the four common arguments; one that has no use for the core model, a seed or a time limit ignores it.
    """

    plan: Callable[..., ContentPlan]
    aim: str
    complexity: str
    paper: str
    seeded: bool = False
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
