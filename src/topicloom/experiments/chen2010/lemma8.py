"""[Chen2010, Lemma 8]: an unlucky group gives a maximum degree of |T| where 3 is the optimum."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.chen2010.divided import GMM
from topicloom.experiments.expect import Near
from topicloom.experiments.lines import build, instance, value
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale

UNLUCKY = "group of v(0,1) and the nodes of one topic"
H = 4


def runs(scale: Scale) -> Iterator[Run]:
    for h in scale.xs:
        on = instance("chen-lemma-8", h)
        yield Run(UNLUCKY, h, "groups", {**on, "of": ["v00-", f"v{int(h):02}-"]})
        yield build(GMM, h, on, "gm-m")
        yield build("balanced", h, on, "balanced", ours=True)
        yield Run("lower bound", h, "bound", on, ours=True)


EXPERIMENT = Experiment(
    item="Lemma 8",
    title="Maximum degree of an unlucky group",
    x="h (2^h topics)",
    runs=runs,
    quick=Scale((2, 3, H), 1),
    full=Scale((2, 3, H, 5, 6), 1),
    claims=(
        Claim(
            text=f"a group can force the degree m = 2^h, for h = {H}",
            expected=Near(2**H),
            measure=value(UNLUCKY, H, "degree_max"),
        ),
        Claim(
            text=f"the optimum has maximum degree 3, for h = {H} (GM-M finds it)",
            expected=Near(3),
            measure=value(GMM, H, "degree_max"),
        ),
    ),
    figures=(Figure(y="maximum degree", key="degree_max"),),
)
