"""[Zhao2011, Figure 9]: cost reduction ratios over the number of users."""

from __future__ import annotations

from topicloom.experiments.expect import at_least
from topicloom.experiments.model import Claim, Experiment, Scale, mean
from topicloom.experiments.zhao2011.planned import FIGURES, ORDER, PUBLISHED, grid, problem


def better(text: str, winner: str, loser: str) -> Claim:
    return Claim(
        text=f"{text} (mean ratio)",
        expected=at_least(1.0, "above 1"),
        measure=lambda sample: mean(sample.ratios(winner, loser, "crr")),
        differs=ORDER,
    )


EXPERIMENT = Experiment(
    item="Figure 9",
    title="Cost reduction ratio over the number of users",
    x="number of users",
    runs=grid(problem),
    quick=Scale((1000, 2000, 5000), 5, (1000, 2000)),
    full=Scale((1000, 2000, 4000, 6000, 8000, 10_000), 20, (1000, 4000, 10_000)),
    why="20 channels and prices by distance in the plane; the paper does not say. Mixing is uneven: on some "
    "draws it is near greedy packing, on others no better than random.",
    claims=(
        better("mixing reduces the cost most: more than greedy packing", "mixing", "greedy packing"),
        better("mixing reduces the cost more than clustering", "mixing", "clustering"),
        better("clustering reduces the cost more than greedy packing", "clustering", "greedy packing"),
        Claim(
            text="all reduce it compared with random assignment",
            expected=at_least(1.0, "ratio above 1"),
            measure=lambda sample: min(value for name in PUBLISHED for value in sample.line(name, "crr")),
        ),
    ),
    figures=FIGURES,
)
