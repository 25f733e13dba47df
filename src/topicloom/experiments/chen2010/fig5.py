"""[Chen2010, Figure 5]: the coverage factor lambda."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from topicloom.experiments.chen2010.divided import FIGURES, GMM, PRINTED, SIZES
from topicloom.experiments.expect import Near, at_least, at_most
from topicloom.experiments.lines import build, workload
from topicloom.experiments.model import Claim, Experiment, Run, Sample, Scale, mean

LAMBDAS = (1, 2, 3, 4)
NODES = 2000


def line(lambda_: int) -> str:
    return f"DCBR-M, lambda={lambda_}"


def runs(scale: Scale) -> Iterator[Run]:
    for x in scale.xs:
        on = workload(NODES, x, SIZES, "uniform")
        for lambda_ in LAMBDAS:
            yield build(line(lambda_), x, on, "dcbr-m", p="paper", **(PRINTED | {"lambda_": lambda_}))
        yield build(GMM, x, on, "gm-m")
    for x in scale.ours:
        yield build("balanced", x, workload(NODES, x, SIZES, "uniform"), "balanced", ours=True)


def step(lambda_: int) -> Callable[[Sample], float]:
    return lambda sample: mean(sample.gaps(line(lambda_), line(lambda_ + 1), "degree_max"))


EXPERIMENT = Experiment(
    item="Figure 5",
    title="DCBR-M with different lambda, 2,000 nodes",
    x="number of topics",
    runs=runs,
    quick=Scale((500, 1000), 1),
    full=Scale((500, 600, 700, 800, 900, 1000), 5, (500,)),
    claims=(
        Claim(
            text="maximum degree with lambda 1 minus that with 2: noticeable, 3 or more for most cases",
            expected=at_least(3.0),
            measure=step(1),
        ),
        Claim(
            text="maximum degree with lambda 2 minus that with 3, on average",
            expected=Near(0.71, abs=0.75),
            measure=step(2),
        ),
        Claim(
            text="maximum degree with lambda 3 minus that with 4: insignificant on average",
            expected=at_most(0.32),
            measure=step(3),
        ),
    ),
    figures=FIGURES,
)
