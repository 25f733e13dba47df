"""[Chen2010, Figure 9]: DCBR-M and DCB-M over the average subscription size."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.chen2010.divided import DCBR, FIGURES, GMM, divided
from topicloom.experiments.expect import at_most
from topicloom.experiments.lines import build, workload
from topicloom.experiments.model import Claim, Experiment, Run, Scale, rises


def sizes(average: float) -> str:
    """Return the range of sizes: as wide as the default's 10:90, around another average."""
    return f"{int(average) - 40}:{int(average) + 40}"


def runs(scale: Scale) -> Iterator[Run]:
    for x in scale.xs:
        yield from divided(x, workload(1000, 400, sizes(x), "uniform"))
    for x in scale.ours:
        yield build("balanced", x, workload(1000, 400, sizes(x), "uniform"), "balanced", ours=True)


EXPERIMENT = Experiment(
    item="Figure 9",
    title="DCBR-M as the subscription size increases, 1,000 nodes, 400 topics",
    x="average subscriptions per node",
    runs=runs,
    quick=Scale((50, 100, 150), 2, (50,)),
    full=Scale((50, 75, 100, 125, 150), 10, (50, 150)),
    claims=(
        Claim(
            text="the maximum degrees of DCBR-M and GM-M decrease with the subscription size",
            expected=at_most(1.0, "last / first below 1"),
            measure=lambda sample: max(rises(sample.line(name, "degree_max")) for name in (DCBR, GMM)),
        ),
        Claim(
            text="the difference of their maximum degrees shrinks",
            expected=at_most(0.0, "last - first below 0"),
            measure=lambda sample: (
                sample.gaps(DCBR, GMM, "degree_max")[-1] - sample.gaps(DCBR, GMM, "degree_max")[0]
            ),
        ),
        Claim(
            text="the average degree of DCBR-M follows the same trend",
            expected=at_most(1.0, "last / first below 1"),
            measure=lambda sample: rises(sample.line(DCBR)),
        ),
    ),
    figures=FIGURES,
)
