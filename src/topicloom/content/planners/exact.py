"""Exact plans for tiny problems, with a proof: an integer program over the sets of brokers with subscribers.

The program of [Zhao2011, II-B] multiplies variables; this one is linear. x[i,b]: user i is on broker b.
Channels with the same subscribers count as one, k. sigma[k,S]: S is the set of brokers with a subscriber
of k. y[i,k,p,S] = x[i,p] sigma[k,S] for the publishers i of k, whose tree to S weighs W(p,S).

    minimise   sum demand_i price[i,b] x[i,b]  +  sum g[i,k] W(p,S) y[i,k,p,S]
    sum over b of x[i,b] = 1,  sum over i of demand_i x[i,b] <= capacity_b,  sum over S of sigma[k,S] = 1
    x[j,b] <= sum over S with b of sigma[k,S] <= sum over subscribers j of k of x[j,b]
    sum over S of y[i,k,p,S] = x[i,p],  sum over p of y[i,k,p,S] = sigma[k,S]

Only x need be whole: then sigma names the one set of brokers that has subscribers, and y is the product.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.base.solver.integer_program import IntegerSolution, minimise
from topicloom.base.solver.linear_program import Budget, Unfinished
from topicloom.content.model.problem import ContentPlan, ContentProblem
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.content.planners.clustering import plan_clustering
from topicloom.content.planners.cost import measure_cost
from topicloom.content.planners.exact_program import AssignmentProgram, channel_classes
from topicloom.content.planners.greedy_packing import plan_greedy_packing
from topicloom.errors import InputError, UsageError

MAX_VARIABLES = 20_000  # a third takes ten seconds (8 users, 5 brokers, 10 channels), and it grows fast
DOUBT = 1e-6  # relative: the error that the solver's bound may have
GOAL = 1000.0  # the start's cost in the program's units, for which the solver's tolerances are made


def plan_exact(
    problem: ContentProblem,
    *,
    core_model: str = "free",
    time_limit: float | None = None,
    progress: Progress = SILENT,
) -> ContentPlan:
    """Find the cheapest plan within the capacities, or the best one within `time_limit` seconds.

    `bound` is proved: no plan within the capacities costs less. The report says whether it is `optimal`.

    >>> line = ContentProblem.of(["i", "j"], ["a", "b"], [9, 9], [[1, 3], [3, 1]], [[0, 1], [1, 0]], 1,
    ...     rates=([0], [0], [3.0]), wants=([1], [0], [0]))
    >>> plan = plan_exact(line)
    >>> plan.assignment.tolist(), plan.report["optimal"]
    ([0, 1], True)
    """
    watch = Stopwatch(progress)
    budget = Budget(time_limit or 0.0, progress)
    model = CoreModel.of(problem.core, core_model)
    _refuse_large(problem)
    with watch.phase("start from heuristics"):
        starts = [plan_greedy_packing(problem), plan_clustering(problem)]
        costs = [measure_cost(problem, plan.assignment, core_model) for plan in starts]
        best = min(range(len(starts)), key=lambda k: (costs[k].overflow > 0, costs[k].total))
        start = None if costs[best].overflow > 0 else starts[best].assignment
    with watch.phase("search"):
        scale = GOAL / costs[best].total if costs[best].total > 0 else 1.0
        program = AssignmentProgram(problem, model, scale)
        outcome = _solve(program, start, budget)
    plans = [] if start is None else [start]
    if outcome is not None and outcome.x is not None:
        plans.insert(0, program.assignment_of(outcome.x))
    if not plans:
        raise UsageError("exact found no plan within the capacities in time; give it a longer `time_limit`")
    assignment = min(plans, key=lambda plan: measure_cost(problem, plan, core_model).total)
    optimal = outcome is not None and outcome.optimal
    report: dict[str, Any] = {"optimal": optimal, "variables": program.n_variables, "rows": program.n_rows}
    bound = None
    if outcome is not None and np.isfinite(outcome.bound):
        bound = max(outcome.bound / scale * (1 - DOUBT), 0.0)
    return ContentPlan(assignment, "exact", seconds=watch.seconds, report=report, bound=bound)


def count_variables(problem: ContentProblem) -> int:
    """Count the variables of the program."""
    n_brokers, total = problem.n_brokers, problem.n_users * problem.n_brokers
    wants, rates = channel_classes(problem)
    for members, published in zip(wants, rates, strict=True):
        sets = sum(comb(n_brokers, size) for size in range(1, min(n_brokers, int(members.sum())) + 1))
        total += sets * (1 + n_brokers * int(np.count_nonzero(published)))
    return total


def _refuse_large(problem: ContentProblem) -> None:
    # Counting needs tables of users x channels: far too many are refused without it.
    cells = problem.n_users * max(problem.n_brokers, problem.n_channels)
    variables = count_variables(problem) if cells <= 10 * MAX_VARIABLES else cells
    if variables > MAX_VARIABLES:
        raise UsageError(
            f"exact takes at most {MAX_VARIABLES:,} variables, this problem has "
            f"{'' if cells <= 10 * MAX_VARIABLES else 'over '}{variables:,}: "
            "they double with every broker; use `algorithm=local-search`"
        )


def _solve(program: AssignmentProgram, start: Ints | None, budget: Budget) -> IntegerSolution | None:
    """Solve the program; None if the time is over before it begins."""
    try:
        outcome = minimise(*program.arrays(), budget, start=program.columns_of(start))
    except Unfinished:
        return None
    if outcome.infeasible and start is None:
        raise InputError(
            "no assignment keeps every broker within its capacity: the users' demands cannot be divided; "
            "raise the capacity of a broker, or use `algorithm=local-search`, which reports the overflow"
        )
    return outcome
