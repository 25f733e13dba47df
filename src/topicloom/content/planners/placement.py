"""Users placed in order: greedy packing [Zhao2011, Algorithm 1], and random plans, the baseline of [VI].

Algorithm 1 as printed swaps the names of users and brokers, never adds a user to the load of its broker, and
forgets a user that no broker has room for. Here loads count, and such a user goes to the broker with the most
free room; the report says how many there were. The core part of the cost is not considered.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Floats, Ints, sealed
from topicloom.base.progress import SILENT, Progress, Stopwatch, check_stop
from topicloom.base.seeds import generator
from topicloom.content.kernels.placement import place_users
from topicloom.content.model.problem import ContentPlan, ContentProblem

SLICE_PAIRS = 50_000_000  # pairs of a user and a broker that one call looks at: a fraction of a second


def plan_greedy_packing(problem: ContentProblem, *, progress: Progress = SILENT) -> ContentPlan:
    """Assign the users in order, each to the broker with room that has the lowest access price.

    >>> line = ContentProblem.of(["i", "j"], ["a", "b"], [3, 9], [[1, 2], [1, 2]], [[0, 1], [1, 0]], 1,
    ...     rates=([0], [0], [3.0]), wants=([1], [0], [0]))
    >>> plan_greedy_packing(line).assignment.tolist()      # the first user fills a
    [0, 1]
    """
    watch = Stopwatch(progress)
    with watch.phase("pack users", problem.n_users):
        no_weight = np.zeros((1, problem.n_brokers))
        assignment, unplaced = place(problem, no_weight, np.zeros(problem.n_users), progress)
    report = {"users_without_room": unplaced}
    return ContentPlan(assignment, "greedy-packing", seconds=watch.seconds, report=report)


def plan_random(problem: ContentProblem, *, seed: int = 0, progress: Progress = SILENT) -> ContentPlan:
    """Assign the users in order, each to any broker with room, all equally likely; else to the roomiest.

    >>> line = ContentProblem.of(["i", "j"], ["a", "b"], [3, 9], [[1, 2], [1, 2]], [[0, 1], [1, 0]], 1,
    ...     rates=([0], [0], [3.0]), wants=([1], [0], [0]))
    >>> [plan_random(line, seed=seed).assignment.tolist() for seed in range(4)]
    [[1, 0], [0, 1], [0, 1], [0, 1]]
    """
    watch = Stopwatch(progress)
    with watch.phase("draw brokers", problem.n_users):
        draws = generator(seed, "content", "random").random(problem.n_users)
        assignment, unplaced = place(problem, np.ones((1, problem.n_brokers)), draws, progress)
    report = {"users_without_room": unplaced}
    return ContentPlan(assignment, "random", seed=seed, seconds=watch.seconds, report=report)


def place(problem: ContentProblem, weight: Floats, draws: Floats, progress: Progress) -> tuple[Ints, int]:
    """Place all users by `place_users`; return the assignment and how many users found no room."""
    n_users, n_brokers = problem.n_users, problem.n_brokers
    load, limit = np.zeros(n_brokers), problem.load_limits
    assignment = np.zeros(n_users, dtype=np.int32)
    step = max(SLICE_PAIRS // max(n_brokers, 1), 1)
    unplaced = 0
    for first in range(0, n_users, step):
        check_stop(progress)
        stop = min(first + step, n_users)
        prices = problem.access, problem.demand, limit
        unplaced += place_users((first, stop), *prices, sealed(weight), sealed(draws), load, assignment)
        progress.advance(stop - first)
    return assignment, unplaced
