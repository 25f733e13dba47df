"""[Zhao2011, Figure 9]: cost reduction ratios over the number of users."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.expect import at_least
from topicloom.experiments.model import Claim, Experiment, Run, Scale, mean
from topicloom.experiments.zhao2011.planned import FIGURES, ORDER, PUBLISHED, ours, planned, problem


def runs(scale: Scale) -> Iterator[Run]:
    for x in scale.xs:
        yield from planned(x, problem(x))
    for x in scale.ours:
        yield from ours(x, problem(x))


EXPERIMENT = Experiment(
    item="Figure 9",
    title="Cost reduction ratio over the number of users",
    x="number of users",
    runs=runs,
    quick=Scale((1000, 2000, 5000), 5, (1000, 2000)),
    full=Scale((1000, 2000, 4000, 6000, 8000, 10_000), 20, (1000, 4000, 10_000)),
    why="20 channels and prices by distance in the plane; the paper does not say. Mixing is uneven: on some "
    "draws it is near greedy packing, on others no better than random.",
    claims=(
        Claim(
            text="mixing reduces the cost most: more than greedy packing (mean ratio)",
            expected=at_least(1.0, "above 1"),
            measure=lambda sample: mean(sample.ratios("mixing", "greedy packing", "crr")),
            differs=ORDER,
        ),
        Claim(
            text="mixing reduces the cost more than clustering (mean ratio)",
            expected=at_least(1.0, "above 1"),
            measure=lambda sample: mean(sample.ratios("mixing", "clustering", "crr")),
            differs=ORDER,
        ),
        Claim(
            text="clustering reduces the cost more than greedy packing (mean ratio)",
            expected=at_least(1.0, "above 1"),
            measure=lambda sample: mean(sample.ratios("clustering", "greedy packing", "crr")),
            differs=ORDER,
        ),
        Claim(
            text="all reduce it compared with random assignment",
            expected=at_least(1.0, "ratio above 1"),
            measure=lambda sample: min(value for name in PUBLISHED for value in sample.line(name, "crr")),
        ),
    ),
    figures=FIGURES,
)
