"""[Zhao2011, Figure 10]: cost reduction ratios over the price of access links beside core links."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.expect import Near, at_most
from topicloom.experiments.model import Claim, Experiment, Run, Sample, Scale, rises
from topicloom.experiments.zhao2011.planned import FIGURES, ORDER, PUBLISHED, grid, problem

FULL = Scale((0.1, 0.5, 1, 2, 5, 10), 10, (0.1, 1, 10))


def runs(scale: Scale) -> Iterator[Run]:
    users = 10_000 if scale == FULL else 2000
    return grid(lambda ratio: problem(users, ratio))(scale)


def spread(sample: Sample, x: float) -> float:
    """Return how far the planners lie apart: the largest ratio over the smallest."""
    found = [sample(name, x, "crr") for name in PUBLISHED]
    return max(found) / min(found)


EXPERIMENT = Experiment(
    item="Figure 10",
    title="Cost reduction ratio over the access-to-core price ratio",
    x="access-to-core price ratio",
    runs=runs,
    quick=Scale((0.1, 1, 10), 5, (0.1, 1, 10)),
    full=FULL,
    why="10,000 users as in the paper; 2,000 with --quick.",
    claims=(
        Claim(
            text="mixing almost does not change with the price ratio (last / first)",
            expected=Near(1.0, rel=0.1),
            measure=lambda sample: rises(sample.line("mixing", "crr")),
        ),
        Claim(
            text="with cheap core links the others converge to mixing: the planners lie closer together",
            expected=at_most(1.0, "spread at 10 / spread at 0.1 below 1"),
            measure=lambda sample: spread(sample, 10) / spread(sample, 0.1),
            differs=ORDER,
        ),
    ),
    figures=FIGURES,
)
