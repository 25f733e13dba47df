"""[Chen2010, Figure 2, Lemma 8]: dealing all nodes out at random raises the maximum degree."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.chen2010.divided import DCBR, GMM, PRINTED
from topicloom.experiments.expect import at_least
from topicloom.experiments.lines import build, preset
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale, mean

NAIVE = "random groups of all nodes, so far"
GROUPS = 10


def runs(scale: Scale) -> Iterator[Run]:
    for x in scale.xs:
        on = preset(x, "chen-uniform")
        yield Run(NAIVE, x, "groups", {**on, "groups": GROUPS})
        yield build(GMM, x, on, "gm-m")
        yield build(DCBR, x, on, "dcbr-m", p="paper", **PRINTED)
    for x in scale.ours:
        yield build("balanced", x, preset(x, "chen-uniform"), "balanced", ours=True)


EXPERIMENT = Experiment(
    item="Figure 2",
    title="Naive divide and conquer: the degree before anything is combined",
    x="number of nodes",
    runs=runs,
    quick=Scale((1000, 2000, 4000), 2, (1000,)),
    full=Scale((1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000), 10, (1000, 4000)),
    why=f"{GROUPS} groups; the paper does not say how many.",
    claims=(
        Claim(
            text="random groups alone have a significantly higher maximum degree than all of GM-M",
            expected=at_least(1.1, "ratio clearly above 1"),
            measure=lambda sample: mean(sample.ratios(NAIVE, GMM, "degree_max")),
        ),
    ),
    figures=(Figure(y="maximum degree", key="degree_max"),),
)
