"""[Chockler2007b, Figure 11, 3.8.1]: nodes that come and go, and the messages that it takes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from topicloom.experiments.chockler2007b.rss import rss
from topicloom.experiments.expect import Near, at_most
from topicloom.experiments.lines import simulation
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale, mean, rises, worst

FULL = Scale((100, 200, 300, 400, 500), 3)
SETS = {1250: (38, 13), 2500: (34, 12)}
"""Nodes, of which four fifths are there at any time: printed messages per join or leave, and degree."""


def line(nodes: int) -> str:
    return f"{nodes * 4 // 5:,} nodes present"


def runs(scale: Scale) -> Iterator[Run]:
    for life, nodes in product(scale.xs, SETS if scale == FULL else (1250,)):
        seconds, every = (1000, 200) if scale == FULL else (400, 100)
        words = (f"life={life:g}", f"seconds={seconds}", f"snapshot={every}", "diameters=never")
        yield simulation(line(nodes), life, rss(nodes), *words)
    for life in scale.ours:
        words = (f"life={life:g}", "seconds=400", "snapshot=100", "diameters=never")
        yield simulation(f"{line(1250)}, with roots", life, rss(1250), *words, "root=on")


EXPERIMENT = Experiment(
    item="Figure 11, section 3.8.1",
    title="Churn: mean life time, degree and messages",
    x="mean life time, seconds",
    runs=runs,
    quick=Scale((100, 500), 1, (100,)),
    full=FULL,
    why="1,000 simulated seconds with a snapshot every 200 as in the paper; 400 and 100 with --quick.",
    claims=(
        Claim(
            text=f"the churn rate does not affect the average degree, {line(1250)} (shortest / longest life)",
            expected=Near(1.0, rel=0.05),
            measure=lambda sample: 1 / rises(sample.line(line(1250), "degree_avg_all")),
        ),
        *(
            Claim(
                text=f"in all snapshots all topics are connected, {line(nodes)} (snapshots that are not)",
                expected=at_most(0),
                measure=lambda sample, nodes=nodes: worst(  # type: ignore[misc]
                    sample.line(line(nodes), "snapshots_split")
                ),
            )
            for nodes in SETS
        ),
        *(
            Claim(
                text=f"average degree, {line(nodes)}",
                expected=Near(degree, rel=0.1),
                measure=lambda sample, nodes=nodes: mean(  # type: ignore[misc]
                    sample.line(line(nodes), "degree_avg_all")
                ),
            )
            for nodes, (_, degree) in SETS.items()
        ),
        *(
            Claim(
                text=f"control messages per join or leave, {line(nodes)}",
                expected=Near(messages, rel=0.25),
                measure=lambda sample, nodes=nodes: mean(  # type: ignore[misc]
                    sample.line(line(nodes), "messages_per_change")
                ),
            )
            for nodes, (messages, _) in SETS.items()
        ),
    ),
    figures=(Figure(y="average degree", key="degree_avg_all"),),
)
