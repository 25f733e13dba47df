"""[Chen2010, Figure 4]: the number of groups p, from 1 to a node each."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.chen2010.divided import DCB, DCBR, FIGURES, GMM, PRINTED
from topicloom.experiments.expect import Between, Near, at_most
from topicloom.experiments.lines import build, preset
from topicloom.experiments.model import Claim, Experiment, Run, Scale, mean, worst

ON = preset(1000, "chen-uniform")
PAPER = "DCBR-M, p of section V"


def runs(scale: Scale) -> Iterator[Run]:
    for p in scale.xs:
        yield build(DCBR, p, ON, "dcbr-m", p=int(p), **PRINTED)
        yield build(DCB, p, ON, "dcb-m", p=int(p))
        yield build(GMM, p, ON, "gm-m")
    yield build(PAPER, scale.xs[0], ON, "dcbr-m", p="paper", **PRINTED)
    for p in scale.ours:
        yield build("balanced", p, ON, "balanced", ours=True)


EXPERIMENT = Experiment(
    item="Figure 4",
    title="DCBR-M and DCB-M with different p, 1,000 nodes",
    x="p",
    runs=runs,
    quick=Scale((1, 7, 20, 100, 800), 2, (1,)),
    full=Scale((1, 2, 5, 7, 10, 20, 50, 100, 200, 400, 800), 20, (1, 800)),
    claims=(
        Claim(
            text="the maximum degree of DCBR-M is always less than 6.5 above GM-M's",
            expected=at_most(6.5),
            measure=lambda sample: worst(sample.gaps(DCBR, GMM, "degree_max")),
        ),
        Claim(
            text="it is less than 2.8 above for the p with the least running time",
            expected=at_most(2.8),
            measure=lambda sample: sample(PAPER, 1, "degree_max") - sample(GMM, 1, "degree_max"),
        ),
        Claim(
            text="the running time is lowest for p around 10",
            expected=Between(5, 20, "around 10"),
            measure=lambda sample: sample(PAPER, 1, "groups"),
        ),
        Claim(
            text="DCBR-M and DCB-M have similar average degrees (ratio)",
            expected=Near(1.0, rel=0.03),
            measure=lambda sample: mean(sample.ratios(DCBR, DCB)),
        ),
        Claim(
            text="with a node per group DCBR-M is GM-M (ratio of average degrees)",
            expected=Near(1.0, rel=0.02),
            measure=lambda sample: sample(DCBR, 800) / sample(GMM, 800),
        ),
    ),
    figures=FIGURES,
    why="The light nodes are about 800.",
)
