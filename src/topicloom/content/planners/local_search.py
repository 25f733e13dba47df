"""The default planner: local search on the exact cost from several starts, then annealing.

Each start is improved to a local optimum (assignment_search.py). The best is annealed in rounds that begin at
lower and lower temperatures, each from the best plan so far, and end in a local optimum again. Work is
counted in proposals, so the same seed gives the same plan anywhere; with a time limit rounds go on until it
is over, and the plan depends on the speed of the machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.base.seeds import stream_key
from topicloom.content.model.problem import ContentPlan, ContentProblem
from topicloom.content.planners.assignment_search import AssignmentSearch, interest_centers, near_brokers
from topicloom.content.planners.broker_trees import CoreModel
from topicloom.content.planners.cost import measure_cost
from topicloom.content.planners.placement import plan_greedy_packing, plan_random
from topicloom.content.planners.steiner_mixing import plan_steiner_mixing

HEATS = (1.0, 0.3, 0.1)  # temperatures at which rounds of annealing begin, in units of a user's mean cost
FEWEST = 60_000  # proposals at least, however few users there are
LARGE = 30_000_000  # pairs of a user and a broker above which `start=all` means greedy packing only
CENTERS = 16  # brokers around which `start_by_interest` tries to gather all users


def start_by_interest(problem: ContentProblem, core_model: str, seed: int) -> Ints:
    """Assign users of like interest to few brokers that are near each other.

    A channel then has its subscribers on one or two brokers. Good where links between brokers are expensive
    and interests narrow; access prices are ignored. Of several groups of brokers the cheapest is kept.
    """
    users = np.argsort(interest_centers(problem), kind="stable").astype(np.int32)
    step = max(problem.n_brokers // CENTERS, 1)
    plans = [_fill(problem, users, center) for center in range(0, problem.n_brokers, step)]
    return min(plans, key=lambda plan: measure_cost(problem, plan, core_model).total)


def _fill(problem: ContentProblem, users: Ints, center: int) -> Ints:
    """Put the users, in order, on the brokers around `center`, each filled before the next."""
    limit = problem.load_limits
    route = _route(problem, center)
    broker = np.zeros(problem.n_users, dtype=np.int32)
    load = np.zeros(problem.n_brokers)
    at = 0
    for user in users.tolist():
        demand = problem.demand[user]
        while at < len(route) - 1 and load[route[at]] + demand > limit[route[at]]:
            at += 1
        target = route[at]
        if load[target] + demand > limit[target]:  # the last one is full: take the roomiest
            target = int(np.argmax(limit - load))
        broker[user] = target
        load[target] += demand
    return broker


def _route(problem: ContentProblem, center: int) -> list[int]:
    """Return the brokers nearest to `center` that hold all users, each followed by the one nearest to it."""
    near = np.argsort(problem.core[center], kind="stable")
    room = np.cumsum(problem.capacity[near])
    left = near[: int(np.searchsorted(room, problem.demand.sum())) + 1].tolist()
    route = [left.pop(0)]
    while left:
        nearest = min(left, key=lambda broker: (problem.core[route[-1], broker], broker))
        left.remove(nearest)
        route.append(nearest)
    return route


STARTS: dict[str, Callable[[ContentProblem, str, int], Ints]] = {
    "greedy-packing": lambda problem, core_model, seed: plan_greedy_packing(problem).assignment,
    "steiner-mixing": lambda problem, core_model, seed: plan_steiner_mixing(problem, seed=seed).assignment,
    "by-interest": start_by_interest,
    "random": lambda problem, core_model, seed: plan_random(problem, seed=seed).assignment,
}


def plan_local_search(
    problem: ContentProblem,
    *,
    core_model: str = "free",
    seed: int = 0,
    time_limit: float | None = None,
    progress: Progress = SILENT,
    start: Annotated[str, Parameter("where the search begins", ("all", *STARTS))] = "all",
    work: Annotated[int, Parameter("proposals of annealing per user; 0: local search only", least=0)] = 300,
    tries: Annotated[
        int, Parameter("brokers computed exactly for a user, best estimates first", least=1)
    ] = 8,
) -> ContentPlan:
    """Find a plan that no migration, push through a full broker, or closing of a broker makes cheaper.

    >>> line = ContentProblem.of(["i", "j"], ["a", "b"], [9, 9], [[1, 4], [2, 1]], [[0, 5], [5, 0]], 1,
    ...     rates=([0], [0], [3.0]), wants=([1], [0], [0]))
    >>> plan_local_search(line).assignment.tolist()      # the link between the brokers is expensive
    [0, 0]
    """
    watch = Stopwatch(progress)
    until = None if time_limit is None else progress.now() + time_limit
    model = CoreModel.of(problem.core, core_model)
    names = [start] if start != "all" else list(STARTS)
    if start == "all" and problem.n_users * problem.n_brokers > LARGE:
        names = ["greedy-packing"]
    with watch.phase("starts", len(names)):
        starts = {}
        for name in names:
            starts[name] = STARTS[name](problem, core_model, seed)
            progress.advance()
    search = AssignmentSearch.of(problem, model, starts[names[0]], tries=tries, progress=progress)
    search.until = until
    costs: dict[str, float] = {}
    with watch.phase("descend", len(names), "local search"):
        for name in names:
            if costs and search.out_of_time():
                break
            search.reset(starts[name])
            search.reach_block_optimum()
            costs[name] = search.total
            search.note_best()
            progress.advance()
    _anneal(search, work, stream_key(seed, "content", "anneal"), watch)
    report = {"starts": costs, "moves": dict(search.moves), "best_start": min(costs, key=costs.__getitem__)}
    parameters = {"start": start, "work": work, "tries": tries, "time_limit": time_limit}
    return ContentPlan(search.best, "local-search", parameters, report, seconds=watch.seconds, seed=seed)


def _anneal(search: AssignmentSearch, work: int, key: int, watch: Stopwatch) -> None:
    """Anneal in rounds from the best assignment, each ended by local search.

    Without a time limit there is one round per heat; with one, they are repeated until it has passed.
    """
    problem, limited = search.problem, search.until is not None
    if (work == 0 and not limited) or problem.n_brokers < 2 or search.total <= 0.0:
        return
    near = near_brokers(problem)
    budget = max(work * problem.n_users, FEWEST) // len(HEATS)
    total = None if limited else float(budget * len(HEATS))
    counter = key
    with watch.phase("anneal", total):
        while True:
            for heat in HEATS:
                search.reset(search.best)
                unit = heat * search.total / problem.n_users
                counter = search.anneal(near, counter, budget, unit)
                search.reach_local_optimum()
                search.note_best()
                if search.out_of_time():
                    return
            if not limited:
                return
