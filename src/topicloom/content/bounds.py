"""What no plan within the capacities can cost less than: a bound on the access part and one on the core part.

Access: give every broker b a toll lambda_b >= 0 per unit of demand. A plan within the capacities pays tolls of at
most sum lambda_b C_b, so for any tolls

    access cost  >=  sum_i d_i min_b (price[i,b] + lambda_b)  -  sum_b lambda_b C_b

(Lagrangian relaxation). Good tolls are found by subgradient steps; without tolls it is the sum of every user's
cheapest link.

Core: the subscribers of channel c have a demand that needs at least k brokers, the k largest ones. Every tree of
the channel, under every core model, joins k brokers or more, so it weighs at least as much as the lightest
forest of k - 1 edges (the first that Kruskal's algorithm takes), and at least as much as the way from some
broker to the (k-1)-th nearest other. Messages sent one by one go at least to the k - 1 nearest of some broker.
All rate of the channel travels on such trees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicloom.content.core_model import CoreModel
from topicloom.content.packing import plan_packing
from topicloom.kernels.room import limits
from topicloom.model.content import ContentProblem, Floats
from topicloom.model.progress import SILENT, Progress, check_stop

STEPS = 60  # of the subgradient method
PATIENCE = 4  # steps without a better bound before the steps are halved
BLOCK = 1 << 20  # prices looked at in one go
ROUNDING = 1e-9  # relative: what the sums may be too high by


@dataclass(frozen=True, slots=True)
class Bound:
    """Lower bounds on the parts of the cost of every plan within the capacities."""

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
    access = _access_bound(problem, progress)
    core = _core_bound(problem, CoreModel.of(problem.core, core_model))
    return Bound(access * (1 - ROUNDING), core * (1 - ROUNDING))


# --- access ------------------------------------------------------------------------------------------------


def _access_bound(problem: ContentProblem, progress: Progress) -> float:
    """The best value over the tolls of `STEPS` subgradient steps (Polyak's, towards the cost of packing)."""
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
    return max(best, 0.0)


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


# --- core --------------------------------------------------------------------------------------------------


def _core_bound(problem: ContentProblem, model: CoreModel) -> float:
    weights = _least_weights(model)
    return float(np.sum(problem.channel_rate * weights[_brokers_needed(problem)]))


def _brokers_needed(problem: ContentProblem) -> np.ndarray:
    """For each channel the fewest brokers that can carry its subscribers; 0 if nobody wants it."""
    owner = np.repeat(np.arange(problem.n_users), np.diff(problem.want_ptr))
    change = np.zeros(problem.n_channels + 1)
    np.add.at(change, problem.want_first, problem.demand[owner])
    np.add.at(change, problem.want_last + 1, -problem.demand[owner])
    # Sums that end in a subtraction may come out too high by rounding, relative to all that was added up.
    carried = np.cumsum(change)[:-1] - ROUNDING * float(problem.demand[owner].sum())
    room = np.cumsum(np.sort(limits(problem.capacity))[::-1])
    needed = np.searchsorted(room, carried, side="left") + 1
    return np.where(problem.channel_wanted > 0, np.minimum(needed, problem.n_brokers), 0)


def _least_weights(model: CoreModel) -> Floats:
    """At k: what a tree of at least k brokers weighs at least; nothing for none or one."""
    n = len(model.core)
    nearest = np.sort(model.core, axis=1)  # column k: the k-th nearest other broker, after the broker itself
    if model.name == "unicast":
        least = np.cumsum(nearest, axis=1).min(axis=0)
    else:
        forest = np.concatenate([[0.0], np.cumsum(np.sort(model.step[model.order[1:]]))])
        least = np.maximum(forest, nearest.min(axis=0))
    return np.concatenate([[0.0], least])[: n + 1]
