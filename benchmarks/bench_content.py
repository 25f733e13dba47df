"""Plans of content problems [Zhao2011]: how fast each planner is, and how good.

Seconds are those of the planner in a process that has run it before, as in the paper's Table I; `command` is
the whole `topicloom content plan`, reading, judging and writing included.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import (
    Figure,
    NotRun,
    Options,
    Row,
    attempt,
    checked,
    fit_exponent,
    in_child,
    json_of,
    run_command,
    topicloom_command,
)

TITLE = "Content-based plans"
PUBLISHED = ("greedy-packing", "clustering", "steiner-mixing")
ASKED = {"greedy-packing": 0.1, "clustering": 2.0, "steiner-mixing": 10.0, "local-search": 5.0}
PRINTED = {"random": 0.9, "greedy-packing": 91.445, "clustering": 100.235, "steiner-mixing": 179.654}
SIZES = (5_000, 10_000, 20_000, 40_000)
WIDTHS = (0.005, 0.01, 0.02)
AT_LEAST = 1.7
"""How much larger the cost reduction ratio of local search is to be than the best published one."""

Cells = Mapping[str, Figure | str]


def run(options: Options) -> Iterator[Row]:
    table = "10,000 users, 100 brokers, 20 channels, price ratio 1: seconds of the planner"
    for name in ("random", *PUBLISHED, "local-search"):
        yield attempt(table, name, partial(_speed_cells, options, name))
    table = "growth with the users, 100 of them per broker: seconds ~ users^e"
    for name in (*PUBLISHED, "local-search"):
        yield attempt(table, name, partial(_growth_cells, options, name))
    table = "100,000 users, 1,000 brokers, 20 channels: the whole command"
    yield attempt(table, "greedy-packing", partial(_large_cells, options, "greedy-packing", ()))
    settings = ("start=greedy-packing", "work=0")
    yield attempt(
        table, "local-search from packing", partial(_large_cells, options, "local-search", settings)
    )
    yield attempt(table, "local-search, default", partial(_large_cells, options, "local-search", ()))
    table = "tiny problems (7 users on 3 brokers, 8 on 4; 10 channels): above the proved optimum, on average"
    for ratio, allowed in ((1.0, 1.0), (0.1, 6.0)):
        for model in ("plane", "iid"):
            case = f"{model}, price ratio {ratio:g}"
            yield attempt(table, case, partial(_tiny_cells, options, model, ratio, allowed))
    table = "2,000 users, 20 brokers, 200 channels, core links ten times dearer: cost reduction ratios"
    for model in ("plane", "iid"):
        for width in WIDTHS:
            case = f"{model}, width {width:g}"
            yield attempt(table, case, partial(_ratio_cells, options, model, width))


def _speed_cells(options: Options, name: str) -> Cells:
    shape = {"users": 10_000, "brokers": 100, "channels": 20}
    found = in_child("bench_content:measure", name=name, repeats=options.repeats, **shape)
    printed = PRINTED.get(name)
    return {
        "seconds": Figure(found["seconds"], "s", ASKED.get(name)),
        "paper, Table I": f"{printed:g} s" if printed else "",
        "cost reduction ratio": f"{found['crr']:.2f}",
        "core share": f"{found['core_share']:.1%}",
        "within (of optimal)": f"{found['gap']:.1%}",
    }


def _growth_cells(options: Options, name: str) -> Cells:
    if options.quick:
        raise NotRun("left out by --quick")
    seconds = [
        in_child(
            "bench_content:measure", name=name, repeats=2, users=users, brokers=users // 100, channels=20
        )["seconds"]
        for users in SIZES
    ]
    return {
        "e": f"{fit_exponent(SIZES, seconds):.2f}",
        **{f"{users:,}": f"{spent:.3g} s" for users, spent in zip(SIZES, seconds, strict=True)},
    }


def _large_cells(options: Options, name: str, settings: tuple[str, ...]) -> Cells:
    if options.quick:
        raise NotRun("left out by --quick")
    problem = options.scratch / "content-large"
    if not problem.exists():
        shape = ["--users", "100000", "--brokers", "1000", "--channels", "20", "--seed", "1", "--quiet"]
        checked(run_command(topicloom_command("content", "generate", str(problem), *shape)))
    words = [f"--set={setting}" for setting in settings]
    command = ["content", "plan", str(problem), "--algorithm", name, *words, "--json", "--quiet"]
    done = checked(run_command(topicloom_command(*command)))
    summary = json_of(done)
    return {
        "plan": f"{summary['seconds']['plan']:.1f} s",
        "command": Figure(done.seconds, "s", 600.0),
        "memory": Figure(done.megabytes, "MB"),
        "cost reduction ratio": f"{summary['crr']:.2f}",
        "within (of optimal)": f"{summary['gap']:.2%}",
    }


def _tiny_cells(options: Options, model: str, ratio: float, allowed: float) -> Cells:
    found = in_child("bench_content:tiny", model=model, ratio=ratio, seeds=4 if options.quick else 20)
    return {
        "local-search": Figure(found["local-search"], "%", allowed),
        "worst of them": f"{found['worst']:.1f}%",
        **{name: f"{found[name]:.0f}%" for name in PUBLISHED},
    }


def _ratio_cells(options: Options, model: str, width: float) -> Cells:
    found = in_child("bench_content:ratios", model=model, width=width)
    best = max(found[name] for name in PUBLISHED)
    return {
        **{name: f"{found[name]:.2f}" for name in PUBLISHED},
        "local-search": f"{found['local-search']:.2f}",
        "its gain over the best": f"{found['local-search'] / best:.2f}",
        "its cost over the best": Figure(best / found["local-search"], "", 1.0 / AT_LEAST),
        "seconds": f"{found['seconds']:.1f} s",
    }


# --- inside a process of its own -------------------------------------------------------------------


def measure(name: str, users: int, brokers: int, channels: int, repeats: int) -> dict[str, float]:
    """The best time of a planner, and what its plan is worth."""
    from topicloom.content.planners.bounds import lower_bound
    from topicloom.content.planners.cost import measure_cost
    from topicloom.content.planners.registry import PLANNERS
    from topicloom.content.workload import generate_content

    parameters: dict[str, Any] = {}
    if name == "local-search":
        parameters = {"start": "greedy-packing", "work": 0}
    PLANNERS[name].plan(generate_content(200, 4, channels).problem, **parameters)  # compile
    problem = generate_content(users, brokers, channels, seed=1).problem
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        plan = PLANNERS[name].plan(problem, **parameters)
        best = min(best, time.perf_counter() - start)
    cost = measure_cost(problem, plan.assignment)
    return {
        "seconds": best,
        "crr": _random_cost(problem) / cost.total,
        "core_share": cost.core_share,
        "gap": cost.total / lower_bound(problem).total - 1.0,
    }


def tiny(model: str, ratio: float, seeds: int) -> dict[str, float]:
    """How far planners are from the exact optimum, in percent, on average."""
    from topicloom.content.planners.cost import measure_cost
    from topicloom.content.planners.registry import PLANNERS
    from topicloom.content.workload import generate_content

    above: dict[str, list[float]] = {name: [] for name in (*PUBLISHED, "local-search")}
    for seed in range(seeds):
        users, brokers = ((7, 3), (8, 4))[seed % 2]
        problem = generate_content(users, brokers, 10, model, ratio, seed=seed).problem
        exact = PLANNERS["exact"].plan(problem)
        assert exact.report["optimal"]
        optimum = measure_cost(problem, exact.assignment).total
        for name in above:
            cost = measure_cost(problem, PLANNERS[name].plan(problem, seed=seed).assignment)
            if cost.overflow == 0.0:
                above[name].append(100.0 * (cost.total / optimum - 1.0))
    return {name: float(np.mean(found)) for name, found in above.items()} | {
        "worst": max(above["local-search"])
    }


def ratios(model: str, width: float) -> dict[str, float]:
    """Cost reduction ratios with narrow interests and dear core links."""
    from topicloom.content.planners.cost import measure_cost
    from topicloom.content.planners.registry import PLANNERS
    from topicloom.content.workload import generate_content

    problem = generate_content(2_000, 20, 200, model, 0.1, width, seed=1).problem
    random_cost = _random_cost(problem)
    found = {}
    for name in (*PUBLISHED, "local-search"):
        start = time.perf_counter()
        plan = PLANNERS[name].plan(problem)
        found["seconds"] = time.perf_counter() - start
        found[name] = random_cost / measure_cost(problem, plan.assignment).total
    return found


def _random_cost(problem: Any) -> float:
    from topicloom.content.jobs.plan import random_costs

    return float(np.mean([cost.total for cost in random_costs(problem, "free", 0)]))
