"""Compare `balanced` with the published greedy algorithms and with proved lower bounds.

`python examples/builders_figures.py` takes 30 nodes and one seed;
`python examples/builders_figures.py 1000 5` prints the tables of docs/builders.md (a few minutes).
"""

import sys
from statistics import mean
from time import process_time
from typing import Any

import topicloom
from topicloom import Interest
from topicloom.overlay import bound_overlays, generate_interest, workload_from_options

WORKLOADS = (
    ("uniform, T=200, 10:90", 200, "10:90", "uniform"),
    ("zipf:2, T=200, 10:90", 200, "10:90", "zipf:2"),
    ("geometric:0.1, T=200, 10:90", 200, "10:90", "geometric:0.1"),
    ("zipf:0.5, T=100, s=10", 100, "10", "zipf:0.5"),
)
WAYS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("gm", "gm", {}),
    ("gm-m", "gm-m", {}),
    ("low-oda", "low-oda", {}),
    ("balanced, work 0", "balanced", {"work": 0, "max_hops": "none"}),
    ("balanced, work 20", "balanced", {"work": 20, "max_hops": "none"}),
)


def figures(interests: list[Interest], algorithm: str, parameters: dict[str, Any]) -> tuple[float, ...]:
    """Return means over the interests: average degree, maximum degree, processor seconds."""
    found = []
    for interest in interests:
        start = process_time()
        degrees = topicloom.build(interest, algorithm, **parameters).overlay.degrees()
        found.append((float(degrees.mean()), float(degrees.max()), process_time() - start))
    return tuple(mean(column) for column in zip(*found, strict=True))


def least(interests: list[Interest]) -> tuple[float, ...]:
    """Return the same figures for the proved lower bounds."""
    found = []
    for interest in interests:
        start = process_time()
        bounds = bound_overlays(interest)
        average = 2 * bounds.edges_bound / interest.n_nodes
        found.append((average, float(bounds.degree_max_bound), process_time() - start))
    return tuple(mean(column) for column in zip(*found, strict=True))


def main(nodes: str = "30", seeds: str = "1") -> None:
    """Print one table of degrees and one of processor seconds."""
    tiny = Interest.from_pairs([("a", "x"), ("b", "x")])
    for _, algorithm, parameters in WAYS:  # load the kernels before the first clock is read
        topicloom.build(tiny, algorithm, **parameters)
    bound_overlays(tiny)
    columns = [*(way for way, _, _ in WAYS), "lower bound"]
    heading = f"| | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}"
    degrees, seconds = [heading], [heading]
    for title, topics, sizes, law in WORKLOADS:
        workloads = (
            workload_from_options(int(nodes), topics, sizes, law, seed + 1) for seed in range(int(seeds))
        )
        interests = [generate_interest(workload) for workload in workloads]
        rows = [figures(interests, algorithm, parameters) for _, algorithm, parameters in WAYS]
        rows.append(least(interests))
        degrees.append(f"| {title} | {' | '.join(f'{row[0]:.2f} / {row[1]:.1f}' for row in rows)} |")
        seconds.append(f"| {title} | {' | '.join(f'{row[2]:.2f}' for row in rows)} |")
    print("\n".join(degrees), "\n".join(seconds), sep="\n\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
