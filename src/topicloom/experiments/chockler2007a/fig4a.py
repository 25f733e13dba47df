"""[Chockler2007a, Figure 4(a)]: GM beside a ring per topic, over the number of nodes."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.expect import Near, at_most
from topicloom.experiments.lines import build, reached, workload
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale, mean, rises


def runs(scale: Scale) -> Iterator[Run]:
    for x in scale.xs:
        on = workload(x, 100, 10, "zipf:0.5")
        yield build("GM", x, on, "gm")
        yield build("RingPT", x, on, "ring-pt")
    for x in scale.ours:
        yield from reached(x, workload(x, 100, 10, "zipf:0.5"))


EXPERIMENT = Experiment(
    item="Figure 4(a)",
    title="GM beside a ring per topic, 10 subscriptions",
    x="number of nodes",
    runs=runs,
    quick=Scale((1000, 2000, 4000, 7000, 10_000), 2, (1000, 2000)),
    full=Scale(tuple(range(1000, 10_001, 1000)), 10, (1000, 2000, 4000, 10_000)),
    claims=(
        Claim(
            text="a ring per topic has roughly 3 times the average degree of GM",
            expected=Near(3.0, rel=0.25),
            measure=lambda sample: mean(sample.ratios("RingPT", "GM")),
        ),
        Claim(
            text="GM's average degree decreases with the number of nodes",
            expected=at_most(1.0, "last / first below 1"),
            measure=lambda sample: rises(sample.line("GM")),
        ),
    ),
    figures=(Figure(y="average node degree"),),
)
