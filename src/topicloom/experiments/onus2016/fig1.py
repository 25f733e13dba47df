"""[Onus2016, Figures 1 and 2]: maximum and average degree of GM, MinMax-ODA and Low-ODA with k = 3."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.expect import at_least, at_most
from topicloom.experiments.lines import build, reached, workload
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale, mean

GM, MINMAX, LOW = "GM", "MinMax-ODA", "Low-ODA, k=3"


def runs(scale: Scale) -> Iterator[Run]:
    for x in scale.xs:
        on = workload(x, 100, 10, "zipf:0.5")
        yield build(GM, x, on, "gm")
        yield build(MINMAX, x, on, "minmax-oda")
        yield build(LOW, x, on, "low-oda", k=3)
    for x in scale.ours:
        yield from reached(x, workload(x, 100, 10, "zipf:0.5"))


EXPERIMENT = Experiment(
    item="Figures 1 and 2",
    title="Maximum and average degree of GM, MinMax-ODA and Low-ODA",
    x="number of nodes",
    runs=runs,
    quick=Scale((100, 250, 500, 750, 1000), 5, (100, 500)),
    full=Scale(tuple(range(100, 1001, 100)), 30, (100, 500, 1000)),
    why="Averages over all numbers of nodes.",
    claims=(
        Claim(
            text="Low-ODA has a lower maximum degree than GM",
            expected=at_most(0.0, "Low-ODA - GM below 0"),
            measure=lambda sample: mean(sample.gaps(LOW, GM, "degree_max")),
            differs="our gm breaks ties by the lowest degrees, which lowers its maximum",
        ),
        Claim(
            text="and a higher one than MinMax-ODA",
            expected=at_least(0.0, "Low-ODA - MinMax-ODA above 0"),
            measure=lambda sample: mean(sample.gaps(LOW, MINMAX, "degree_max")),
            differs="both have the same maximum within the spread of the seeds",
        ),
        Claim(
            text="Low-ODA has a lower average degree than MinMax-ODA",
            expected=at_most(0.0, "Low-ODA - MinMax-ODA below 0"),
            measure=lambda sample: mean(sample.gaps(LOW, MINMAX)),
        ),
        Claim(
            text="and a higher one than GM",
            expected=at_least(0.0, "Low-ODA - GM above 0"),
            measure=lambda sample: mean(sample.gaps(LOW, GM)),
        ),
    ),
    figures=(Figure(y="maximum degree", key="degree_max"), Figure(y="average degree")),
)
