"""[Chockler2007b, Figure 6]: a heavily skewed law needs random coverage."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.chockler2007b.rss import QUICK, SIZES
from topicloom.experiments.expect import Near, at_most
from topicloom.experiments.lines import simulation, value, workload
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale, mean, worst

TIES = "the printed split topics appear only if ties are not broken at random"
NONE, ONE = "(3,0)-coverage", "(3,1)-coverage"


def runs(scale: Scale) -> Iterator[Run]:
    for x in scale.xs:
        on = workload(x, 100, 10, "zipf:2")
        yield simulation(NONE, x, on)
        yield simulation(ONE, x, on, "kr=1")
    for x in scale.ours:
        yield simulation("(3,0) with roots", x, workload(x, 100, 10, "zipf:2"), "root=on")


EXPERIMENT = Experiment(
    item="Figure 6",
    title="Zipf 2: split topics and average degree",
    x="number of nodes",
    runs=runs,
    quick=Scale(QUICK, 1, (1000,)),
    full=Scale(SIZES, 5, (1000, 10_000)),
    claims=(
        *(
            Claim(
                text=f"split topics of {x:,} nodes with (3,0)-coverage",
                expected=Near(printed),
                measure=value(NONE, x, "topics_partitioned"),
                differs=TIES,
            )
            for x, printed in zip(SIZES, (0, 0, 0, 15, 14, 14), strict=True)
        ),
        Claim(
            text="with (3,1)-coverage no topic is split",
            expected=at_most(0),
            measure=lambda sample: worst(sample.line(ONE, "topics_partitioned")),
        ),
        Claim(
            text="average degree with (3,0)-coverage, about",
            expected=Near(7, rel=0.25),
            measure=lambda sample: mean(sample.line(NONE)),
        ),
        Claim(
            text="average degree with (3,1)-coverage, about",
            expected=Near(13, rel=0.25),
            measure=lambda sample: mean(sample.line(ONE)),
        ),
    ),
    figures=(
        Figure(y="average degree"),
        Figure(
            y="split topics",
            key="topics_partitioned",
            printed={NONE: dict(zip(SIZES, (0, 0, 0, 15, 14, 14), strict=True))},
        ),
    ),
)
