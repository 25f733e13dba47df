"""What short paths cost: degrees and hops inside topics, for several bounds on hops.

`python examples/hops_figures.py` takes 60 nodes and one seed;
`python examples/hops_figures.py 2000 5` prints the table of docs/builders.md (a few minutes).
"""

import sys
from statistics import mean
from time import process_time
from typing import Any

import topicloom
from topicloom import Interest
from topicloom.overlay import generate_interest, workload_from_options

WAYS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("gm", "gm", {}),
    ("short-gm", "short-gm", {}),
    ("balanced, max-hops none", "balanced", {"max_hops": "none"}),
    ("balanced, auto", "balanced", {}),
    ("balanced, max-degree 7, auto", "balanced", {"max_degree": 7}),
    ("balanced, max-degree 7, 16", "balanced", {"max_degree": 7, "max_hops": 16}),
    ("balanced, max-degree 8, 12", "balanced", {"max_degree": 8, "max_hops": 12}),
    ("2d-oda", "2d-oda", {}),
)


def figures(interests: list[Interest], algorithm: str, parameters: dict[str, Any]) -> tuple[float, ...]:
    """Return means over the interests: average degree, maximum degree, hops, mean hops, processor seconds."""
    found = []
    for interest in interests:
        start = process_time()
        overlay = topicloom.build(interest, algorithm, **parameters).overlay
        seconds, degrees = process_time() - start, overlay.degrees()
        hops = topicloom.measure(interest, overlay)
        most = float(hops["diameter_topic_max"])
        found.append((float(degrees.mean()), float(degrees.max()), most, float(hops["hops_mean"]), seconds))
    return tuple(mean(column) for column in zip(*found, strict=True))


def main(nodes: str = "60", seeds: str = "1") -> None:
    """Print one row for each way to build."""
    tiny = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("c", "z"), ("a", "z")])
    for _, algorithm, parameters in WAYS:  # load the kernels before the first clock is read
        topicloom.build(tiny, algorithm, **parameters)
    interests = [
        generate_interest(workload_from_options(int(nodes), 100, "10", "zipf:0.5", seed))
        for seed in range(1, int(seeds) + 1)
    ]
    print("| | average degree | maximum | most hops | mean hops | seconds |\n|---|---|---|---|---|---|")
    for name, algorithm, parameters in WAYS:
        average, maximum, most, typical, seconds = figures(interests, algorithm, parameters)
        print(f"| {name} | {average:.2f} | {maximum:.1f} | {most:.1f} | {typical:.1f} | {seconds:.1f} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
