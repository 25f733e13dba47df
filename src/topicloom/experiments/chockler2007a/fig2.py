"""[Chockler2007a, Figure 2]: GM's average degree over the number of nodes, for three laws and two T."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from topicloom.experiments.expect import at_least, at_most
from topicloom.experiments.lines import build, reached, workload
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Sample, Scale, rises, worst

LAWS = {"uniform": "uniform", "zipf 0.5": "zipf:0.5", "exponential": "exponential:0.55"}
TOPICS = (100, 200)


def line(law: str, topics: int) -> str:
    return f"GM, {law}, T={topics}"


def runs(scale: Scale) -> Iterator[Run]:
    for x, (law, popularity), topics in product(scale.xs, LAWS.items(), TOPICS):
        yield build(line(law, topics), x, workload(x, topics, 10, popularity), "gm")
    for x in scale.ours:
        yield from reached(x, workload(x, 100, 10, "zipf:0.5"), ", zipf 0.5, T=100")


def exponential_over_others(sample: Sample) -> float:
    return worst(
        ratio
        for law, topics in product(("uniform", "zipf 0.5"), TOPICS)
        for ratio in sample.ratios(line("exponential", topics), line(law, topics))
    )


EXPERIMENT = Experiment(
    item="Figure 2",
    title="Average node degree of GM over the number of nodes",
    x="number of nodes",
    runs=runs,
    quick=Scale((1000, 2000, 4000, 7000, 10_000), 2, (1000, 2000)),
    full=Scale(tuple(range(1000, 10_001, 1000)), 10, (1000, 2000, 4000, 10_000)),
    claims=(
        Claim(
            text="with all popularity laws the average degree decreases with the number of nodes",
            expected=at_most(1.0, "last / first below 1 on every line"),
            measure=lambda sample: worst(rises(sample.line(line(*one))) for one in product(LAWS, TOPICS)),
        ),
        Claim(
            text="the exponential law gives a smaller overlay than uniform and Zipf",
            expected=at_most(1.0, "ratio below 1 everywhere"),
            measure=exponential_over_others,
        ),
        Claim(
            text="more topics increase the average degree",
            expected=at_least(1.0, "T=200 / T=100 above 1 everywhere"),
            measure=lambda sample: min(
                ratio for law in LAWS for ratio in sample.ratios(line(law, 200), line(law, 100))
            ),
        ),
    ),
    figures=(Figure(y="average node degree"),),
)
