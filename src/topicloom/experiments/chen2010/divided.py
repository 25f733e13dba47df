"""What the experiments of [Chen2010] share: GM-M, DCB-M and DCBR-M on one workload, and their times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from topicloom.experiments.lines import build
from topicloom.experiments.model import Figure, Run, Settings

GMM, DCB, DCBR, RING = "GM-M", "DCB-M", "DCBR-M", "RingPT"
TIMES = (
    "a ratio of times of two programs: here gm-m looks at pairs lazily and takes a second or less, which "
    "divided parts do not beat at these sizes"
)
LAWS = {"uniform": "chen-uniform", "Zipf": "chen-zipf", "exponential": "chen-exp"}
FIGURES = (Figure(y="maximum degree", key="degree_max"), Figure(y="average degree"))
SIZES = "10:90"
PRINTED: dict[str, Any] = {"inner": "gm-m", "lambda_": 3}  # DCBR-M as the paper has it; our default differs


def divided(x: float, on: Settings, label: str = "", *, dcb: bool = True, **values: Any) -> Iterator[Run]:
    """Yield the paper's builders; DCBR-M looks for its p as section V says, DCB-M takes one near it."""
    yield build(f"{GMM}{label}", x, on, "gm-m")
    yield build(f"{DCBR}{label}", x, on, "dcbr-m", **({"p": "paper"} | PRINTED | values))
    if dcb:
        yield build(f"{DCB}{label}", x, on, "dcb-m", p=values.get("p", near_p(on)))


def near_p(on: Settings) -> int:
    """Return about the p that section V leads to on a uniform workload: a fit of what DCBR-M chooses.

    >>> near_p({"nodes": 1000}), near_p({"nodes": 2000, "topics": 100, "subscriptions": "10:90"})
    (7, 19)
    """
    low, _, high = on.get("subscriptions", SIZES).partition(":")
    sparse = on.get("topics", 200) / ((int(low) + int(high)) / 2)
    fitted: float = 7 * (on["nodes"] / 1000) ** 0.6 * (4 / sparse) ** 0.85
    return max(2, round(fitted))
