"""[Chen2010, Figure 6]: DCBR-M beside GM-M under three laws."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from topicloom.experiments.chen2010.divided import DCBR, FIGURES, GMM, LAWS, TIMES, divided
from topicloom.experiments.expect import at_most
from topicloom.experiments.lines import build, preset
from topicloom.experiments.model import Claim, Experiment, Run, Sample, Scale, mean


def runs(scale: Scale) -> Iterator[Run]:
    for x, (law, name) in product(scale.xs, LAWS.items()):
        yield from divided(x, preset(x, name), f", {law}", dcb=False)
    for x, (law, name) in product(scale.ours, LAWS.items()):
        yield build(f"balanced, {law}", x, preset(x, name), "balanced", ours=True)


def gap(sample: Sample, key: str) -> float:
    return mean(gap for law in LAWS for gap in sample.gaps(f"{DCBR}, {law}", f"{GMM}, {law}", key))


EXPERIMENT = Experiment(
    item="Figure 6",
    title="DCBR-M under different distributions",
    x="number of nodes",
    runs=runs,
    quick=Scale((1000, 2000, 4000), 2, (1000,)),
    full=Scale((1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000), 10, (1000, 4000)),
    claims=(
        Claim(
            text="maximum degree of DCBR-M minus that of GM-M, on average",
            expected=at_most(2.0),
            measure=lambda sample: gap(sample, "degree_max"),
        ),
        Claim(
            text="average degree of DCBR-M minus that of GM-M, on average",
            expected=at_most(0.70),
            measure=lambda sample: gap(sample, "degree_avg"),
        ),
        Claim(
            text="time of DCBR-M / GM-M, on average",
            expected=at_most(0.04),
            measure=lambda sample: mean(
                ratio for law in LAWS for ratio in sample.ratios(f"{DCBR}, {law}", f"{GMM}, {law}", "seconds")
            ),
            differs=TIMES,
        ),
    ),
    figures=FIGURES,
)
