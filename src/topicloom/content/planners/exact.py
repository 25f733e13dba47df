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

from itertools import combinations
from math import comb

import numpy as np

from topicloom.base.arrays import Bools, Floats, Ints, Longs
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.base.solver.integer_program import IntegerSolution, ProgramRows, minimise
from topicloom.base.solver.linear_program import Budget, Unfinished
from topicloom.content.model.problem import ContentPlan, ContentProblem
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.content.planners.clustering import plan_clustering
from topicloom.content.planners.cost import measure_cost
from topicloom.content.planners.placement import plan_greedy_packing
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
    if outcome.x is not None:
        chosen = outcome.x[: problem.access.size].reshape(problem.access.shape).argmax(axis=1)
        plans.insert(0, chosen.astype(np.int32))
    if not plans:
        raise UsageError("exact found no plan within the capacities in time; give it a longer `time_limit`")
    assignment = min(plans, key=lambda plan: measure_cost(problem, plan, core_model).total)
    report = {"optimal": outcome.optimal, "variables": program.n_variables, "rows": program.n_rows}
    bound = max(outcome.bound / scale * (1 - DOUBT), 0.0) if np.isfinite(outcome.bound) else None
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


def _solve(program: AssignmentProgram, start: Ints | None, budget: Budget) -> IntegerSolution:
    """Solve the program; nothing is found or bounded if the time is over before it begins."""
    known = None
    if start is not None:
        x = np.eye(program.shape[1])[start].ravel()
        known = np.arange(len(x)), x
    try:
        outcome = minimise(*program.arrays(), budget, start=known)
    except Unfinished:
        return IntegerSolution(None, -np.inf, False, False)
    if outcome.infeasible and start is None:
        raise InputError(
            "no assignment keeps every broker within its capacity: the users' demands cannot be divided; "
            "raise the capacity of a broker, or use `algorithm=local-search`, which reports the overflow"
        )
    return outcome


Cells = tuple[Longs, Longs, Floats | float]  # row, column, value


def channel_classes(problem: ContentProblem) -> tuple[Bools, Floats]:
    """Group channels with the same subscribers; return classes x users: who wants, who publishes how much."""
    wants = np.zeros((problem.n_channels, problem.n_users), dtype=np.bool_)
    for channel in range(problem.n_channels):
        wants[channel, problem.subscribers_of(channel)] = True
    rates = np.zeros(wants.shape)
    rates[problem.rate_channels, problem.rate_users] = problem.rates
    used = problem.channel_rate > 0
    classes, number = np.unique(wants[used], axis=0, return_inverse=True)
    summed = np.zeros(classes.shape)
    np.add.at(summed, number.ravel(), rates[used])
    return classes, summed


class AssignmentProgram:
    """Variables and rows; costs are multiplied by `scale`."""

    def __init__(self, problem: ContentProblem, model: CoreModel, scale: float) -> None:
        self.shape = problem.access.shape
        self.n_rows = 0
        self._least: list[Floats] = []
        self._most: list[Floats] = []
        self._cells: list[tuple[Longs, Longs, Floats]] = []
        self.costs = [(scale * problem.demand[:, None] * problem.access).ravel()]
        self.n_variables = problem.access.size
        limit = problem.load_limits
        self.upper = [(problem.demand[:, None] <= limit).astype(np.float64).ravel()]
        self._add_users(problem.demand, problem.capacity)
        for members, published in zip(*channel_classes(problem), strict=True):
            self._add_class(np.flatnonzero(members), published, model, scale)

    def arrays(self) -> tuple[Floats, Floats, Bools, ProgramRows]:
        """Return the arguments of `minimise`."""
        row, column, value = (np.concatenate(part) for part in zip(*self._cells, strict=True))
        rows = ProgramRows(row, column, value, np.concatenate(self._least), np.concatenate(self._most))
        whole = np.arange(self.n_variables) < self.shape[0] * self.shape[1]
        return np.concatenate(self.costs), np.concatenate(self.upper), whole, rows

    def _add_users(self, demand: Floats, capacity: Floats) -> None:
        """Add the rows: each user is on one broker, and no broker carries more than its capacity."""
        users, brokers = self.shape
        x = np.arange(users * brokers)
        self._rows(users, 1.0, 1.0, (x // brokers, x, 1.0))
        # Capacities without their slack: the solver has one of the same size, and two of them confuse it.
        # A broker without capacity has no user with a demand by its upper bounds; its row is 0 <= 1.
        share = np.divide(demand[:, None], capacity, out=np.zeros(self.shape), where=capacity > 0)
        self._rows(brokers, -np.inf, 1.0, (x % brokers, x, share.ravel()))

    def _add_class(self, members: Longs, published: Floats, model: CoreModel, scale: float) -> None:
        brokers = self.shape[1]
        most = min(brokers, len(members))
        sets = [list(own) for size in range(1, most + 1) for own in combinations(range(brokers), size)]
        inside = np.array([np.isin(range(brokers), own) for own in sets])
        weights = np.array([model.weights(own) for own in sets])  # sets x brokers
        sigma = self._variables(np.zeros(len(sets)))
        self._rows(1, 1.0, 1.0, (np.zeros(len(sets), np.int64), sigma, 1.0))
        chosen, broker = np.nonzero(inside)
        each = np.arange(brokers)
        for member in members.tolist():
            own = each, member * brokers + each, 1.0
            self._rows(brokers, -np.inf, 0.0, own, (broker, sigma[chosen], -1.0))
        x_of_all = (members[:, None] * brokers + each).ravel()
        of_all = np.tile(each, len(members)), x_of_all, -1.0
        self._rows(brokers, -np.inf, 0.0, (broker, sigma[chosen], 1.0), of_all)
        for user in np.flatnonzero(published).tolist():
            self._add_publisher(user, scale * published[user] * weights, sigma)

    def _add_publisher(self, user: int, costs: Floats, sigma: Longs) -> None:
        """Add y of one publisher and class: sets x brokers, with given sums over both."""
        brokers = costs.shape[1]
        y = self._variables(costs.ravel())
        places, x = np.arange(len(y)), user * brokers + np.arange(brokers)
        for row, sums in ((places % brokers, x), (places // brokers, sigma)):
            self._rows(len(sums), 0.0, 0.0, (row, y, 1.0), (np.arange(len(sums)), sums, -1.0))

    def _variables(self, costs: Floats) -> Longs:
        """Add variables between 0 and 1; return their numbers."""
        first = self.n_variables
        self.n_variables += len(costs)
        self.costs.append(costs)
        self.upper.append(np.ones(len(costs)))
        return np.arange(first, self.n_variables)

    def _rows(self, count: int, least: float, most: float, *cells: Cells) -> None:
        """Add rows; the row numbers of `cells` count from the first of them."""
        self._least.append(np.full(count, least))
        self._most.append(np.full(count, most))
        for row, column, value in cells:
            self._cells.append((row + self.n_rows, column, np.broadcast_to(value, len(row))))
        self.n_rows += count
