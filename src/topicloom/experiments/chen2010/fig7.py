"""[Chen2010, Figures 7 and 10]: DCBR-M, DCB-M, GM-M and a ring per topic over the number of nodes, T=100."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.chen2010.divided import DCB, DCBR, FIGURES, GMM, RING, SIZES, TIMES, divided
from topicloom.experiments.expect import Near
from topicloom.experiments.lines import build, workload
from topicloom.experiments.model import Claim, Experiment, Run, Scale, mean


def runs(scale: Scale) -> Iterator[Run]:
    for x in scale.xs:
        on = workload(x, 100, SIZES, "uniform")
        yield from divided(x, on)
        yield build(RING, x, on, "ring-pt", order="random")
    for x in scale.ours:
        yield build("balanced", x, workload(x, 100, SIZES, "uniform"), "balanced", ours=True)


EXPERIMENT = Experiment(
    item="Figures 7 and 10",
    title="DCBR-M, DCB-M, GM-M and a ring per topic, 100 topics",
    x="number of nodes",
    runs=runs,
    quick=Scale((1000, 2000, 4000), 2, (1000,)),
    full=Scale((1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000), 10, (1000, 4000)),
    why="Rings in random order, which the factor of 30 needs.",
    claims=(
        Claim(
            text="Figure 7: DCBR-M and DCB-M have similar average degrees (ratio)",
            expected=Near(1.0, rel=0.03),
            measure=lambda sample: mean(sample.ratios(DCBR, DCB)),
        ),
        Claim(
            text="Figure 7: time of DCBR-M / GM-M on average",
            expected=Near(0.0479, rel=0.25),
            measure=lambda sample: mean(sample.ratios(DCBR, GMM, "seconds")),
            differs=TIMES,
        ),
        Claim(
            text="Figure 7: time of DCB-M / GM-M on average",
            expected=Near(0.757, rel=0.25),
            measure=lambda sample: mean(sample.ratios(DCB, GMM, "seconds")),
            differs=TIMES,
        ),
        Claim(
            text="Figure 10: maximum degree of DCBR-M minus that of GM-M, on average",
            expected=Near(1.22, abs=1.0),
            measure=lambda sample: mean(sample.gaps(DCBR, GMM, "degree_max")),
        ),
        Claim(
            text="Figure 10: maximum degree of a ring per topic / DCBR-M, approximately",
            expected=Near(30.0, rel=0.25),
            measure=lambda sample: mean(sample.ratios(RING, DCBR, "degree_max")),
        ),
    ),
    figures=FIGURES,
)
