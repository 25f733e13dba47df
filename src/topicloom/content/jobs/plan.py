"""Plan a content problem, or measure an assignment made elsewhere: folders in, a summary out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.parameters import check_values
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.base.registry import find
from topicloom.base.summaries import Parameters, Report, ResultSummary, Seconds, Summary
from topicloom.content.model import plan_folder
from topicloom.content.model.problem import ContentPlan, ContentProblem
from topicloom.content.model.problem_folder import read_problem
from topicloom.content.model.tables import CheckedTable
from topicloom.content.planners.bounds import lower_bound
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.content.planners.cost import PlanCost, measure_cost, trees_of
from topicloom.content.planners.placement import plan_random
from topicloom.content.planners.registry import PLANNERS
from topicloom.errors import UsageError
from topicloom.tables.first_look import check_there
from topicloom.tables.reader import read_all
from topicloom.tables.records import Field
from topicloom.tables.source import records_source
from topicloom.tables.spark.spark_choice import Notice, SparkChoice, no_notice

RANDOM_PLANS = 5  # the cost reduction ratio compares with their mean
ROUNDING = 1e-6  # share of the cost by which a bound may lie above it


class PlanFigures(Summary, frozen=True, kw_only=True):
    """All figures about a plan: its cost, compared with random plans and with a lower bound."""

    users: int
    brokers: int
    channels: int
    core_model: str
    core_share: float
    density: float
    broker_density: float
    cost: float
    access_cost: float
    core_cost: float
    overflow: float
    crr: float | None
    random_cost: float
    random_core_share: float
    bound: float
    gap: float | None
    brokers_used: int
    load_max_share: float


class PlanSummary(ResultSummary, frozen=True, kw_only=True):
    """The content of a plan's summary.json."""

    kind: str = plan_folder.KIND
    algorithm: str
    parameters: Parameters
    seed: int
    figures: PlanFigures
    report: Report
    phases: Seconds
    seconds: Seconds

    FLAT = frozenset({"figures"})


class AssignmentSummary(Summary, frozen=True):
    """The figures of an assignment that was made elsewhere."""

    figures: PlanFigures
    seconds: Seconds

    FLAT = frozenset({"figures"})


def plan_content(
    source: Path,
    algorithm: str,
    parameters: Parameters,
    *,
    out: Path | None,
    core_model: str = "free",
    seed: int = 0,
    time_limit: float | None = None,
    trees: bool = True,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> PlanSummary:
    """Read the problem, plan it, write the plan to `out` and return its summary."""
    if time_limit is not None and not time_limit > 0:
        raise UsageError(f"`time_limit={time_limit:g}`: give a number of seconds above 0")
    planner = find("algorithm", PLANNERS, algorithm)
    values = check_values(algorithm, planner.parameters, parameters)
    if out is not None:
        plan_folder.check_plan_out(out)
    start = progress.now()
    watch = Stopwatch(progress)
    with watch.phase("read"):
        problem = read_problem(source, notice)
    CoreModel.of(problem.core, core_model)  # refuses an unknown model before any work
    begun = progress.now()
    plan = planner.plan(
        problem, core_model=core_model, seed=seed, time_limit=time_limit, progress=progress, **values
    )
    watch.seconds["plan"] = progress.now() - begun
    with watch.phase("judge"):
        figures = measure_plan(problem, plan, core_model, seed, progress)

    def summarised() -> PlanSummary:
        return PlanSummary(
            algorithm=algorithm,
            parameters=plan.parameters,
            seed=seed,
            figures=figures,
            report=plan.report,
            phases=dict(plan.seconds),
            seconds={**watch.seconds, "total": progress.now() - start},
        )

    with watch.phase("write"):
        if out is not None:
            listed = trees_of(problem, plan.assignment, core_model, progress=progress) if trees else None
            plan_folder.write_plan(out, summarised(), problem, plan.assignment, listed)
    return summarised()


def measure_assignment(
    source: Path,
    given: str,
    *,
    spark: SparkChoice,
    core_model: str,
    seed: int,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> AssignmentSummary:
    """Measure an assignment of a problem's users as a plan is measured."""
    start = progress.now()
    problem = read_problem(source, notice, need_capacity=False)
    plan = ContentPlan(_read_assignment(given, problem, spark, notice, progress), "given")
    figures = measure_plan(problem, plan, core_model, seed, progress)
    return AssignmentSummary(figures, {"total": progress.now() - start})


def _read_assignment(
    given: str, problem: ContentProblem, spark: SparkChoice, notice: Notice, progress: Progress
) -> Ints:
    """Read a plan folder or one Parquet file without Spark, any other table like any input."""
    source = records_source(given, "assignment", [Field("user"), Field("broker")])
    path = Path(given)
    # A query is no path, and may be longer than any.
    if source.origin is None and (
        plan_folder.is_plan(path) or (path.is_file() and path.suffix == ".parquet")
    ):
        return plan_folder.read_assignment(path, problem)
    check_there(source)
    table = read_all(spark.reader(source, notice=notice, progress=progress), source, progress=progress)
    return plan_folder.match_assignment(CheckedTable(given, table), problem)


def measure_plan(
    problem: ContentProblem, plan: ContentPlan, model: str, seed: int, progress: Progress
) -> PlanFigures:
    """Compare a plan's cost with random plans and with the lower bound."""
    cost = measure_cost(problem, plan.assignment, model)
    bound = max(lower_bound(problem, model, progress=progress).total, plan.bound or 0.0)
    if cost.overflow == 0.0 and bound <= cost.total * (1 + ROUNDING):
        bound = min(bound, cost.total)  # an optimal plan's bound may lie above its cost by rounding
    plans = random_costs(problem, model, seed)
    random_cost = float(np.mean([plan.total for plan in plans]))
    random_core = float(np.mean([plan.core for plan in plans]))
    used = cost.loads[np.bincount(plan.assignment, minlength=problem.n_brokers) > 0]
    return PlanFigures(
        **problem.sizes,
        core_model=model,
        core_share=cost.core_share,
        density=problem.density,
        broker_density=cost.broker_density,
        cost=cost.total,
        access_cost=cost.access,
        core_cost=cost.core,
        overflow=cost.overflow,
        # No number if only random plans cost anything.
        crr=random_cost / cost.total if cost.total else (None if random_cost > 0.0 else 1.0),
        random_cost=random_cost,
        random_core_share=random_core / random_cost if random_cost else 0.0,
        bound=bound,
        # A plan that does not fit may cost less than any that does.
        gap=cost.total / bound - 1.0 if bound > 0.0 and cost.overflow == 0.0 else None,
        brokers_used=len(used),
        load_max_share=float(np.max(cost.loads / np.maximum(problem.capacity, 1e-300), initial=0.0)),
    )


def random_costs(problem: ContentProblem, core_model: str, seed: int) -> list[PlanCost]:
    """Return what five random plans cost."""
    plans = (plan_random(problem, seed=seed + k).assignment for k in range(RANDOM_PLANS))
    return [measure_cost(problem, plan, core_model) for plan in plans]
