"""[Onus2016, Figure 10]: overlays of diameter 2 over the subscription size."""

from __future__ import annotations

from topicloom.experiments.expect import at_most
from topicloom.experiments.lines import workload
from topicloom.experiments.model import Claim, Experiment, Scale, rises, worst
from topicloom.experiments.onus2016.diameter_2 import BUILDERS, FIGURES, WHY, claims, grid

EXPERIMENT = Experiment(
    item="Figure 10",
    title="Overlays of diameter 2, 100 nodes, 100 topics",
    x="subscriptions per node",
    runs=grid(lambda x: workload(100, 100, x, "uniform")),
    quick=Scale((10, 20, 30, 40, 50), 5, (10, 50)),
    full=Scale((10, 20, 30, 40, 50), 50, (10, 30, 50)),
    why=WHY,
    claims=(
        *claims(1.1, 1.94, 2.23),
        Claim(
            text="the average degree of all decreases with the subscription size",
            expected=at_most(1.0, "last / first below 1 on every line"),
            measure=lambda sample: worst(rises(sample.line(name)) for name in BUILDERS),
        ),
    ),
    figures=FIGURES,
)
