"""Plot average against maximum degree of every builder on one interest.

`python examples/builders_picture.py` prints the figures for 100 nodes;
`python examples/builders_picture.py 1000 docs/builders.svg` draws the picture of docs/builders.md.
"""

import sys

import topicloom
from topicloom.overlay import (
    BUILDERS,
    Dot,
    degree_scatter,
    generate_interest,
    save_chart,
    workload_from_options,
)

TOO_MANY_PAIRS = "exact"  # refuses interests of this size
OURS, PUBLISHED, BASELINE = "this project", "published", "baseline"
HUBS = 0.1  # a maximum degree of this share of the nodes is another league
KINDS = {"balanced": OURS, "short-gm": OURS} | dict.fromkeys(("ring-pt", "star", "full-mesh"), BASELINE)


def main(size: str = "100", picture: str = "") -> None:
    """Build with every builder; print a line for each, and draw them if a file is named."""
    nodes = int(size)
    interest = generate_interest(workload_from_options(nodes, 200, "10:90", "zipf:2", seed=1))
    dots = {}
    for name in BUILDERS:
        if name == TOO_MANY_PAIRS:
            continue
        degrees = topicloom.build(interest, name, seed=1).overlay.degrees()
        dots[name] = Dot(degrees.mean(), degrees.max(), KINDS.get(name, PUBLISHED))
        print(f"{name:10} average {degrees.mean():7.2f}, maximum {degrees.max():4}")
    if picture:
        note = (
            f"{nodes:,} nodes, 200 topics, 10 to 90 of them per node, zipf:2. The further to the lower left, "
            "the better. Right: the lower left part of the picture on the left."
        )
        low = [name for name, dot in dots.items() if dot.maximum < HUBS * nodes]
        save_chart(degree_scatter(dots, "Every builder on the same interest", note, near=low), picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
