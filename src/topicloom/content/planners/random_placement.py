"""Random plans: the baseline of the cost reduction ratio of [Zhao2011, VI]."""

from __future__ import annotations

import numpy as np

from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.base.seeds import generator
from topicloom.content.model.problem import ContentPlan, ContentProblem
from topicloom.content.planners.greedy_packing import place


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
