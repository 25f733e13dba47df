"""[Chockler2007b, Figure 10]: nodes that know a share of the others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from topicloom.experiments.chockler2007b.rss import rss
from topicloom.experiments.expect import at_most
from topicloom.experiments.lines import simulation
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale, worst

FULL = Scale((5, 10, 25, 50, 100), 3)


def nodes_of(scale: Scale) -> tuple[int, ...]:
    return (4000, 8000) if scale == FULL else (1000, 4000)


def runs(scale: Scale) -> Iterator[Run]:
    for x, nodes in product(scale.xs, nodes_of(scale)):
        yield simulation(f"{nodes:,} nodes", x, rss(nodes), f"view={x / 100:g}", "diameters=never")


EXPERIMENT = Experiment(
    item="Figure 10",
    title="Partial membership views",
    x="view, % of all nodes",
    runs=runs,
    quick=Scale((5, 25, 100), 1),
    full=FULL,
    why='4,000 and 8,000 nodes as in the paper; 1,000 and 4,000 with --quick. "A small effect" is read as at '
    "most 25%.",
    claims=(
        Claim(
            text="with views from 5% on every topic is connected (4,000 nodes, split topics)",
            expected=at_most(0),
            measure=lambda sample: worst(sample.line("4,000 nodes", "topics_partitioned")),
        ),
        Claim(
            text="the size of the view has a small effect on the average degree (4,000 nodes, 5% / 100%)",
            expected=at_most(1.25, "a small effect"),
            measure=lambda sample: sample("4,000 nodes", 5) / sample("4,000 nodes", 100),
            differs="5% views cost 27% to 35% more links",
        ),
    ),
    figures=(Figure(y="average degree"),),
)
