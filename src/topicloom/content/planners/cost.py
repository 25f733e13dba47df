"""What a plan costs: the one evaluator that every planner, the commands and the simulator use.

Access: each user's demand times the price of its link. Core: for each channel and publishing broker the rate
times the weight of the tree to all brokers with a subscriber ([Zhao2011, IV]; see core_model.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Floats, Ints, freeze_fields
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.content.kernels.assignment import AssignmentState, ProblemArrays, settle
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
    """The exact cost of an assignment under a core model.

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


def search_arrays(
    problem: ContentProblem, model: CoreModel, assignment: Ints
) -> tuple[ProblemArrays, AssignmentState]:
    """A problem and an assignment in the form the kernels search in."""
    fixed = ProblemArrays(
        problem.access,
        problem.demand,
        problem.load_limits,
        problem.rate_ptr,
        problem.rate_channels,
        problem.rates,
        problem.want_ptr,
        problem.want_first,
        problem.want_last,
        problem.channel_rate,
        model.code,
        model.links,
        model.order,
        model.parent,
        model.step,
        model.table,
    )
    n, channels = problem.n_brokers, problem.n_channels
    state = AssignmentState(
        np.array(assignment, dtype=np.int32),
        np.zeros(n),
        np.zeros((channels, n), dtype=np.int32),
        np.zeros((channels, n)),
        np.zeros((channels, n)),
        np.zeros(channels, dtype=np.int32),
        np.zeros(channels),
        np.zeros(channels),
        np.zeros((channels, n)),
        np.zeros(channels, dtype=np.int32),
        np.zeros(n, dtype=np.int32),
        np.zeros((2, n), dtype=np.int32),
        np.zeros((2, n)),
        np.zeros((3, n)),
        np.zeros(n, dtype=np.int32),
    )
    settle(fixed, state)
    return fixed, state


def trees_of(
    problem: ContentProblem, assignment: Ints, core_model: str = "free", *, progress: Progress = SILENT
) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """(broker, channel, edges) for every broker that publishes on a channel, channel by channel.

    The edges are those of the tree that carries the broker's messages to all brokers with a subscriber; none
    where all subscribers are on the broker itself.
    """
    model = CoreModel.of(problem.core, core_model)
    _, state = search_arrays(problem, model, assignment)
    published = _published(problem, assignment)
    for channel in range(problem.n_channels):
        check_stop(progress)
        members = np.flatnonzero(state.wanted[channel]).tolist()
        inside = set(members)
        common: list[tuple[int, int]] | None = None
        for broker in np.flatnonzero(published[channel]).tolist():
            if core_model == "unicast" or broker not in inside:
                edges = model.edges(broker, members)
            else:  # all brokers with a subscriber share the tree
                common = model.edges(broker, members) if common is None else common
                edges = common
            yield broker, channel, edges


def _published(problem: ContentProblem, assignment: Ints) -> np.ndarray:
    """Channels x brokers: does a user of the broker publish on the channel?"""
    found = np.zeros((problem.n_channels, problem.n_brokers), dtype=np.bool_)
    homes = np.repeat(np.asarray(assignment), np.diff(problem.rate_ptr))
    found[problem.rate_channels, homes] = True
    return found
