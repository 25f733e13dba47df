"""exact: seconds to a proof beside the edges of gm, the gap where time runs out, and the tree test."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from benchmarks.bench_builders import drawn
from benchmarks.harness import Figure, NotRun, Options, Row, attempt, in_child, measure

TITLE = "the optimum and the tree test"
ASKED = 60.0  # seconds to the proof at 60 nodes, 40 topics, 5 subscriptions
SEEDS = (1, 2, 3, 4, 5)
LARGER = (  # nodes, topics, subscriptions
    (200, 100, "5"),
    (120, 40, "5"),
    (60, 40, "8"),
    (60, 40, "10"),
    (200, 100, "10"),
)
TREE_NODES = 20_000
OPTIMA = {"edges": 271, "max-degree": 300}  # edges, proved by exact; the maximum degree is 17 with the second
NEAR = 1.01  # times that is asked for
LOWEST = 17

Cells = Mapping[str, Figure | str]


def run(options: Options) -> Iterator[Row]:
    seeds = SEEDS[:1] if options.quick else SEEDS
    table = "V=60 T=40 s=5 uniform: seconds to the proof (a run without one counts as missed)"
    for seed in seeds:
        for objective in ("edges", "max-degree"):
            case = f"seed {seed}, {objective}"
            yield attempt(table, case, partial(_proof_cells, 60, 40, "5", seed, objective, ASKED))
    for nodes, topics, sizes in LARGER:
        case = f"V={nodes} T={topics} s={sizes}"
        cells = partial(_larger_cells, options, nodes, topics, sizes)
        yield attempt(f"Larger and denser, uniform, at most {ASKED:g} s", case, cells)
    for objective in OPTIMA:
        case = f"objective={objective}"
        yield attempt("PX4, balanced by an objective within 12 hops", case, partial(_near_cells, objective))
    for serves in (False, True):
        case = "one tree serves all" if serves else "none does (T=200 s=10:90 uniform)"
        yield attempt(f"The tree test, V={TREE_NODES:,}", case, partial(_tree_cells, options, serves))


def _proof_cells(
    nodes: int, topics: int, sizes: str, seed: int, objective: str, asked: float | None
) -> Cells:
    workload = {**drawn(nodes, topics, sizes, "uniform"), "seed": seed}
    answer = in_child("bench_exact:measure_exact", workload=workload, objective=objective, limit=ASKED)
    report = answer["report"]
    # Without a proof there is no time to it: infinite, hence missed where a figure was asked for.
    proved = answer["seconds"] if report["optimal"] else math.inf
    return {
        "time": Figure(proved, "s", asked) if asked is not None else Figure(answer["seconds"], "s"),
        "edges": str(answer["edges"]),
        "at least": str(report.get("edges_bound", report.get("edges_bound_at_degree"))),
        "edges of gm": str(answer["gm_edges"]),
        "maximum degree": str(answer["degree_max"]),
        "degree at least": str(report["degree_max_bound"]),
        "maximum of gm": str(answer["gm_degree_max"]),
        "proved": "yes" if report["optimal"] else f"no, gap {report['gap']:.1%}",
    }


def _larger_cells(options: Options, nodes: int, topics: int, sizes: str) -> Cells:
    if options.quick:
        raise NotRun("left out by --quick")
    return _proof_cells(nodes, topics, sizes, 1, "edges", None)


def _near_cells(objective: str) -> Cells:
    answer = in_child("bench_exact:measure_near", objective=objective)
    lowest = float(LOWEST) if objective == "max-degree" else None
    return {
        "edges": Figure(answer["edges"], "", NEAR * OPTIMA[objective]),
        "maximum degree": Figure(answer["degree_max"], "", lowest),
        "optimum": str(OPTIMA[objective]),
        "time": Figure(answer["seconds"], "s"),
    }


def _tree_cells(options: Options, serves: bool) -> Cells:
    answer = in_child("bench_exact:measure_tree", serves=serves, repeats=options.repeats)
    return {
        "time": Figure(answer["seconds"], "s"),
        "memory": Figure(answer["megabytes"], "MB"),
        "edges": f"{answer['edges']:,}",
        "maximum degree": str(answer["degree_max"]),
    }


def measure_exact(workload: dict[str, Any], objective: str, limit: float) -> dict[str, Any]:
    """In a child: build on a toy to load the kernels, then once on the workload, with a clock."""
    import time

    from topicloom.base.progress import Silent
    from topicloom.overlay.builders.exact import build_exact
    from topicloom.overlay.builders.gm import build_gm
    from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

    toy = generate_interest(workload_from_options(**drawn(30, 20, "5", "uniform")))
    build_exact(toy, objective=objective)
    interest = generate_interest(workload_from_options(**workload))
    clock = Silent(time.monotonic)
    measured = measure(
        lambda: build_exact(interest, objective=objective, time_limit=limit, progress=clock), 1
    )
    build, gm = measured.result, build_gm(interest).overlay
    return {
        "seconds": measured.seconds,
        "report": dict(build.report),
        "edges": build.overlay.n_edges,
        "degree_max": int(build.overlay.degrees().max()),
        "gm_edges": gm.n_edges,
        "gm_degree_max": int(gm.degrees().max()),
    }


def measure_near(objective: str) -> dict[str, Any]:
    """In a child: balanced by an objective on the PX4 table, once on a toy before."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from topicloom import build, read
    from topicloom.mesh.jobs.example import write_example
    from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

    toy = generate_interest(workload_from_options(**drawn(50, 20, "5", "uniform")))
    build(toy, "balanced", objective=objective)
    with TemporaryDirectory() as folder:
        table = read(write_example("px4", Path(folder) / "px4.tsv").files[0], engine="local")
    measured = measure(lambda: build(table, "balanced", objective=objective), 1)
    made = measured.result
    return {
        "seconds": measured.seconds,
        "edges": float(made.n_edges),
        "degree_max": float(made.degree_max),
    }


def measure_tree(serves: bool, repeats: int) -> dict[str, Any]:
    """In a child: the test on an interest with or without a serving tree; no two nodes are alike."""
    import numpy as np

    from topicloom.overlay.builders.serving_tree import serving_tree
    from topicloom.overlay.model.interest import Interest
    from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

    serving_tree(Interest.from_pairs([(f"n{i}", f"t{i // k}") for i in range(20) for k in (1, 5, 20)]))
    if serves:
        pairs = [(f"n{i:05}", topic) for i in range(TREE_NODES) for topic in ("all", f"own{i:05}")]
        interest = Interest.from_pairs(pairs)
    else:
        interest = generate_interest(workload_from_options(**drawn(TREE_NODES, 200, "10:90", "uniform")))
    measured = measure(lambda: serving_tree(interest), repeats)
    if (measured.result is not None) != serves:
        raise AssertionError("the tree test gave the wrong answer")
    ends = np.concatenate(measured.result) if serves else np.zeros(0, np.int64)
    degrees = np.bincount(ends, minlength=1)
    return {
        "seconds": measured.seconds,
        "megabytes": measured.megabytes,
        "edges": len(ends) // 2,
        "degree_max": int(degrees.max()),
    }
