"""Greedy packing: every user on the cheapest broker that has room [Zhao2011, Algorithm 1].

The printed algorithm swaps the names of users and brokers, never adds a user to the load of its broker, and
forgets the user that no broker has room for. Here loads count, and such a user goes to the broker with the
most free room: the report says how many there were. The core part of the cost does not enter.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Floats, Ints, sealed
from topicloom.base.progress import SILENT, Progress, Stopwatch, check_stop
from topicloom.content.kernels.placement import place_users
from topicloom.content.model.problem import ContentPlan, ContentProblem

SLICE_PAIRS = 50_000_000
"""Pairs of a user and a broker that one call looks at: a fraction of a second."""


def plan_greedy_packing(
    problem: ContentProblem,
    *,
    core_model: str = "free",
    seed: int = 0,
    time_limit: float | None = None,
    progress: Progress = SILENT,
) -> ContentPlan:
    """Users in order, each to the broker of the lowest access price that has room.

    >>> line = ContentProblem.of(["i", "j"], ["a", "b"], [3, 9], [[1, 2], [1, 2]], [[0, 1], [1, 0]], 1,
    ...     rates=([0], [0], [3.0]), wants=([1], [0], [0]))
    >>> plan_greedy_packing(line).assignment.tolist()      # a is full with the first
    [0, 1]
    """
    watch = Stopwatch(progress)
    with watch.phase("pack users", problem.n_users):
        no_weight = np.zeros((1, problem.n_brokers))
        assignment, unplaced = place(problem, no_weight, np.zeros(problem.n_users), progress)
    return ContentPlan(
        assignment, "greedy-packing", {}, seed, watch.seconds, {"users_without_room": unplaced}
    )


def place(problem: ContentProblem, weight: Floats, draws: Floats, progress: Progress) -> tuple[Ints, int]:
    """Place all users as `place_users` says; the assignment, and how many users found no room."""
    n_users, n_brokers = problem.n_users, problem.n_brokers
    load, limit = np.zeros(n_brokers), problem.load_limits
    assignment = np.zeros(n_users, dtype=np.int32)
    step = max(SLICE_PAIRS // max(n_brokers, 1), 1)
    unplaced = 0
    for first in range(0, n_users, step):
        check_stop(progress)
        stop = min(first + step, n_users)
        unplaced += place_users(
            first,
            stop,
            problem.access,
            problem.demand,
            limit,
            sealed(weight),
            sealed(draws),
            load,
            assignment,
        )
        progress.advance(stop - first)
    return assignment, unplaced
