"""failures: overlays that survive any death, beside gm: edges, maximum degree, hops; `improve` for 30 s.

Edges are a mean over seeds of the interest, degrees and hops the worst of them; each survival is proved.
Time is processor time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from benchmarks.bench_builders import drawn
from benchmarks.bench_hops import LARGE
from benchmarks.harness import Figure, NotRun, Options, Row, attempt, in_child

TITLE = "overlays that survive a death"
NODES, SEEDS = (2_000, 10_000), (1, 2, 3, 4, 5)
MOST_EDGES = 1.33  # times gm's
MORE_DEGREE = 2  # above gm's maximum
MOST_HOPS = 0.5  # times gm's
IMPROVE_SECONDS, QUICK_SECONDS = 30.0, 5.0

Cells = Mapping[str, Figure | str]


def run(options: Options) -> Iterator[Row]:
    table = "T=100 s=10 zipf:0.5, K=1, beside gm: in all seeds, CPU seconds"
    chosen = SEEDS[:1] if options.quick else SEEDS
    for nodes in NODES:
        yield attempt(table, f"V={nodes:,}", partial(_survival_cells, options, nodes, chosen))
    table = "improve with what survives kept"
    seconds = QUICK_SECONDS if options.quick else IMPROVE_SECONDS
    yield attempt(table, f"V=2,000, {seconds:.0f} s", partial(_improve_cells, seconds))


def _survival_cells(options: Options, nodes: int, seeds: tuple[int, ...]) -> Cells:
    if options.quick and nodes >= LARGE:
        raise NotRun("left out by --quick")
    found = in_child("bench_failures:measure_survival", nodes=nodes, seeds=list(seeds))
    return {
        "edges : gm's, mean": Figure(found["edges"], "", MOST_EDGES),
        "maximum above gm's, most": Figure(found["degree"], "", MORE_DEGREE),
        "hops : gm's, most": Figure(found["hops"], "", MOST_HOPS),
        "time": Figure(found["seconds"], "s"),
    }


def _improve_cells(seconds: float) -> Cells:
    found = in_child("bench_failures:measure_improve", seconds=seconds)
    return {
        "edges before": f"{found['before']:,}",
        "edges": Figure(found["after"], "", found["before"]),
        "rounds": f"{found['rounds']:,}",
    }


# --- inside a child ----------------------------------------------------------------------------------------


def _interest(nodes: int, seed: int) -> Any:
    from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

    return generate_interest(workload_from_options(**{**drawn(nodes), "seed": seed}))


def _surviving(interest: Any, seed: int) -> Any:
    """Build and prove."""
    import topicloom
    from topicloom.overlay.builders.registry import run_builder

    build = run_builder("balanced", interest, seed=seed, survive=1)
    if not topicloom.verify(interest, build.overlay, survive=1).survival.survives:
        raise AssertionError(f"seed {seed}: a death splits a topic")
    return build


def measure_survival(nodes: int, seeds: list[int]) -> dict[str, float]:
    """Edges beside gm's (mean), maximum degree above it and hops beside it (most of any seed), seconds."""
    import time

    import numpy as np

    from topicloom.overlay.builders.gm import build_gm
    from topicloom.overlay.builders.hops import topic_hops

    _surviving(_interest(300, 1), 1)  # kernels are loaded
    rows = []
    for seed in seeds:
        interest = _interest(nodes, seed)
        gm = build_gm(interest)
        start = time.process_time()
        build = _surviving(interest, seed)
        seconds = time.process_time() - start
        hops, gm_hops = (int(topic_hops(interest, one.overlay).max()) for one in (build, gm))
        rows.append((build.n_edges / gm.n_edges, build.degree_max - gm.degree_max, hops / gm_hops, seconds))
    edges, degree, hops_share, spent = np.array(rows).T
    return {
        "edges": float(edges.mean()),
        "degree": float(degree.max()),
        "hops": float(hops_share.max()),
        "seconds": float(spent.mean()),
    }


def measure_improve(seconds: float) -> dict[str, int]:
    """Edges of an overlay that survives a death before and after `improve`, which still does."""
    import topicloom

    interest = _interest(2_000, 1)
    build = _surviving(interest, 1)
    found = topicloom.improve(interest, build, time_limit=seconds, survive=1)
    if not topicloom.verify(interest, found.overlay, survive=1).survival.survives:
        raise AssertionError("improve lost survival")
    return {"before": build.n_edges, "after": found.n_edges, "rounds": int(found.report["rounds"])}
