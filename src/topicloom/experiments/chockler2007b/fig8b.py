"""[Chockler2007b, Figure 8(b), (e)]: scalability with the number of topics, 20 subscriptions."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.chockler2007b.rss import SPIDER, rss
from topicloom.experiments.expect import Near, at_least, at_most
from topicloom.experiments.lines import reached, simulation, value
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Sample, Scale, rises

LIKE = "tdi(40)"
NODES = {"quick": 1000, "full": 10_000}


def line(nodes: int) -> str:
    return f"{SPIDER}, {nodes:,} nodes"


def degrees(sample: Sample) -> list[float]:
    """Return the average degrees, whichever number of nodes was run."""
    (name,) = {name for name, _ in sample.found if name.startswith(SPIDER)}
    return sample.line(name)


def runs(scale: Scale, nodes: int) -> Iterator[Run]:
    for x in scale.xs:
        yield simulation(line(nodes), x, rss(nodes, x, 20))
        yield Run(LIKE, x, "alike", rss(nodes, x, 20))
    for x in scale.ours:
        yield from reached(x, rss(nodes, x, 20), bound=False)


FULL = Scale((100, 200, 400, 700, 1000), 3)

EXPERIMENT = Experiment(
    item="Figure 8(b), (e)",
    title="Scalability with the number of topics",
    x="number of topics",
    runs=lambda scale: runs(scale, NODES["full" if scale == FULL else "quick"]),
    quick=Scale((100, 400, 1000), 1, (100,)),
    full=FULL,
    why="10,000 nodes as in the paper; 1,000 with --quick. The diameter is that of the whole overlay.",
    claims=(
        Claim(
            text="more topics increase the average degree",
            expected=at_least(1.0, "last / first above 1"),
            measure=lambda sample: rises(degrees(sample)),
        ),
        Claim(
            text="more topics reduce tdi(40)",
            expected=at_most(1.0, "last / first below 1"),
            measure=lambda sample: rises(sample.line(LIKE, "intersection")),
        ),
        Claim(
            text="the maximum topic diameter of 10,000 nodes with 100 topics",
            expected=Near(5),
            measure=value(line(NODES["full"]), 100, "diameter_overlay"),
        ),
        Claim(
            text="the maximum topic diameter of 10,000 nodes with 1,000 topics",
            expected=Near(4),
            measure=value(line(NODES["full"]), 1000, "diameter_overlay"),
        ),
    ),
    figures=(Figure(y="average degree"), Figure(y="top-40 intersection, %", key="intersection")),
)
