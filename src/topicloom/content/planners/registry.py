"""All planners by name, in the order of `topicloom content plan --list`.

To add a planner, write its function in a file of its own and add an entry here: nothing else changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from topicloom.base.parameters import Parameter, parameters_of
from topicloom.base.progress import SILENT, Progress
from topicloom.base.registry import Entry
from topicloom.content.model.problem import ContentPlan, ContentProblem
from topicloom.content.planners.clustering import plan_clustering
from topicloom.content.planners.exact import plan_exact
from topicloom.content.planners.local_search import plan_local_search
from topicloom.content.planners.placement import plan_greedy_packing, plan_random
from topicloom.content.planners.steiner_mixing import plan_steiner_mixing

DEFAULT = "local-search"


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


PLANNERS: dict[str, Planner] = {
    "local-search": Planner(
        function=plan_local_search, seeded=True, paper="this project",
        aim="the cheapest plans: local search on the exact cost from several starts, then annealing",
        complexity="some passes of O(U B T), and as much annealing as asked for",
    ),
    "exact": Planner(
        function=plan_exact, paper="this project: an integer program over sets of brokers",
        aim="the optimum with a proof: for a handful of users and brokers",
        complexity="exponential; at most 20,000 variables",
    ),
    "greedy-packing": Planner(
        function=plan_greedy_packing, paper="Zhao and Wu, Algorithm 1", complexity="O(U B)",
        aim="every user on the cheapest broker with room: the access cost alone",
    ),
    "clustering": Planner(
        function=plan_clustering, aim="users with much traffic between them on one broker",
        paper="Zhao and Wu, Algorithm 2", complexity="O(U B T), and O(U² B) at worst for the pairs",
    ),
    "steiner-mixing": Planner(
        function=plan_steiner_mixing, seeded=True, aim="a tree per channel, mixed into one broker per user",
        paper="Zhao and Wu, Algorithm 3 and section IV-B", complexity="O(U B² T)",
    ),
    "random": Planner(
        function=plan_random, seeded=True, aim="baseline: any broker with room",
        paper="Zhao and Wu, section VI", complexity="O(U B)",
    ),
}  # fmt: skip
