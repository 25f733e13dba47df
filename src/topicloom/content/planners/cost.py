"""What a plan costs: the one evaluator that every planner, the commands and the simulator use.

Access: each user's demand times the price of its link. Core: for each channel and publishing broker, the rate
times the weight of the tree to all brokers with a subscriber ([Zhao2011, IV]; see broker_trees.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Floats, Ints, freeze_fields
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.content.kernels.assignment import AssignmentState, ProblemArrays, fill_state
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.broker_trees import CoreModel


@dataclass(frozen=True, slots=True, eq=False)
class PlanCost:
    """The cost of a plan per second, and what it does to the brokers.

    `loads` are the demands on every broker, `overflow` what exceeds the capacities, `broker_density` the
    share of all (broker, channel) pairs in which the broker has a subscriber of the channel.
    """

    access: float
    core: float
    loads: Floats
    overflow: float
    broker_density: float

    @property
    def total(self) -> float:
        return self.access + self.core

    @property
    def core_share(self) -> float:
        return self.core / self.total if self.total else 0.0

    def __post_init__(self) -> None:
        freeze_fields(self)


def measure_cost(problem: ContentProblem, assignment: Ints, core_model: str = "free") -> PlanCost:
    """Return the exact cost of an assignment under a core model.

    >>> one = ContentProblem.of(["i", "j"], ["a", "b"], [9, 9], [[1, 5], [5, 2]], [[0, 4], [4, 0]], 1,
    ...     rates=([0], [0], [3.0]), wants=([1], [0], [0]))
    >>> cost = measure_cost(one, np.array([0, 1]))
    >>> cost.access, cost.core          # 3 messages/s over links of price 1, 4 and 2
    (9.0, 12.0)
    """
    _, state = search_arrays(problem, CoreModel.of(problem.core, core_model), assignment)
    access = problem.access[np.arange(problem.n_users), assignment]
    over = state.load > problem.load_limits
    pairs = problem.n_brokers * problem.n_channels
    return PlanCost(
        float(np.sum(problem.demand * access)),
        float(np.sum(state.sent * state.weight)),
        state.load,
        float(np.sum((state.load - problem.capacity)[over])),
        float(np.count_nonzero(state.wanted)) / pairs if pairs else 0.0,
    )


def problem_arrays(problem: ContentProblem, model: CoreModel | None = None) -> ProblemArrays:
    """Return a problem in the form the kernels take; without a model only for those that weigh no trees."""
    other = {"capacity": problem.load_limits, "core": model and model.arrays}
    return ProblemArrays(**{name: getattr(problem, name) for name in ProblemArrays._fields} | other)


def search_arrays(
    problem: ContentProblem, model: CoreModel, assignment: Ints
) -> tuple[ProblemArrays, AssignmentState]:
    """Return a problem and an assignment in the form the kernels take."""
    fixed = problem_arrays(problem, model)
    n, channels = problem.n_brokers, problem.n_channels
    each = (channels, n)
    counts = {"wanted": each, "members": channels, "relieved": channels}
    counts |= {"listed": n, "ints": (2, n), "sure": n, "left": channels}
    sums = {"load": n, "sent": each, "weight": each, "lightest": channels, "cost": channels, "relief": each}
    sums |= {"floats": (2, n), "trials": (3, n), "estimate": n}
    state = AssignmentState(
        broker=np.array(assignment, dtype=np.int32),
        **{name: np.zeros(shape, dtype=np.int32) for name, shape in counts.items()},
        **{name: np.zeros(shape) for name, shape in sums.items()},
    )
    fill_state(fixed, state)
    return fixed, state


def trees_of(
    problem: ContentProblem, assignment: Ints, core_model: str = "free", *, progress: Progress = SILENT
) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Yield (broker, channel, edges) for every broker that publishes on a channel, channel by channel.

    The edges form the tree that carries the broker's messages to all brokers with a subscriber; none if all
    subscribers are on the broker itself.
    """
    model = CoreModel.of(problem.core, core_model)
    _, state = search_arrays(problem, model, assignment)
    for channel in range(problem.n_channels):
        check_stop(progress)
        members = np.flatnonzero(state.wanted[channel]).tolist()
        publishing = np.flatnonzero(state.sent[channel]).tolist()
        # All brokers with a subscriber share the tree.
        inside = set(members).intersection(publishing if core_model != "unicast" else ())
        common = model.edges(members[0], members) if inside else []
        for broker in publishing:
            yield broker, channel, common if broker in inside else model.edges(broker, members)
