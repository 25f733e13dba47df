"""Integer programs on HiGHS whose rows are all known: minimise costs over variables, some of them whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np

from topicloom.base.arrays import Bools, Floats, Longs, freeze_fields
from topicloom.base.solver.linear_program import Budget, run_stoppable

TOLERANCE = 1e-9  # what a row may be missed by, and a whole variable


@dataclass(frozen=True, slots=True, eq=False)
class ProgramRows:
    """The rows of a program: least <= sum of value * x[column] <= most; an entry per non-zero coefficient."""

    row: Longs
    column: Longs
    value: Floats
    least: Floats
    most: Floats

    def __post_init__(self) -> None:
        freeze_fields(self)


@dataclass(frozen=True, slots=True, eq=False)
class IntegerSolution:
    """The best solution found, None if there is none so far; `bound` <= optimum; is nothing better left?"""

    x: Floats | None
    bound: float
    optimal: bool
    infeasible: bool


def minimise(
    costs: Floats,
    upper: Floats,
    whole: Bools,
    rows: ProgramRows,
    budget: Budget,
    *,
    start: tuple[Longs, Floats] | None = None,
) -> IntegerSolution:
    """Minimise costs * x with 0 <= x <= upper under `rows`, x whole where `whole` says so.

    `start` are some variables and their values in a solution that is known already.

    >>> from topicloom.base.progress import SILENT
    >>> both = ProgramRows(np.zeros(2, int), np.arange(2), np.ones(2), np.ones(1), np.ones(1))
    >>> minimise(np.array([2.0, 3.0]), np.ones(2), np.ones(2, bool), both, Budget(0, SILENT)).x.tolist()
    [1.0, 0.0]
    """
    highs = _program(costs, upper, whole, rows)
    outcome = _attempt(highs, budget, start)
    if not math.isfinite(outcome.bound) and budget.left() > 0:
        # Its presolve has called programs infeasible that were not; what it says without is believed.
        highs.setOptionValue("presolve", "off")
        highs.clearSolver()
        outcome = _attempt(highs, budget, start)
    return outcome


def _attempt(highs: Any, budget: Budget, start: tuple[Longs, Floats] | None) -> IntegerSolution:
    if start is not None:
        highs.setSolution(len(start[0]), start[0].astype(np.int32), start[1])
    run_stoppable(highs, budget)
    status, info = highs.getModelStatus(), highs.getInfo()
    found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    bound = float(info.mip_dual_bound)
    return IntegerSolution(
        np.array(highs.getSolution().col_value) if found else None,
        bound,
        status == highspy.HighsModelStatus.kOptimal and math.isfinite(bound),
        status == highspy.HighsModelStatus.kInfeasible,
    )


def _program(costs: Floats, upper: Floats, whole: Bools, rows: ProgramRows) -> Any:
    highs = highspy.Highs()
    for option, value in _OPTIONS.items():
        highs.setOptionValue(option, value)
    n = len(costs)
    every = np.arange(n, dtype=np.int32)
    highs.addVars(n, np.zeros(n), upper)
    highs.changeColsCost(n, every, costs)
    highs.changeColsIntegrality(n, every, whole.astype(np.uint8))
    order = np.argsort(rows.row, kind="stable")
    starts = np.searchsorted(rows.row[order], np.arange(len(rows.least))).astype(np.int32)
    columns = rows.column[order].astype(np.int32)
    highs.addRows(len(starts), rows.least, rows.most, len(order), starts, columns, rows.value[order])
    return highs


_OPTIONS: dict[str, bool | int | float] = {
    "output_flag": False,
    "threads": 1,  # a fixed number: the same steps every time
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.0,
    "mip_feasibility_tolerance": TOLERANCE,
    "primal_feasibility_tolerance": TOLERANCE,
}
