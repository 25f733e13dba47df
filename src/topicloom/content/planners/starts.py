"""Where local search begins: plans of the paper, and users of like interest side by side."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.content.kernels.room import limits
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.cost import measure_cost
from topicloom.content.planners.mixing import plan_mixing
from topicloom.content.planners.packing import plan_packing
from topicloom.content.planners.random_plan import plan_random
from topicloom.content.planners.search import middles

CENTRES = 16
"""Brokers around which `start_by_interest` tries to gather all users."""


def start_by_interest(problem: ContentProblem, core_model: str, seed: int) -> Ints:
    """Users in the order of what they want, filled into few brokers that are near to each other.

    Then a channel has its subscribers on one or two brokers. Good where links between brokers are dear and
    interests narrow; the access prices are not looked at. Of several groups of brokers the cheapest is kept.
    """
    users = np.argsort(middles(problem), kind="stable").astype(np.int32)
    step = max(problem.n_brokers // CENTRES, 1)
    plans = [_fill(problem, users, centre) for centre in range(0, problem.n_brokers, step)]
    return min(plans, key=lambda plan: measure_cost(problem, plan, core_model).total)


def _fill(problem: ContentProblem, users: Ints, centre: int) -> Ints:
    """The users, in order, into the brokers around `centre`, each filled before the next."""
    limit = limits(problem.capacity)
    route = _route(problem, centre)
    broker = np.zeros(problem.n_users, dtype=np.int32)
    load = np.zeros(problem.n_brokers)
    at = 0
    for user in users.tolist():
        demand = problem.demand[user]
        while at < len(route) - 1 and load[route[at]] + demand > limit[route[at]]:
            at += 1
        target = route[at]
        if load[target] + demand > limit[target]:  # the last one is full: whoever has most room
            target = int(np.argmax(limit - load))
        broker[user] = target
        load[target] += demand
    return broker


def _route(problem: ContentProblem, centre: int) -> list[int]:
    """The brokers nearest to `centre` that hold all users together, each followed by its nearest one."""
    near = np.argsort(problem.core[centre], kind="stable")
    room = np.cumsum(problem.capacity[near])
    left = near[: int(np.searchsorted(room, problem.demand.sum())) + 1].tolist()
    route = [left.pop(0)]
    while left:
        nearest = min(left, key=lambda broker: (problem.core[route[-1], broker], broker))
        left.remove(nearest)
        route.append(nearest)
    return [int(broker) for broker in route]


STARTS: dict[str, Callable[[ContentProblem, str, int], Ints]] = {
    "greedy-packing": lambda problem, core_model, seed: plan_packing(problem).assignment,
    "steiner-mixing": lambda problem, core_model, seed: plan_mixing(problem, seed=seed).assignment,
    "by-interest": start_by_interest,
    "random": lambda problem, core_model, seed: plan_random(problem, seed=seed).assignment,
}
