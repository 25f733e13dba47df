"""[Chockler2007a, Figure 4(b)]: what twice the subscriptions cost GM and a ring per topic."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from topicloom.experiments.expect import Near, at_most
from topicloom.experiments.lines import build, reached, workload
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale, mean, worst

NODES = 1000  # the paper does not say
SIZES = (10, 20)


def runs(scale: Scale) -> Iterator[Run]:
    for x, size in product(scale.xs, SIZES):
        on = workload(NODES, x, size, "zipf:0.5")
        yield build(f"GM, s={size}", x, on, "gm")
        yield build(f"RingPT, s={size}", x, on, "ring-pt", order="random")
    for x in scale.ours:
        yield from reached(x, workload(NODES, x, 20, "zipf:0.5"), ", s=20")


EXPERIMENT = Experiment(
    item="Figure 4(b)",
    title="GM beside a ring per topic, 10 and 20 subscriptions",
    x="number of topics",
    runs=runs,
    quick=Scale((100, 150, 200), 3, (100,)),
    full=Scale((100, 120, 140, 160, 180, 200), 10, (100, 200)),
    why="1,000 nodes, since the paper does not say how many. Rings in random order share no edges, which the "
    "claims about rings need.",
    claims=(
        Claim(
            text="with GM twice the subscriptions raise the average degree by 25% at the worst",
            expected=at_most(1.25),
            measure=lambda sample: worst(sample.ratios("GM, s=20", "GM, s=10")),
        ),
        Claim(
            text="with a ring per topic twice the subscriptions roughly double it",
            expected=Near(2.0, rel=0.1),
            measure=lambda sample: mean(sample.ratios("RingPT, s=20", "RingPT, s=10")),
        ),
        Claim(
            text="without correlation the average degree is roughly twice the subscription size (s=10)",
            expected=Near(20.0, rel=0.1),
            measure=lambda sample: mean(sample.line("RingPT, s=10")),
        ),
    ),
    figures=(Figure(y="average node degree"),),
)
