"""[Chockler2007b, Figure 8]: scalability with nodes, topics and subscriptions, as average degrees and tdi."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from topicloom.experiments.chockler2007b.rss import QUICK, SIZES, central, rss
from topicloom.experiments.expect import Near, at_least, at_most
from topicloom.experiments.lines import simulation, value
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale, rises, worst

TOPICS = (100, 200)
SUBSCRIPTIONS = (15, 20, 40)


def line(topics: int = 100, size: int = 10) -> str:
    return f"T={topics}, s={size}"


def runs(scale: Scale) -> Iterator[Run]:
    shapes = [(topics, 10) for topics in TOPICS] + [(100, size) for size in SUBSCRIPTIONS]
    for x, (topics, size) in product(scale.xs, shapes):
        yield simulation(line(topics, size), x, rss(x, topics, size))
        yield Run(f"tdi(2s), {line(topics, size)}", x, "alike", rss(x, topics, size))
    for x in scale.ours:
        yield from central(x)


EXPERIMENT = Experiment(
    item="Figure 8(a), (c), (d), (f)",
    title="Scalability with nodes, topics and subscriptions",
    x="number of nodes",
    runs=runs,
    quick=Scale(QUICK[:2], 1, (1000,)),
    full=Scale(SIZES, 5, (1000, 4000)),
    why="The diameter is that of the whole overlay.",
    claims=(
        Claim(
            text="the average degree decreases with the number of nodes",
            expected=at_most(1.0, "last / first below 1, T=100 and 200"),
            measure=lambda sample: worst(rises(sample.line(line(topics))) for topics in TOPICS),
        ),
        Claim(
            text="more topics increase the average degree (T=200 / T=100)",
            expected=at_least(1.0, "above 1"),
            measure=lambda sample: min(sample.ratios(line(200), line(100))),
        ),
        Claim(
            text="more nodes raise tdi(20)",
            expected=at_least(1.0, "last / first above 1"),
            measure=lambda sample: min(
                rises(sample.line(f"tdi(2s), {line(topics)}", "intersection")) for topics in TOPICS
            ),
        ),
        Claim(
            text="from 10 to 20 subscriptions the average degree increases",
            expected=at_least(1.0, "s=20 / s=10 above 1"),
            measure=lambda sample: min(sample.ratios(line(size=20), line())),
        ),
        Claim(
            text="from 20 to 40 subscriptions the average degree decreases",
            expected=at_most(1.0, "s=40 / s=20 below 1"),
            measure=lambda sample: worst(sample.ratios(line(size=40), line(size=20))),
        ),
        *(
            Claim(
                text=f"maximum degree of 10,000 nodes, {topics} topics",
                expected=Near(printed, abs=4),
                measure=value(line(topics), 10_000, "degree_max"),
            )
            for topics, printed in ((100, 32), (200, 31))
        ),
        *(
            Claim(
                text=f"maximum topic diameter of 10,000 nodes, {topics} topics",
                expected=Near(6),
                measure=value(line(topics), 10_000, "diameter_overlay"),
            )
            for topics in TOPICS
        ),
    ),
    figures=(Figure(y="average degree"), Figure(y="top-2s intersection, %", key="intersection")),
)
