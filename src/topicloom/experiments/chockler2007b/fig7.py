"""[Chockler2007b, Figure 7]: four laws of popularity, their average degrees, diameters and likeness."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from topicloom.experiments.chockler2007b.rss import QUICK, SIZES, central
from topicloom.experiments.expect import Near, at_least, at_most
from topicloom.experiments.lines import simulation, value, workload
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Sample, Scale, rises, worst

LAWS = {"uniform": "uniform", "RSS": "zipf:0.5", "zipf 1": "zipf:1", "NYSE": "exponential:0.55"}
DIAMETERS = {"uniform": 6, "RSS": 6, "zipf 1": 7, "NYSE": 8}
LIKE = "tdi(20), "


def runs(scale: Scale) -> Iterator[Run]:
    for x, (law, popularity) in product(scale.xs, LAWS.items()):
        on = workload(x, 100, 10, popularity)
        yield simulation(law, x, on)
        yield Run(f"{LIKE}{law}", x, "alike", on)
    for x in scale.ours:
        yield from central(x)


def against(sample: Sample) -> float:
    """Count the pairs of laws at some place whose order by tdi(20) is not the reverse of that by degree."""
    return float(
        sum(
            (sample(one, x) < sample(other, x))
            != (sample(f"{LIKE}{one}", x, "intersection") > sample(f"{LIKE}{other}", x, "intersection"))
            for x in sample.xs("RSS")
            for one, other in product(LAWS, LAWS)
            if one < other
        )
    )


EXPERIMENT = Experiment(
    item="Figure 7",
    title="(3,0)-coverage for different popularity laws",
    x="number of nodes",
    runs=runs,
    quick=Scale(QUICK, 1, (1000,)),
    full=Scale(SIZES, 5, (1000, 4000)),
    why="The diameters are those of the whole overlay: inside a topic paths are longer.",
    claims=(
        Claim(
            text="all topics are connected in all experiments (split topics)",
            expected=at_most(0),
            measure=lambda sample: worst(
                split for law in LAWS for split in sample.line(law, "topics_partitioned")
            ),
        ),
        Claim(
            text="the average degree is less than 12 everywhere",
            expected=at_most(12),
            measure=lambda sample: worst(degree for law in LAWS for degree in sample.line(law)),
        ),
        Claim(
            text="NYSE has the lowest and uniform the highest average degree",
            expected=at_most(0, "no law beyond them"),
            measure=lambda sample: float(
                sum(
                    not sample("NYSE", x) <= sample(law, x) <= sample("uniform", x)
                    for x in sample.xs("RSS")
                    for law in LAWS
                )
            ),
        ),
        Claim(
            text="the average degree decreases with the number of nodes",
            expected=at_most(1.0, "last / first below 1 for every law"),
            measure=lambda sample: worst(rises(sample.line(law)) for law in LAWS),
        ),
        Claim(
            text="a law with higher tdi(20) has a lower average degree (pairs against it)",
            expected=at_most(0, "no pair against it"),
            measure=against,
        ),
        Claim(
            text="tdi(20) is higher for NYSE than for uniform (ratio)",
            expected=at_least(1.0, "above 1"),
            measure=lambda sample: min(sample.ratios(f"{LIKE}NYSE", f"{LIKE}uniform", "intersection")),
        ),
        *(
            Claim(
                text=f"maximum topic diameter of 10,000 nodes, {law}",
                expected=Near(printed),
                measure=value(law, 10_000, "diameter_overlay"),
            )
            for law, printed in DIAMETERS.items()
        ),
    ),
    figures=(Figure(y="average degree"), Figure(y="top-20 intersection, %", key="intersection")),
)
