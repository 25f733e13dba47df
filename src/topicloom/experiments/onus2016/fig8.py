"""[Onus2016, Figure 8]: overlays of diameter 2 over the number of nodes."""

from __future__ import annotations

from topicloom.experiments.expect import at_most
from topicloom.experiments.lines import workload
from topicloom.experiments.model import Claim, Experiment, Scale, rises, worst
from topicloom.experiments.onus2016.diameter_2 import BUILDERS, FIGURES, WHY, claims, grid

EXPERIMENT = Experiment(
    item="Figure 8",
    title="Overlays of diameter 2, 100 topics, 10 subscriptions",
    x="number of nodes",
    runs=grid(lambda x: workload(x, 100, 10, "uniform")),
    quick=Scale((100, 250, 500, 750, 1000), 3, (100, 500)),
    full=Scale(tuple(range(100, 1001, 100)), 30, (100, 500, 1000)),
    why=WHY,
    claims=(
        *claims(1.09, 2.04, 2.06),
        Claim(
            text="the average degree of all decreases with the number of nodes",
            expected=at_most(1.0, "last / first below 1 on every line"),
            measure=lambda sample: worst(rises(sample.line(name)) for name in BUILDERS),
            differs="GM's does; a star per topic comes near twice the subscriptions from below",
        ),
    ),
    figures=FIGURES,
)
