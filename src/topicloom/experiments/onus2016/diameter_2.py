"""What Figures 8, 9 and 10 of [Onus2016] share: five builders, and the same four claims about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from topicloom.experiments.expect import Near, at_most
from topicloom.experiments.lines import BOUND, SHORT, build
from topicloom.experiments.model import Claim, Figure, Run, Scale, Settings, mean, worst

BUILDERS = {
    "GM": "gm",
    "CD-ODA": "cd-oda",
    "CD-ODA-I": "cd-oda-i",
    "CD-ODA-II": "cd-oda-ii",
    "2D-ODA": "2d-oda",
}
STARS = (
    "a center serves topics that it wants, at most s of them, so there are at least T/s centers, and a node "
    "meets most of them: such an overlay has far more edges than GM's here"
)
ALIKE = (
    "a center serves at most s topics, so every overlay of one star per topic, 2D-ODA's too, needs nearly as "
    "many edges as the others have"
)
WHY = "topicloom has no builder of its own for diameter 2: short-gm trades longer paths for fewer edges."
FIGURES = (Figure(y="average degree"),)


def grid(workload_at: Callable[[float], Settings]) -> Callable[[Scale], Iterator[Run]]:
    """Return the runs of a figure: the paper's builders everywhere, and ours, which keep to no 2 hops."""

    def runs(scale: Scale) -> Iterator[Run]:
        for x in scale.xs:
            for label, name in BUILDERS.items():
                yield build(label, x, workload_at(x), name)
        for x in scale.ours:
            yield build(f"{SHORT}, longer paths", x, workload_at(x), SHORT, ours=True)
            yield Run(f"{BOUND}, any diameter", x, "bound", workload_at(x), ours=True)

    return runs


def claims(over_gm: float, second: float, first: float) -> tuple[Claim, ...]:
    """Return what the text of a figure says: 2D-ODA over GM, CD-ODA-II and the other two over 2D-ODA."""
    return (
        Claim(
            text="2D-ODA needs at most so many times the edges of GM",
            expected=at_most(over_gm),
            measure=lambda sample: worst(sample.ratios("2D-ODA", "GM")),
            cannot=STARS,
        ),
        Claim(
            text="2D-ODA improves CD-ODA-II by this factor on average",
            expected=Near(second, rel=0.1),
            measure=lambda sample: mean(sample.ratios("CD-ODA-II", "2D-ODA")),
            cannot=ALIKE,
        ),
        Claim(
            text="2D-ODA improves CD-ODA and CD-ODA-I by this factor on average",
            expected=Near(first, rel=0.1),
            measure=lambda sample: mean(
                [*sample.ratios("CD-ODA", "2D-ODA"), *sample.ratios("CD-ODA-I", "2D-ODA")]
            ),
            cannot=ALIKE,
        ),
    )
