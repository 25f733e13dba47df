"""balanced beside gm and gm-m: degrees, mean of five seeds, and time with and without local search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from benchmarks.bench_builders import drawn
from benchmarks.harness import Figure, NotRun, Options, Row, attempt, in_child

TITLE = "balanced"
SEEDS = (0, 1, 2, 3, 4)

WORKLOADS: dict[str, dict[str, Any]] = {
    "uniform T=200 10:90": {"topics": 200, "subscriptions": "10:90", "popularity": "uniform"},
    "zipf:2 T=200 10:90": {"topics": 200, "subscriptions": "10:90", "popularity": "zipf:2"},
    "geometric:0.1 T=200 10:90": {"topics": 200, "subscriptions": "10:90", "popularity": "geometric:0.1"},
    "zipf:0.5 T=100 s=10": {"topics": 100, "subscriptions": "10", "popularity": "zipf:0.5"},
}
AVERAGES = dict(zip(WORKLOADS, (5.15, 4.40, 2.30, 4.88), strict=True))
MAXIMA = dict(zip(WORKLOADS, (8.0, 9.0, 5.0, 6.0), strict=True))
SECONDS_AT_10_000 = dict(zip(WORKLOADS, (15.0, 60.0, None, 15.0), strict=True))

Cells = Mapping[str, Figure | str]


def run(options: Options) -> Iterator[Row]:
    for name in WORKLOADS:
        for work in ("auto", 0):
            table = f"V=1,000, work {work}, mean of {len(SEEDS)} seeds: average / maximum degree"
            yield attempt(table, name, partial(_mean_cells, options, name, work))
    for name in WORKLOADS:
        yield attempt("V=10,000, work 0, one seed", name, partial(_large_cells, options, name))


def _mean_cells(options: Options, name: str, work: float | str) -> Cells:
    seeds = SEEDS[:1] if options.quick else SEEDS
    found = in_child("bench_balanced:measure_seeds", name=name, nodes=1_000, work=work, seeds=list(seeds))
    full = work != 0
    return {
        "balanced, average": Figure(found["balanced"]["average"], "", AVERAGES[name] if full else None),
        "maximum": Figure(found["balanced"]["maximum"], "", MAXIMA[name] if full else None),
        "gm": "{average:.2f} / {maximum:.1f}".format(**found["gm"]),
        "gm-m": "{average:.2f} / {maximum:.1f}".format(**found["gm-m"]),
        "time": Figure(found["balanced"]["seconds"], "s", 30.0 if full else 2.0),
        "time : gm": Figure(found["balanced"]["seconds"] / found["gm"]["seconds"], ""),
    }


def _large_cells(options: Options, name: str) -> Cells:
    if options.quick:
        raise NotRun("left out by --quick")
    found = in_child("bench_balanced:measure_seeds", name=name, nodes=10_000, work=0, seeds=[1])
    return {
        key: "{average:.2f} / {maximum:.0f}".format(**found[key]) for key in ("balanced", "gm", "gm-m")
    } | {
        "time": Figure(found["balanced"]["seconds"], "s", SECONDS_AT_10_000[name]),
        "time : gm": Figure(found["balanced"]["seconds"] / found["gm"]["seconds"], ""),
        "time model": f"{found['balanced']['expected']:.1f} s",
    }


def measure_seeds(name: str, nodes: int, work: float | str, seeds: list[int]) -> dict[str, dict[str, float]]:
    """In a child: the mean over seeds of degrees and times, kernels loaded before."""
    import time

    import numpy as np

    from topicloom.overlay.builders.default import expected_seconds
    from topicloom.overlay.builders.registry import BUILDERS
    from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

    ways: dict[str, dict[str, Any]] = {"balanced": {"work": work, "max_hops": "none"}, "gm": {}, "gm-m": {}}
    warm = generate_interest(workload_from_options(**drawn(300)))
    found: dict[str, list[tuple[float, ...]]] = {key: [] for key in ways}
    for key, parameters in ways.items():
        BUILDERS[key].build(warm, **parameters)
    for seed in seeds:
        interest = generate_interest(workload_from_options(nodes=nodes, seed=seed, **WORKLOADS[name]))
        for key, parameters in ways.items():
            start = time.perf_counter()
            degrees = BUILDERS[key].build(interest, seed=seed, **parameters).overlay.degrees()
            seconds = time.perf_counter() - start
            expected = expected_seconds(interest, work, max_hops="none")
            found[key].append((float(degrees.mean()), float(degrees.max()), seconds, expected))
    names = ("average", "maximum", "seconds", "expected")
    return {
        key: dict(zip(names, map(float, np.mean(rows, axis=0)), strict=True)) for key, rows in found.items()
    }
