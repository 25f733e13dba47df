"""A lower bound on the cost of every plan within the capacities, under every core model.

Access: give every broker b a toll lambda_b >= 0 per unit of demand. A plan within the capacities pays tolls
of at most sum lambda_b C_b, so for any tolls

    access cost  >=  sum_i d_i min_b (price[i,b] + lambda_b)  -  sum_b lambda_b C_b

(Lagrangian relaxation). Good tolls are found by subgradient steps.

Core: let a channel have the rate G and its subscribers be on the set of brokers S. The larger of two bounds
counts:

1. The subscribers' demand needs at least k brokers, the k largest ones. A tree of k brokers or more weighs at
   least as much as the lightest forest of k - 1 edges (the first that Kruskal's algorithm takes), and as the
   path from some broker to the (k-1)-th nearest other. Unicast messages go at least to the k - 1 nearest of
   some broker.
2. In a tree that joins S every broker of S except the root pays for the edge to its parent, at least the
   price n_b to its nearest broker; so for any m the tree weighs at least
   sum over b in S of min(n_b, m)  -  m.
   The demand of a user is a sum over channels, and a subscriber has the whole rate G in each of its own. Let
   every channel assign its subscribers as it likes best (plans may not): this is a facility location problem,
   where brokers open at min(n_b, m) and users connect at their prices, and dual ascent bounds it from below.
   What this is above the users' cheapest links, less m, times G, is what the core adds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Floats, Ints, sealed
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.content.kernels.dual_ascent import raise_values
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.content.planners.placement import plan_greedy_packing

STEPS = 60  # of the subgradient method
PATIENCE = 4  # steps without a better bound before the steps are halved
BLOCK = 1 << 20  # prices looked at in one go
ROUNDING = 1e-9  # relative: what the sums may be too high by
QUANTILES = (0.5, 1.0)  # of the prices to the nearest broker: the m that are tried
ROUNDS = 50  # of dual ascent
ENOUGH = 1e-3  # a round that adds less than this share is the last one
MOST_STEPS = 4e9  # prices looked at by all ascents together: about ten seconds; channels come by falling rate


@dataclass(frozen=True, slots=True)
class CostBound:
    """A lower bound on the cost of every plan within the capacities.

    `access` bounds the access part, and `total` the whole; `core` is their difference, no bound by itself.
    """

    access: float
    core: float

    @property
    def total(self) -> float:
        return self.access + self.core


def lower_bound(
    problem: ContentProblem, core_model: str = "free", *, progress: Progress = SILENT
) -> CostBound:
    """Bound the cost of every plan that keeps the capacities; a plan that overflows may cost less.

    >>> line = ContentProblem.of(["i", "j"], ["a", "b"], [3, 3], [[1, 3], [1, 3]], [[0, 1], [1, 0]], 1,
    ...     rates=([0], [0], [3.0]), wants=([1], [0], [0]))
    >>> bound = lower_bound(line)
    >>> round(bound.access, 6), bound.core        # one of the two must take the expensive broker
    (12.0, 0.0)
    """
    access, tolls = _access_bound(problem, progress)
    core = _core_bound(problem, CoreModel.of(problem.core, core_model), tolls, progress)
    return CostBound(access * (1 - ROUNDING), core * (1 - ROUNDING))


def _access_bound(problem: ContentProblem, progress: Progress) -> tuple[float, Floats]:
    """Return the best bound of `STEPS` subgradient steps (Polyak's, towards greedy packing) and its tolls."""
    limit = problem.load_limits
    users = np.arange(problem.n_users)
    packed = plan_greedy_packing(problem).assignment
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
    """Return the bound by these tolls, and the loads if every user took its cheapest broker with toll."""
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


def _core_bound(problem: ContentProblem, model: CoreModel, tolls: Floats, progress: Progress) -> float:
    """Bound what every plan within the capacities costs above the access bound by `tolls`."""
    added = _least_weights(model)[_brokers_needed(problem)]
    if problem.n_brokers > 1:
        n_nearest = np.sort(problem.core, axis=1)[:, 1]
        levels = np.unique(np.quantile(n_nearest, QUANTILES, method="nearest"))
        left = MOST_STEPS
        for channel in np.argsort(-problem.channel_rate, kind="stable").tolist():
            if left <= 0 or problem.channel_rate[channel] == 0:
                break
            members = sealed(problem.subscribers_of(channel))
            for most in levels[levels > 0].tolist():
                opening = np.minimum(n_nearest, most)
                gained, rounds = _ascend(problem, members, tolls, opening, progress)
                left -= rounds * len(members) * problem.n_brokers
                added[channel] = max(added[channel], gained - most)
    return float(np.sum(problem.channel_rate * added))


def _ascend(
    problem: ContentProblem, members: Ints, tolls: Floats, opening: Floats, progress: Progress
) -> tuple[float, int]:
    """Bound what opening brokers adds to the cheapest links of `members`; return the bound and the rounds."""
    slack, values = opening.copy(), np.full(len(members), -np.inf)
    gained = 0.0
    for rounds in range(1, ROUNDS + 1):
        check_stop(progress)
        more = raise_values(members, problem.access, tolls, slack, values)
        gained += more
        if rounds > 1 and more <= ENOUGH * gained:  # the first round only takes the cheapest links
            break
    return gained * (1 - ROUNDING), rounds


def _brokers_needed(problem: ContentProblem) -> Ints:
    """Return for each channel the fewest brokers that can carry its subscribers; 0 if nobody wants it."""
    owner = problem.want_users
    change = np.zeros(problem.n_channels + 1)
    np.add.at(change, problem.want_first, problem.demand[owner])
    np.add.at(change, problem.want_last + 1, -problem.demand[owner])
    # Sums that end in a subtraction may come out too high by rounding, relative to all that was added up.
    carried = np.cumsum(change)[:-1] - ROUNDING * float(problem.demand[owner].sum())
    room = np.cumsum(np.sort(problem.load_limits)[::-1])
    needed = np.minimum(np.searchsorted(room, carried, side="left") + 1, problem.n_brokers)
    return np.where(problem.channel_wanted > 0, needed, 0).astype(np.int32)


def _least_weights(model: CoreModel) -> Floats:
    """Return at place k the least weight of a tree of k brokers or more; 0 for none or one."""
    nearest = np.sort(model.core, axis=1)  # column k: the k-th nearest other broker, after the broker itself
    if model.name == "unicast":
        least = np.cumsum(nearest, axis=1).min(axis=0)
    else:
        forest = np.concatenate([[0.0], np.cumsum(np.sort(model.arrays.step[model.arrays.order[1:]]))])
        least = np.maximum(forest, nearest.min(axis=0))
    return np.concatenate([[0.0], least])
