"""[Onus2016, Figure 9]: overlays of diameter 2 over the number of topics."""

from __future__ import annotations

from topicloom.experiments.expect import at_least
from topicloom.experiments.lines import workload
from topicloom.experiments.model import Claim, Experiment, Scale, rises
from topicloom.experiments.onus2016.diameter_2 import BUILDERS, FIGURES, WHY, claims, grid

EXPERIMENT = Experiment(
    item="Figure 9",
    title="Overlays of diameter 2, 100 nodes, 20 subscriptions",
    x="number of topics",
    runs=grid(lambda x: workload(100, x, 20, "uniform")),
    quick=Scale((100, 200, 300, 400, 500), 5, (100, 500)),
    full=Scale((100, 200, 300, 400, 500), 50, (100, 300, 500)),
    why=WHY,
    claims=(
        *claims(1.07, 1.96, 2.0),
        Claim(
            text="the average degree of all increases with the number of topics",
            expected=at_least(1.0, "last / first above 1 on every line"),
            measure=lambda sample: min(rises(sample.line(name)) for name in BUILDERS),
        ),
    ),
    figures=FIGURES,
)
