"""[Chockler2007b, Figures 12 and 13]: similar and random links beside coverage: degrees and components."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.chockler2007b.rss import PRINTED, QUICK, SIZES, SPIDER, central, rss, spider
from topicloom.experiments.expect import Near, at_least, at_most
from topicloom.experiments.lines import simulation, value
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale, rises, worst

OTHERS = {
    "similarity(10,0)": ("similarity", (10, 0), (10.08, 10.07, 10.08, 10.09, 10.08, 10.08)),
    "similarity(9,1)": ("similarity", (9, 1), (10.22, 10.22, 10.20, 10.22, 10.21, 10.22)),
    "similarity(8,2)": ("similarity", (8, 2), (10.20, 10.19, 10.19, 10.20, 10.20, 10.20)),
    "similarity(7,3)": ("similarity", (7, 3), (10.21, 10.21, 10.20, 10.22, 10.21, 10.21)),
    "random(10)": ("random", (0, 10), (10.82, 10.54, 10.34, 10.12, 10.08, 10.11)),
    "similarity(20,0)": ("similarity", (20, 0), (20.04, 20.04, 20.04, 20.04, 20.03, 20.04)),
}
TABLE: dict[str, dict[float, float]] = {SPIDER: PRINTED} | {
    name: dict(zip(SIZES, printed, strict=True)) for name, (_, _, printed) in OTHERS.items()
}


def runs(scale: Scale) -> Iterator[Run]:
    for x in scale.xs:
        yield spider(x)
        for name, (protocol, (similar, random), _) in OTHERS.items():
            words = [f"random={random}"] + ([f"similar={similar}"] if similar else [])
            yield simulation(name, x, rss(x), *words, "diameters=never", protocol=protocol)
    for x in scale.ours:
        yield from central(x)


EXPERIMENT = Experiment(
    item="Figures 12 and 13",
    title="SpiderCast beside overlays of similar and random links",
    x="number of nodes",
    runs=runs,
    quick=Scale(QUICK, 1, (1000,)),
    full=Scale(SIZES, 5, (1000, 4000)),
    why="Average degrees may differ by 2%.",
    claims=(
        *(
            Claim(
                text=f"Figure 12: average degree of {name}, {x:,} nodes",
                expected=Near(degree, rel=0.02),
                measure=value(name, x),
            )
            for name, printed in TABLE.items()
            for x, degree in printed.items()
        ),
        Claim(
            text="Figure 13: SpiderCast has 100 components, one per topic, everywhere",
            expected=Near(100),
            measure=lambda sample: worst(sample.line(SPIDER, "topic_components")),
        ),
        Claim(
            text="Figure 13: every other overlay has more than 100 components",
            expected=at_least(101),
            measure=lambda sample: min(
                count for name in OTHERS for count in sample.line(name, "topic_components")
            ),
        ),
        Claim(
            text="Figure 13: without coverage the components increase with the number of nodes",
            expected=at_least(1.0, "last / first above 1"),
            measure=lambda sample: min(rises(sample.line(name, "topic_components")) for name in OTHERS),
        ),
        Claim(
            text="Figure 13: random links in place of similar ones increase the components",
            expected=at_most(1.0, "similarity(10,0) / similarity(7,3) below 1"),
            measure=lambda sample: worst(
                sample.ratios("similarity(10,0)", "similarity(7,3)", "topic_components")
            ),
        ),
    ),
    figures=(
        Figure(y="average degree", printed=TABLE),
        Figure(y="components of all topics", key="topic_components", log=True),
    ),
)
