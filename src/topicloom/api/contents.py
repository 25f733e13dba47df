"""Content planning: which broker each user connects to, at minimum cost."""

from __future__ import annotations

import os
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from topicloom.api.arguments import PathLike, check_path, check_text, check_whole, clock
from topicloom.base.counts import counted
from topicloom.base.notebook import html_table
from topicloom.base.parameters import check_values
from topicloom.base.progress import Progress
from topicloom.base.registry import find
from topicloom.base.summaries import plain
from topicloom.base.warn import warn_caller
from topicloom.content.jobs.plan import PlanFigures, PlanSummary, measure_plan
from topicloom.content.model import plan_folder
from topicloom.content.model.problem import ContentPlan, ContentProblem
from topicloom.content.model.problem_folder import read_problem
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.content.planners.cost import trees_of
from topicloom.content.planners.registry import DEFAULT, PLANNERS
from topicloom.content.workload import GeneratedContent
from topicloom.overlay.model.python_tables import refuse

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlannedContent:
    """A plan, the problem it is for, and its figures: cost, lower bound, what random plans cost."""

    problem: ContentProblem
    plan: ContentPlan
    figures: PlanFigures

    def to_pandas(self) -> pandas.DataFrame:
        """Return the broker of each user as a pandas frame."""
        import pandas

        brokers = self.problem.brokers.to_pylist()
        chosen = [brokers[one] for one in self.plan.assignment.tolist()]
        return pandas.DataFrame({"user": self.problem.users.to_pylist(), "broker": chosen})

    def save(self, path: PathLike) -> PlanSummary:
        """Write the folder that `topicloom content plan` writes."""
        out, seconds = check_path("path", path), dict(self.plan.seconds)
        plan_folder.check_plan_out(out)
        summary = PlanSummary(
            algorithm=self.plan.algorithm,
            parameters=self.plan.parameters,
            seed=self.plan.seed,
            figures=self.figures,
            report=self.plan.report,
            phases=seconds,
            seconds={"plan": sum(seconds.values()), "total": sum(seconds.values())},
        )
        trees = trees_of(self.problem, self.plan.assignment, self.figures.core_model)
        plan_folder.write_plan(out, summary, self.problem, self.plan.assignment, trees)
        return summary

    def __repr__(self) -> str:
        one = self.figures
        gap = "" if one.gap is None else f", within {100 * one.gap:.1f}% of the lower bound"
        users = f"{counted(one.users, 'user')} on {counted(one.brokers_used, 'broker')}"
        return f"PlannedContent({self.plan.algorithm}, {users}, cost {one.cost:,.6g}{gap})"

    def _repr_html_(self) -> str:
        return html_table(f"Plan by {self.plan.algorithm}", plain(self.figures))


def plan_content(
    problem: ContentProblem | GeneratedContent | PathLike,
    algorithm: str = DEFAULT,
    *,
    core_model: str = "free",
    seed: int = 0,
    time_limit: float | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> PlannedContent:
    """Assign the users of a content problem to brokers, and judge the plan.

    The problem is one of `topicloom.content.generate_content`, or the path of a problem folder. `parameters`
    are those of the planner (`topicloom content plan --list`).

    >>> from topicloom.content import generate_content
    >>> found = plan_content(generate_content(40, 3, 8, seed=1), "greedy-packing")
    >>> found.figures.users, found.figures.overflow, len(found.to_pandas())
    (40, 0.0, 40)
    """
    check_text("algorithm", algorithm, "the name of a planner")
    check_whole("seed", seed)
    if time_limit is not None and not (isinstance(time_limit, Real) and time_limit > 0):
        raise refuse("time_limit", "a number of seconds above 0", time_limit)
    if isinstance(problem, str | os.PathLike):
        problem = read_problem(check_path("problem", problem), warn_caller)
    if isinstance(problem, GeneratedContent):
        problem = problem.problem
    if not isinstance(problem, ContentProblem):
        raise refuse(
            "problem", "a problem of topicloom.content.generate_content, or the path of one", problem
        )
    planner = find("algorithm", PLANNERS, algorithm)
    values = check_values(algorithm, planner.parameters, parameters)
    CoreModel.of(problem.core, core_model)  # refuses an unknown model before any work
    watch = clock(progress)
    plan = planner.plan(
        problem, core_model=core_model, seed=seed, time_limit=time_limit, progress=watch, **values
    )
    return PlannedContent(problem, plan, measure_plan(problem, plan, core_model, seed, watch))
