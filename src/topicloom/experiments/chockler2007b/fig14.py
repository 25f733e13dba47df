"""[Chockler2007b, Figure 14]: SpiderCast beside a ring per topic."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.chockler2007b.rss import QUICK, SIZES, SPIDER, central, rss, spider
from topicloom.experiments.expect import Near
from topicloom.experiments.lines import build, ratio
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale, rises

RING = "RingPT"


def runs(scale: Scale) -> Iterator[Run]:
    for x in scale.xs:
        yield spider(x)
        yield build(RING, x, rss(x), "ring-pt")
    for x in scale.ours:
        yield from central(x)


EXPERIMENT = Experiment(
    item="Figure 14",
    title="SpiderCast beside a ring per topic",
    x="number of nodes",
    runs=runs,
    quick=Scale(QUICK, 1, (1000,)),
    full=Scale(SIZES, 5, (1000, 4000)),
    claims=(
        Claim(
            text="a ring per topic has a 51% higher average degree than SpiderCast with 1,000 nodes (ratio)",
            expected=Near(1.51, rel=0.05),
            measure=ratio(RING, SPIDER, 1000, "degree_avg"),
        ),
        Claim(
            text="and an 82% higher one with 10,000 nodes (ratio)",
            expected=Near(1.82, rel=0.05),
            measure=ratio(RING, SPIDER, 10_000, "degree_avg"),
        ),
        Claim(
            text="a ring per topic has the same average degree for any number of nodes (last / first)",
            expected=Near(1.0, rel=0.02),
            measure=lambda sample: rises(sample.line(RING)),
        ),
    ),
    figures=(Figure(y="average degree"),),
)
