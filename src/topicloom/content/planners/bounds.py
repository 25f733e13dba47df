"""What no plan within the capacities can cost less than: a bound on the access part, and what the core adds.

Access: give every broker b a toll lambda_b >= 0 per unit of demand. A plan within the capacities pays tolls
of at most sum lambda_b C_b, so for any tolls

    access cost  >=  sum_i d_i min_b (price[i,b] + lambda_b)  -  sum_b lambda_b C_b

(Lagrangian relaxation). Good tolls are found by subgradient steps; without tolls it is the sum of every
user's cheapest link.

Core: see core_bounds.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Floats
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.content.kernels.room import limits
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.core_bounds import ROUNDING, core_bound
from topicloom.content.planners.core_model import CoreModel
from topicloom.content.planners.packing import plan_packing

STEPS = 60  # of the subgradient method
PATIENCE = 4  # steps without a better bound before the steps are halved
BLOCK = 1 << 20  # prices looked at in one go


@dataclass(frozen=True, slots=True)
class Bound:
    """A lower bound on the cost of every plan within the capacities.

    `access` bounds the access part, and `total` the whole; `core` is their difference, no bound by itself.
    """

    access: float
    core: float

    @property
    def total(self) -> float:
        return self.access + self.core


def lower_bound(problem: ContentProblem, core_model: str = "free", *, progress: Progress = SILENT) -> Bound:
    """No plan that keeps the capacities costs less; one that overflows may.

    >>> line = ContentProblem.of(["i", "j"], ["a", "b"], [3, 3], [[1, 3], [1, 3]], [[0, 1], [1, 0]], 1,
    ...     rates=([0], [0], [3.0]), wants=([1], [0], [0]))
    >>> bound = lower_bound(line)
    >>> round(bound.access, 6), bound.core        # one of the two must take the dear broker
    (12.0, 0.0)
    """
    access, tolls = _access_bound(problem, progress)
    core = core_bound(problem, CoreModel.of(problem.core, core_model), tolls, progress)
    return Bound(access * (1 - ROUNDING), core * (1 - ROUNDING))


def _access_bound(problem: ContentProblem, progress: Progress) -> tuple[float, Floats]:
    """The best value of `STEPS` subgradient steps (Polyak's, towards the cost of packing), and its tolls."""
    limit = limits(problem.capacity)
    users = np.arange(problem.n_users)
    packed = plan_packing(problem).assignment
    aim = float(np.sum(problem.demand * problem.access[users, packed]))
    tolls, best_tolls = np.zeros(problem.n_brokers), np.zeros(problem.n_brokers)
    best, pace, idle = -np.inf, 1.0, 0
    for _ in range(STEPS):
        check_stop(progress)
        value, load = _relaxed(problem, tolls, limit)
        if value > best:
            best, best_tolls, idle = value, tolls, 0
        else:
            idle += 1
        if idle == PATIENCE:
            tolls, pace, idle = best_tolls, pace / 2, 0
            value, load = _relaxed(problem, tolls, limit)
        excess = load - limit
        excess[(tolls == 0) & (excess < 0)] = 0.0  # a toll cannot fall below 0
        square = float(excess @ excess)
        if square == 0:  # every toll is paid by a full broker: no other tolls give more
            break
        # Where packing overflows, or is cheaper than the bound by it, there is nothing to aim at but more.
        gap = max(aim - value, 0.01 * abs(value))
        tolls = np.maximum(tolls + pace * gap / square * excess, 0.0)
    return max(best, 0.0), best_tolls


def _relaxed(problem: ContentProblem, tolls: Floats, limit: Floats) -> tuple[float, Floats]:
    """The bound by these tolls, and the loads if every user takes the cheapest broker, toll included."""
    n_users, n_brokers = problem.access.shape
    total, load = 0.0, np.zeros(n_brokers)
    step = max(BLOCK // n_brokers, 1)
    for first in range(0, n_users, step):
        block = slice(first, first + step)
        prices, demand = problem.access[block] + tolls, problem.demand[block]
        chosen = prices.argmin(axis=1)
        total += float(np.sum(demand * prices[np.arange(len(chosen)), chosen]))
        load += np.bincount(chosen, weights=demand, minlength=n_brokers)
    return total - float(tolls @ limit), load
