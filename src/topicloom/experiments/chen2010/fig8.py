"""[Chen2010, Figure 8]: DCBR-M and DCB-M over the number of topics."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from topicloom.experiments.chen2010.divided import DCBR, FIGURES, GMM, SIZES, divided
from topicloom.experiments.expect import Near, at_least
from topicloom.experiments.lines import build, workload
from topicloom.experiments.model import Claim, Experiment, Run, Scale, mean, rises

LAWS = {"uniform": ("uniform", 3.51), "Zipf": ("zipf:2.0", 4.46), "exponential": ("geometric:0.1", 3.46)}
FULL = Scale((100, 200, 400, 600, 800, 1000), 10, (200, 800))


def runs(scale: Scale) -> Iterator[Run]:
    nodes = 4000 if scale == FULL else 1000
    for x, (law, (popularity, _)) in product(scale.xs, LAWS.items()):
        yield from divided(x, workload(nodes, x, SIZES, popularity), f", {law}", dcb=law == "uniform")
    for x in scale.ours:
        on = workload(nodes, x, SIZES, "uniform")
        yield build("balanced, uniform", x, on, "balanced", ours=True)


EXPERIMENT = Experiment(
    item="Figure 8",
    title="DCBR-M as the number of topics increases",
    x="number of topics",
    runs=runs,
    quick=Scale((200, 400, 800), 2, (200,)),
    full=FULL,
    why="4,000 nodes as in the paper; 1,000 with --quick.",
    claims=(
        *(
            Claim(
                text=f"maximum degree of DCBR-M minus that of GM-M on average, {law}",
                expected=Near(printed, abs=1.5),
                measure=lambda sample, law=law: mean(  # type: ignore[misc]
                    sample.gaps(f"{DCBR}, {law}", f"{GMM}, {law}", "degree_max")
                ),
            )
            for law, (_, printed) in LAWS.items()
        ),
        Claim(
            text="under the uniform law all degrees increase with the number of topics",
            expected=at_least(1.0, "last / first above 1"),
            measure=lambda sample: min(
                rises(sample.line(f"{name}, uniform", key))
                for name in (DCBR, GMM)
                for key in ("degree_max", "degree_avg")
            ),
        ),
    ),
    figures=FIGURES,
)
