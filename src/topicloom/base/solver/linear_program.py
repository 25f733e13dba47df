"""Linear programs on HiGHS: minimise the sum of variables between 0 and 1, rows coming and going.

The library runs in a thread of its own, so that Ctrl-C and a stop request are seen while it works; it is
told to give up through its interrupt callback, which it asks at every step.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Floats, Ints
from topicloom.base.progress import Progress, check_stop

POLL = 0.05  # seconds between two looks at the stop flag
PATIENCE = 2.0  # seconds that a stopped run is waited for


class Unfinished(Exception):  # noqa: N818 - it is not a fault
    """The time is over, or the library found no answer: what is known so far is all there will be."""


class Budget:
    """A time limit in seconds, 0 for none, by the caller's clock; and one of steps, 0 for none.

    A caller without a clock (its `now` stands still) is charged the time the library says it ran.
    """

    def __init__(self, seconds: float, progress: Progress, steps: int = 0) -> None:
        self.seconds = seconds if seconds > 0 else math.inf
        self.steps = steps if steps > 0 else math.inf
        self.progress = progress
        self.start = progress.now()
        self.solving = 0.0

    def left(self) -> float:
        return self.seconds - max(self.progress.now() - self.start, self.solving)

    def check(self) -> None:
        """Take a step: raise `Interrupted` if the user asked to stop, `Unfinished` if that is over."""
        check_stop(self.progress)
        self.steps -= 1
        if self.left() <= 0 or self.steps < 0:
            raise Unfinished


@dataclass(frozen=True, slots=True, eq=False)
class SumRow:
    """A demand on some variables: least <= their sum <= most."""

    columns: Ints
    least: float = -math.inf
    most: float = math.inf


class LinearProgram:
    """Minimise x_1 + ... + x_n with 0 <= x <= 1 under the rows added so far.

    It is solved again from the last basis, so a few rows or bounds more cost little.
    """

    def __init__(self, n_columns: int, budget: Budget) -> None:
        self.n_columns = n_columns
        self.budget = budget
        self._highs = highspy.Highs()
        self._highs.setOptionValue("output_flag", False)
        self._highs.setOptionValue("threads", 1)  # a fixed number: the same steps every time
        self._highs.setOptionValue("simplex_scale_strategy", 0)  # all coefficients are 1 already
        self._highs.addVars(n_columns, np.zeros(n_columns), np.ones(n_columns))
        self._highs.changeColsCost(n_columns, np.arange(n_columns, dtype=np.int32), np.ones(n_columns))

    def add_rows(self, rows: Sequence[SumRow]) -> None:
        if not rows:
            return
        lengths = np.array([len(row.columns) for row in rows])
        columns = np.concatenate([row.columns for row in rows]).astype(np.int32)
        least = np.array([row.least for row in rows], dtype=np.float64)
        most = np.array([row.most for row in rows], dtype=np.float64)
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int32)
        ones = np.ones(len(columns))
        self._highs.addRows(len(rows), least, most, len(columns), starts, columns, ones)

    def delete_rows(self, places: NDArray[Any]) -> None:
        """Leave out rows by number; harmless to the basis if they were slack."""
        self._highs.deleteRows(len(places), places.astype(np.int32))

    def change_row(self, place: int, least: float, most: float) -> None:
        self._highs.changeRowBounds(place, least, most)

    def bound(self, columns: NDArray[Any], lower: Floats, upper: Floats) -> None:
        """Set new bounds of some variables."""
        self._highs.changeColsBounds(len(columns), columns.astype(np.int32), lower, upper)

    def solve(self, cutoff: float = math.inf) -> bool:
        """Return whether there is a solution of at most about `cutoff`; the properties below hold it."""
        self._highs.setOptionValue("objective_bound", min(cutoff, 1e30))
        run_stoppable(self._highs, self.budget)
        status = self._highs.getModelStatus()
        if status not in _ANSWERS:  # once more from scratch: a hopeless basis is not the last word
            self._highs.clearSolver()
            run_stoppable(self._highs, self.budget)
            status = self._highs.getModelStatus()
        if status not in _ANSWERS:
            raise Unfinished
        return bool(status == highspy.HighsModelStatus.kOptimal) and self.value <= cutoff

    @property
    def value(self) -> float:
        return float(self._highs.getObjectiveValue())

    @property
    def x(self) -> Floats:
        return np.array(self._highs.getSolution().col_value)

    @property
    def reduced_costs(self) -> Floats:
        return np.array(self._highs.getSolution().col_dual)

    @property
    def sums(self) -> Floats:
        """The sum of each row."""
        return np.array(self._highs.getSolution().row_value)


def run_stoppable(highs: Any, budget: Budget) -> None:
    """Run the library within the budget, in a thread, so that Ctrl-C and a stop request are seen."""
    budget.check()
    # The library counts its time limit from its first run on.
    highs.setOptionValue("time_limit", min(highs.getRunTime() + budget.left(), 1e30))
    stop = threading.Event()

    def interrupt(kind: Any, message: Any, out: Any, answer: Any, data: Any) -> None:
        if stop.is_set():
            answer.user_interrupt = True

    highs.setCallback(interrupt, None)
    for kind in (_CALLBACKS.kCallbackMipInterrupt, _CALLBACKS.kCallbackSimplexInterrupt):
        highs.startCallback(kind)
    before = highs.getRunTime()
    runner = threading.Thread(target=highs.run, daemon=True)
    runner.start()
    try:
        runner.join(POLL)
        while runner.is_alive():
            check_stop(budget.progress)
            runner.join(POLL)
    except BaseException:
        stop.set()
        runner.join(PATIENCE)
        raise
    budget.solving += highs.getRunTime() - before


_CALLBACKS = highspy.cb.HighsCallbackType
_ANSWERS = (
    highspy.HighsModelStatus.kOptimal,
    highspy.HighsModelStatus.kInfeasible,
    highspy.HighsModelStatus.kObjectiveBound,
)
