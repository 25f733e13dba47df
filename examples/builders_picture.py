"""Plot average against maximum degree, and against hops, of every builder on one interest.

`python examples/builders_picture.py` prints the figures for 100 nodes;
`python examples/builders_picture.py 1000 docs/builders.svg` draws the picture of docs/builders.md;
`python examples/builders_picture.py 300 "" docs/hops.svg` draws that of hops, with SpiderCast, and with what
`balanced` gives for several bounds on hops.
"""

import sys

import topicloom
from topicloom.overlay import (
    BUILDERS,
    Dot,
    Interest,
    Overlay,
    degree_scatter,
    generate_interest,
    hops_scatter,
    save_chart,
    workload_from_options,
)
from topicloom.spidercast import Scenario, simulate

TOO_MANY_PAIRS = "exact"  # refuses interests of this size
OURS, PUBLISHED, BASELINE = "this project", "published", "baseline"
HUBS = 0.1  # a maximum degree of this share of the nodes is another league
KINDS = {"balanced": OURS, "short-gm": OURS} | dict.fromkeys(("ring-pt", "star", "full-mesh"), BASELINE)
BOUNDED, FOUND = "balanced within hops", "found by the nodes themselves"
BOUNDS = (4, 5, 6, 8, 10, 12)
DENSE = 3.0  # so many times the fewest edges are another league, too


def main(size: str = "100", picture: str = "", hops_picture: str = "") -> None:
    """Build with every builder; print a line for each, and draw them if files are named."""
    nodes = int(size)
    interest = generate_interest(workload_from_options(nodes, 200, "10:90", "zipf:2", seed=1))
    dots, overlays = {}, {}
    for name in BUILDERS:
        if name == TOO_MANY_PAIRS:
            continue
        overlays[name] = topicloom.build(interest, name, seed=1).overlay
        degrees = overlays[name].degrees()
        dots[name] = Dot(degrees.mean(), degrees.max(), KINDS.get(name, PUBLISHED))
        print(f"{name:10} average {degrees.mean():7.2f}, maximum {degrees.max():4}")
    if picture:
        note = (
            f"{nodes:,} nodes, 200 topics, 10 to 90 of them per node, zipf:2. The further to the lower left, "
            "the better. Right: the lower left part of the picture on the left."
        )
        low = [name for name, dot in dots.items() if dot.maximum < HUBS * nodes]
        save_chart(degree_scatter(dots, "Every builder on the same interest", note, near=low), picture)
    if hops_picture:
        draw_hops(interest, overlays, hops_picture)


def draw_hops(interest: Interest, overlays: dict[str, Overlay], picture: str) -> None:
    """Draw hops: the overlays there are, those of `balanced` within bounds, and the one SpiderCast finds."""
    kinds = {name: KINDS.get(name, PUBLISHED) for name in overlays}
    for bound in BOUNDS:
        build = topicloom.build(interest, "balanced", seed=1, max_hops=bound)
        if build.report["hops_kept"]:
            overlays[f"{bound} hops"], kinds[f"{bound} hops"] = build.overlay, BOUNDED
    overlays["SpiderCast"] = simulate(interest, Scenario.of("spidercast", [], seed=1)).moment.overlay
    kinds["SpiderCast"] = FOUND
    dots = {}
    for name, overlay in overlays.items():
        hops = topicloom.measure(interest, overlay)["diameter_topic_max"]
        if hops is None:
            print(f"{name:10} has a split topic")
            continue
        dots[name] = Dot(overlay.degrees().mean(), hops, kinds[name])
        print(f"{name:10} average {dots[name].average:7.2f}, hops {hops:4}")
    low = [name for name, dot in dots.items() if dot.average < DENSE * dots["gm"].average]
    note = (
        f"{interest.n_nodes:,} nodes, {interest.n_topics} topics, 10 to 90 of them per node, zipf:2. Further "
        "left: fewer connections. Further down: shorter paths. Right: the left part, magnified."
    )
    chart = hops_scatter(dots, "Degree and hops", note, near=low, joined=BOUNDED)
    save_chart(chart, picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
