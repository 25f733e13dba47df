"""Compare `gm`, `gm-m` and `balanced` with the optimum: edges / maximum degree.

`python examples/exact_figures.py` takes the first interest only;
`python examples/exact_figures.py all` prints the table of docs/builders.md (a few minutes);
`python examples/exact_figures.py gap` the one that tells which side of a gap is loose (about twenty minutes).
"""

import sys
from collections.abc import Iterator
from time import perf_counter

import topicloom
from topicloom import Build, Interest
from topicloom.overlay import bound_overlays, generate_interest, sample_path, workload_from_options

CASES = (
    (60, 40, "5", "uniform"),
    (60, 100, "10", "zipf:0.5"),
    (100, 40, "5", "uniform"),
    (100, 100, "10", "zipf:0.5"),
    (200, 80, "5", "uniform"),
)
GAPS = (
    *((nodes, 40, "5", "uniform") for nodes in (60, 100, 200)),
    *((nodes, 100, "10", "zipf:0.5") for nodes in (60, 100, 200)),
    *((nodes, 200, "10:90", "uniform") for nodes in (20, 25, 60)),
)


def interests(everything: bool) -> Iterator[tuple[str, Interest]]:
    """Return synthetic interests and the real one of the demo."""
    for nodes, topics, sizes, law in CASES if everything else CASES[:1]:
        interest = generate_interest(workload_from_options(nodes, topics, sizes, law, seed=1))
        yield f"{nodes} nodes, {topics} topics, {sizes} each, {law}", interest
    if everything:
        px4 = topicloom.read(sample_path("px4"), header=False)
        yield f"PX4: {px4.n_nodes} nodes, {px4.n_topics} topics", px4


def shown(build: Build) -> str:
    """Return edges / maximum degree, and a bound where the optimum is not proved."""
    edges, degree = build.overlay.n_edges, build.overlay.degrees().max()
    if build.report.get("optimal", True):
        return f"{edges} / {degree}"
    bound = build.report.get("edges_bound", build.report.get("edges_bound_at_degree"))
    return f"{edges} / {degree} (at least {bound} edges)"


def gap() -> None:
    """Print edges, lower bounds first: of certifying, of `exact`, and what `exact` and `balanced` found."""
    print("| | bound of certifying | bound of exact | exact | balanced | with objective=edges |")
    print("|---|---|---|---|---|---|")
    for nodes, topics, sizes, law in GAPS:
        interest = generate_interest(workload_from_options(nodes, topics, sizes, law, seed=1))
        exact = topicloom.build(interest, "exact", objective="edges")
        balanced = topicloom.build(interest, "balanced", max_hops="none")
        longer = topicloom.build(interest, "balanced", max_hops="none", objective="edges")
        found = [build.overlay.n_edges for build in (exact, balanced, longer)]
        cells = [bound_overlays(interest).edges_bound, exact.report["edges_bound"], *found]
        title = f"{nodes} nodes, {topics} topics, {sizes} each, {law}"
        print(f"| {title} | {' | '.join(map(str, cells))} |", flush=True)


def main(which: str = "") -> None:
    """Print one row for each interest."""
    if which == "gap":
        gap()
        return
    print("| | gm | gm-m | balanced | exact, edges | seconds | exact, max-degree | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for title, interest in interests(which == "all"):
        cells = [shown(topicloom.build(interest, name)) for name in ("gm", "gm-m", "balanced")]
        for objective in ("edges", "max-degree"):
            start = perf_counter()
            cells.append(shown(topicloom.build(interest, "exact", objective=objective)))
            cells.append(f"{perf_counter() - start:.1f}")
        print(f"| {title} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
