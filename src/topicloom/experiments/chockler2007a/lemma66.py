"""[Chockler2007a, Lemma 6.6]: an instance on which GM takes 2k + km edges where 2k + 2m are enough."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.expect import Near
from topicloom.experiments.lines import build, instance, value
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale

EXACT_UP_TO = 4  # beyond, the proof of the optimum takes minutes
OPTIMUM = "optimum (exact)"


def runs(scale: Scale) -> Iterator[Run]:
    for k in scale.xs:
        on = instance("chockler-lemma-6.6", k)
        yield build("GM", k, on, "gm")
        yield build("balanced", k, on, "balanced", ours=True)
        if k <= EXACT_UP_TO:
            yield build(OPTIMUM, k, on, "exact", ours=True)


EXPERIMENT = Experiment(
    item="Lemma 6.6",
    title="Edges of GM where it is worst, k = m",
    x="k = m",
    runs=runs,
    quick=Scale((3, 4, 5, 6), 1),
    full=Scale((3, 4, 5, 6, 7), 1),
    claims=(
        *(
            Claim(
                text=f"GM takes 2k + km edges for k = m = {k}",
                expected=Near(2 * k + k * k),
                measure=value("GM", k, "edges"),
            )
            for k in (3, 4, 5, 6)
        ),
        *(
            Claim(
                text=f"2k + 2m edges are the optimum for k = m = {k}",
                expected=Near(4 * k),
                measure=value(OPTIMUM, k, "edges"),
            )
            for k in (3, 4)
        ),
    ),
    figures=(Figure(y="edges", key="edges", printed={"GM": {k: 2 * k + k * k for k in (3, 4, 5, 6)}}),),
)
