"""Tasks on content problems: users on brokers, and what that costs [Zhao2011]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topicloom.base.progress import Silent
from topicloom.content.jobs.plan import random_costs
from topicloom.content.planners.bounds import lower_bound
from topicloom.content.planners.cost import measure_cost
from topicloom.content.planners.registry import PLANNERS
from topicloom.content.workload import generate_content
from topicloom.experiments.model import Figures, Settings

BOUND = "bound"


def run_plan(settings: Settings, seed: int, clock: Callable[[], float]) -> Figures:
    """Plan a drawn problem; the algorithm `bound` gives what no plan can be better than."""
    problem = generate_content(
        int(settings["users"]),
        int(settings["brokers"]),
        int(settings["channels"]),
        settings.get("model", "plane"),
        settings.get("ratio", 1.0),
        settings.get("width", "uniform"),
        seed,
    ).problem
    random_cost = float(np.mean([cost.total for cost in random_costs(problem, "free", seed)]))
    if settings["algorithm"] == BOUND:
        return {"crr": random_cost / lower_bound(problem).total}
    planner = PLANNERS[settings["algorithm"]]
    began = clock()
    plan = planner.plan(problem, seed=seed, progress=Silent(clock), **settings.get("set", {}))
    seconds = clock() - began
    cost = measure_cost(problem, plan.assignment)
    return {
        "crr": random_cost / cost.total,
        "core_share": cost.core_share,
        "overflow": cost.overflow,
        "seconds": seconds,
    }
