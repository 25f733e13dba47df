"""[Onus2016, Figures 3 and 4]: what the parameter k of Low-ODA trades, from GM to MinMax-ODA."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.expect import Near, at_least, at_most
from topicloom.experiments.lines import build, ratio, reached, workload
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale, rises

ON = workload(100, 100, 10, "zipf:0.5")
LOW, GM, MINMAX = "Low-ODA", "GM", "MinMax-ODA"
USEFUL = "GM-M: MinMax-ODA without edges that join nothing"


def runs(scale: Scale) -> Iterator[Run]:
    for k in scale.xs:
        yield build(LOW, k, ON, "low-oda", k=int(k), strict=k == 1)
        yield build(GM, k, ON, "gm")
        yield build(MINMAX, k, ON, "minmax-oda")
        yield build(USEFUL, k, ON, "gm-m")
    for k in scale.ours:
        yield from reached(k, ON)


EXPERIMENT = Experiment(
    item="Figures 3 and 4",
    title="Low-ODA with k from 1 to 8, 100 nodes",
    x="k",
    runs=runs,
    quick=Scale(tuple(range(1, 9)), 5, (1, 8)),
    full=Scale(tuple(range(1, 9)), 50, (1, 8)),
    why="With k = 1 the strict rule is taken: only then it is GM's.",
    claims=(
        Claim(
            text="with k = 1 Low-ODA behaves like GM (average degree)",
            expected=Near(1.0, rel=0.02),
            measure=ratio(LOW, GM, 1, "degree_avg"),
        ),
        Claim(
            text="with k = 8 Low-ODA behaves like MinMax-ODA (average degree)",
            expected=Near(1.0, rel=0.03),
            measure=ratio(LOW, MINMAX, 8, "degree_avg"),
            differs="MinMax-ODA adds edges that join nothing; without them, as GM-M, it has Low-ODA's edges",
        ),
        Claim(
            text="as k increases, the maximum degree decreases",
            expected=at_most(1.0, "k=8 / k=1 below 1"),
            measure=lambda sample: rises(sample.line(LOW, "degree_max")),
        ),
        Claim(
            text="as k increases, the average degree increases",
            expected=at_least(1.0, "k=8 / k=1 above 1"),
            measure=lambda sample: rises(sample.line(LOW)),
        ),
    ),
    figures=(Figure(y="maximum degree", key="degree_max"), Figure(y="average degree")),
)
