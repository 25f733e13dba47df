"""The integer program of exact.py as arrays: the variables x, then sigma and y for each class of channels."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from topicloom.base.arrays import Bools, Floats, Ints, Longs
from topicloom.base.solver.integer_program import ProgramRows
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.broker_trees import CoreModel

Cells = tuple[Longs, Longs, Floats]  # row, column, value


def channel_classes(problem: ContentProblem) -> tuple[Bools, Floats]:
    """Group channels with the same subscribers; return classes x users: who wants, who publishes how much."""
    wants = np.zeros((problem.n_channels, problem.n_users), dtype=np.bool_)
    owner = problem.want_users
    for user, first, last in zip(owner, problem.want_first, problem.want_last, strict=True):
        wants[first : last + 1, user] = True
    publisher = problem.rate_users
    rates = np.zeros(wants.shape)
    rates[problem.rate_channels, publisher] = problem.rates
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
        self._cells: list[Cells] = []
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

    def assignment_of(self, x: Floats) -> Ints:
        users, brokers = self.shape
        chosen: Ints = x[: users * brokers].reshape(users, brokers).argmax(axis=1).astype(np.int32)
        return chosen

    def columns_of(self, assignment: Ints | None) -> tuple[Longs, Floats] | None:
        """Return the variables x of an assignment, for the solver to start from."""
        if assignment is None:
            return None
        users, brokers = self.shape
        x = np.zeros((users, brokers))
        x[np.arange(users), assignment] = 1.0
        return np.arange(users * brokers), x.ravel()

    def _add_users(self, demand: Floats, capacity: Floats) -> None:
        """Add the rows: each user is on one broker, and no broker carries more than its capacity."""
        users, brokers = self.shape
        x = np.arange(users * brokers)
        self._rows(users, 1.0, 1.0, (x // brokers, x, np.ones(len(x))))
        # Capacities without their slack: the solver has one of the same size, and two of them confuse it.
        # A broker without capacity has no user with a demand by its upper bounds; its row is 0 <= 1.
        share = np.divide(demand[:, None], capacity, out=np.zeros(self.shape), where=capacity > 0)
        self._rows(brokers, -np.inf, 1.0, (x % brokers, x, share.ravel()))

    def _add_class(self, members: Longs, published: Floats, model: CoreModel, scale: float) -> None:
        brokers = self.shape[1]
        most = min(brokers, len(members))
        sets = [list(own) for size in range(1, most + 1) for own in combinations(range(brokers), size)]
        inside = np.zeros((len(sets), brokers), dtype=np.bool_)
        for number, own in enumerate(sets):
            inside[number, own] = True
        weights = np.array([model.weights(own) for own in sets])  # sets x brokers
        sigma = self._variables(np.zeros(len(sets)))
        self._rows(1, 1.0, 1.0, (np.zeros(len(sets), np.int64), sigma, np.ones(len(sets))))
        chosen, broker = np.nonzero(inside)
        ones = np.ones(len(broker))
        for member in members.tolist():
            x = member * brokers + np.arange(brokers)
            lower = (np.arange(brokers), x, np.ones(brokers))
            self._rows(brokers, -np.inf, 0.0, lower, (broker, sigma[chosen], -ones))
        x_of_all = (members[:, None] * brokers + np.arange(brokers)).ravel()
        x_rows = np.tile(np.arange(brokers), len(members))
        self._rows(
            brokers, -np.inf, 0.0, (broker, sigma[chosen], ones), (x_rows, x_of_all, -np.ones(len(x_of_all)))
        )
        for user in np.flatnonzero(published).tolist():
            self._add_publisher(user, scale * published[user] * weights, sigma)

    def _add_publisher(self, user: int, costs: Floats, sigma: Longs) -> None:
        """Add y of one publisher and class: sets x brokers, with given sums over both."""
        brokers = costs.shape[1]
        y = self._variables(costs.ravel())
        places, x = np.arange(len(y)), user * brokers + np.arange(brokers)
        for row, sums in ((places % brokers, x), (places // brokers, sigma)):
            cells = (np.arange(len(sums)), sums, -np.ones(len(sums)))
            self._rows(len(sums), 0.0, 0.0, (row, y, np.ones(len(y))), cells)

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
        self._cells += [(row + self.n_rows, column, value) for row, column, value in cells]
        self.n_rows += count
