"""Lower bounds: how sharp they are beside overlays that exist, and how long they take as nodes grow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from benchmarks.bench_builders import drawn
from benchmarks.harness import Figure, NotRun, Options, Row, attempt, in_child, measure

TITLE = "certified lower bounds"
THOUSAND = {  # the workloads of balanced: topics, sizes, popularity, bounds once reached (average, maximum)
    "uniform": (200, "10:90", "uniform", 3.87, 5),
    "zipf:2": (200, "10:90", "zipf:2", 3.56, 6),
    "geometric:0.1": (200, "10:90", "geometric:0.1", 2.05, 4),
    "zipf:0.5, s=10": (100, "10", "zipf:0.5", 4.61, 5),
}
LARGE = (  # nodes, topics, sizes, popularity, seconds asked for
    (10_000, 200, "10:90", "uniform", 60.0),
    (10_000, 200, "10:90", "zipf:2", 60.0),
    (10_000, 200, "10:90", "geometric:0.1", 60.0),
    (10_000, 100, "10", "zipf:0.5", 60.0),
    (100_000, 1000, "20", "zipf:0.5", 60.0),
    (100_000, 200, "10:90", "uniform", 60.0),
)
FEW_SECONDS = 10.0

Cells = Mapping[str, Figure | str]


def run(options: Options) -> Iterator[Row]:
    for name, (topics, sizes, popularity, average, most) in THOUSAND.items():
        cells = partial(_sharp_cells, 1000, topics, sizes, popularity, average, most)
        yield attempt(
            "V=1,000: bounds beside gm and gm-m (asked: at least the figure in brackets)", name, cells
        )
    for nodes, topics, sizes, popularity, asked in LARGE:
        case = f"V={nodes:,} T={topics} s={sizes} {popularity}"
        yield attempt("Larger", case, partial(_large_cells, options, nodes, topics, sizes, popularity, asked))


def _sharp_cells(nodes: int, topics: int, sizes: str, popularity: str, average: float, most: int) -> Cells:
    answer = _answer(nodes, topics, sizes, popularity, heuristics=True)
    found = 2 * answer["edges_bound"] / nodes
    # Figures are missed by being too high, so sharpness is told by what is lacking.
    return {
        "time": Figure(answer["seconds"], "s", FEW_SECONDS),
        "processor time": Figure(answer["processor_seconds"], "s"),
        "average degree at least": f"{found:.3f} ({average})",
        "lacking": Figure(max(100.0 * (average / found - 1.0), 0.0), "%", 0.5),
        "maximum at least": f"{answer['degree_max_bound']} ({most})",
        "lacking there": Figure(max(most - answer["degree_max_bound"], 0), "", 0.5),
        "average of gm": f"{2 * answer['gm_edges'] / nodes:.3f}",
        "maximum of gm-m": str(answer["gm_m_degree_max"]),
        "method": answer["method"],
    }


def _large_cells(
    options: Options, nodes: int, topics: int, sizes: str, popularity: str, asked: float
) -> Cells:
    if options.quick:
        raise NotRun("left out by --quick")
    answer = _answer(nodes, topics, sizes, popularity, heuristics=False)
    return {
        "time": Figure(answer["seconds"], "s", asked),
        "processor time": Figure(answer["processor_seconds"], "s"),
        "memory": Figure(answer["megabytes"], "MB"),
        "average degree at least": f"{2 * answer['edges_bound'] / nodes:.3f}",
        "maximum at least": str(answer["degree_max_bound"]),
        "method": answer["method"],
    }


def _answer(nodes: int, topics: int, sizes: str, popularity: str, *, heuristics: bool) -> dict[str, Any]:
    workload = {**drawn(nodes, topics, sizes, popularity), "seed": 1}
    return in_child("bench_certify:measure_bounds", workload=workload, heuristics=heuristics)


def measure_bounds(workload: dict[str, Any], heuristics: bool) -> dict[str, Any]:
    """In a child: bound a toy with every effort to load the kernels, then the workload once."""
    import time

    from topicloom.overlay.builders.gm import build_gm, build_gm_m
    from topicloom.overlay.measures.bounds import OVERLAPS, bound_overlays
    from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

    toy = generate_interest(workload_from_options(**drawn(30, 20, "5", "uniform")))
    bound_overlays(toy)
    bound_overlays(toy, effort=OVERLAPS)
    interest = generate_interest(workload_from_options(**workload))
    used = time.process_time()
    measured = measure(lambda: bound_overlays(interest), 1)
    found = measured.result
    answer = {
        "processor_seconds": time.process_time() - used,
        "seconds": measured.seconds,
        "megabytes": measured.megabytes,
        "edges_bound": found.edges_bound,
        "degree_max_bound": found.degree_max_bound,
        "method": found.method,
    }
    if heuristics:
        answer["gm_edges"] = build_gm(interest).overlay.n_edges
        answer["gm_m_degree_max"] = int(build_gm_m(interest).overlay.degrees().max())
    return answer
