"""What Tables II, III and IV of [Chen2010] share: 1,000 nodes, 200 topics, the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from topicloom.experiments.chen2010.divided import DCB, DCBR, GMM, TIMES, divided
from topicloom.experiments.expect import Near
from topicloom.experiments.lines import preset, ratio, reached, value
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale

P = 7
"""The paper does not say which p it took; section V leads to 7 on the uniform workload."""
LINES = {"DCBR": DCBR, "DCB": DCB, "GMM": GMM}


def table(item: str, law: str, printed: dict[str, float], cannot: dict[str, str]) -> Experiment:
    """Return one of the tables: `printed` has the means by row, `cannot` why one cannot be had."""

    def runs(scale: Scale) -> Iterator[Run]:
        for x in scale.xs:
            yield from divided(x, preset(x, f"chen-{law}"), p=P)
        for x in scale.ours:
            yield from reached(x, preset(x, f"chen-{law}"), bound=False)

    return Experiment(
        item=item,
        title=f"Random groups of light nodes, {law}",
        x="number of nodes",
        runs=runs,
        quick=Scale((1000,), 3, (1000,)),
        full=Scale((1000,), 40, (1000,)),
        why=f"p = {P}.",
        claims=tuple(_claim(row, number, cannot) for row, number in printed.items()),
        figures=(
            Figure(y="maximum degree", key="degree_max", printed=_points(printed, "D")),
            Figure(y="average degree", printed=_points(printed, "d")),
        ),
    )


def _claim(row: str, number: float, cannot: dict[str, str]) -> Claim:
    kind, _, name = row.partition(" ")
    measures: dict[str, tuple[str, Callable[..., float], Near, str]] = {
        "D": ("maximum degree", value(LINES.get(name, ""), 1000, "degree_max"), Near(number, abs=1.5), ""),
        "d": ("average degree", value(LINES.get(name, ""), 1000), Near(number, rel=0.03), ""),
        "R": ("|R| / |L|", value(DCBR, 1000, "representatives_share"), Near(number, rel=0.05), ""),
        "T": ("time", ratio(LINES.get(name, ""), GMM, 1000, "seconds"), Near(number, rel=0.25), TIMES),
    }
    text, measure, expected, differs = measures[kind]
    told = {"R": text, "T": f"{text} of {name} / GMM"}.get(kind, f"{text} of {name}")
    return Claim(text=told, expected=expected, measure=measure, cannot=cannot.get(row, ""), differs=differs)


def _points(printed: dict[str, float], kind: str) -> dict[str, dict[float, float]]:
    return {LINES[row[2:]]: {1000: number} for row, number in printed.items() if row[0] == kind and row[2:]}
