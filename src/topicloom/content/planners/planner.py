"""What the registry holds about a planner, and how every planner is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from topicloom.base.parameters import Parameter, parameters_of
from topicloom.base.progress import SILENT, Progress
from topicloom.base.registry import Entry
from topicloom.content.model.problem import ContentPlan, ContentProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner(Entry):
    """An algorithm that assigns users to brokers.

    `function(problem, *, ...)` returns a ContentPlan. Of the arguments that are common to all planners
    (`core_model`, `seed`, `time_limit`, `progress`) it declares those it uses; arguments of its own are
    annotated with a Parameter.
    """

    function: Callable[..., ContentPlan]

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Its own arguments, as `function` declares them."""
        return parameters_of(self.function)

    def plan(
        self,
        problem: ContentProblem,
        *,
        core_model: str = "free",
        seed: int = 0,
        time_limit: float | None = None,
        progress: Progress = SILENT,
        **parameters: Any,
    ) -> ContentPlan:
        """Plan a problem; common arguments that the algorithm has no use for are ignored."""
        common = {"core_model": core_model, "seed": seed, "time_limit": time_limit, "progress": progress}
        used = signature(self.function).parameters
        common = {name: value for name, value in common.items() if name in used}
        return replace(self.function(problem, **common, **parameters), seed=seed)
