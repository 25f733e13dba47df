"""[Onus2016, Table 2]: edges on Case VII, where only 2D-ODA finds the optimum."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.expect import Near
from topicloom.experiments.lines import build, instance, value
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale
from topicloom.experiments.onus2016.diameter_2 import BUILDERS

SIZES = (10, 20)


def runs(scale: Scale) -> Iterator[Run]:
    for n in scale.xs:
        on = instance("onus-case-vii", n)
        for label, name in BUILDERS.items():
            yield build(label, n, on, name)
        yield build("balanced", n, on, "balanced", ours=True)


EXPERIMENT = Experiment(
    item="Table 2",
    title="Edges on Case VII",
    x="n",
    runs=runs,
    quick=Scale(SIZES, 1),
    full=Scale((*SIZES, 50, 100), 1),
    claims=tuple(
        Claim(
            text=f"{name} takes {formula} edges for n = {n}",
            expected=Near(edges),
            measure=value(name, n, "edges"),
        )
        for n in SIZES
        for name, formula, edges in (
            ("CD-ODA", "2n - 5", 2 * n - 5),
            ("CD-ODA-I", "2n - 5", 2 * n - 5),
            ("CD-ODA-II", "2n - 5", 2 * n - 5),
            ("2D-ODA", "n", n),
        )
    ),
    figures=(Figure(y="edges", key="edges"),),
)
