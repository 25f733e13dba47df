"""[Chockler2007a, Figure 3]: the steps of GM as a share of the worst case |V|^2 |T|."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from topicloom.experiments.chockler2007a.fig2 import LAWS, TOPICS, line
from topicloom.experiments.expect import Between, at_least, at_most
from topicloom.experiments.lines import workload
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Sample, Scale

KEY = "steps_share"


def runs(scale: Scale) -> Iterator[Run]:
    for x, (law, popularity), topics in product(scale.xs, LAWS.items(), TOPICS):
        yield Run(line(law, topics), x, "steps", workload(x, topics, 10, popularity))


def everywhere(sample: Sample) -> list[float]:
    return [value for one in product(LAWS, TOPICS) for value in sample.line(line(*one), KEY)]


def exponential_over_others(sample: Sample) -> float:
    return min(
        ratio
        for law, topics in product(("uniform", "zipf 0.5"), TOPICS)
        for ratio in sample.ratios(line("exponential", topics), line(law, topics), KEY)
    )


EXPERIMENT = Experiment(
    item="Figure 3",
    title="Processing steps of GM as a share of the worst case",
    x="number of nodes",
    runs=runs,
    quick=Scale((1000, 2000, 4000, 7000, 10_000), 2),
    full=Scale(tuple(range(1000, 10_001, 1000)), 10),
    why="Steps are those of Lemma 6.4: each topic that a pair of nodes shares is counted once.",
    claims=(
        Claim(
            text="in all experiments the steps are a share of the order of 10^-3 (the largest)",
            expected=Between(10**-3.5, 1e-2, "of the order of 10^-3"),
            measure=lambda sample: max(everywhere(sample)),
            differs="uniform and Zipf are below 10^-2, the exponential law with 100 topics is not",
        ),
        Claim(
            text="in all experiments the steps are a share of the order of 10^-3 (the smallest)",
            expected=Between(10**-3.5, 1e-2, "of the order of 10^-3"),
            measure=lambda sample: min(everywhere(sample)),
        ),
        Claim(
            text="the running time behaves like |V|^2: the share is the same for any number of nodes",
            expected=at_most(1.05, "largest / smallest on a line near 1"),
            measure=lambda sample: max(
                max(sample.line(line(*one), KEY)) / min(sample.line(line(*one), KEY))
                for one in product(LAWS, TOPICS)
            ),
        ),
        Claim(
            text="the share decreases with the number of topics",
            expected=at_most(1.0, "T=200 / T=100 below 1"),
            measure=lambda sample: max(
                ratio for law in LAWS for ratio in sample.ratios(line(law, 200), line(law, 100), KEY)
            ),
        ),
        Claim(
            text="it is highest on the exponential workload",
            expected=at_least(1.0, "ratio above 1 everywhere"),
            measure=exponential_over_others,
        ),
    ),
    figures=(Figure(y="steps / (|V|^2 |T|)", key=KEY),),
)
