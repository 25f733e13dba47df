"""[Chockler2007b, Figure 9]: subscription sizes that differ from node to node."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.chockler2007b.rss import rss
from topicloom.experiments.expect import Near
from topicloom.experiments.lines import ratio, reached, simulation
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale

SHAPES = {"20": "20", "[10:30]": "10:30", "40": "40", "[10:70]": "10:70"}


def runs(scale: Scale) -> Iterator[Run]:
    for x in scale.xs:
        for label, size in SHAPES.items():
            yield simulation(label, x, rss(x, 100, size))
    for x in scale.ours:
        yield from reached(x, rss(x, 100, "10:30"), ", [10:30]", bound=False)


EXPERIMENT = Experiment(
    item="Figure 9",
    title="Subscription sizes that differ",
    x="number of nodes",
    runs=runs,
    quick=Scale((1000,), 1, (1000,)),
    full=Scale((1000, 4000, 10_000), 5, (1000,)),
    why='"Negligible" is read as 10%.',
    claims=tuple(
        Claim(
            text=f"sizes {mixed} and {fixed} have the same average degree (ratio)",
            expected=Near(1.0, rel=0.1),
            measure=ratio(mixed, fixed, 1000, "degree_avg"),
        )
        for mixed, fixed in (("[10:30]", "20"), ("[10:70]", "40"))
    ),
    figures=(Figure(y="average degree"),),
)
