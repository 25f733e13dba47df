"""What the experiments of [Chen2010] share: GM-M, DCB-M and DCBR-M on one workload, and their times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from topicloom.experiments.lines import build
from topicloom.experiments.model import Figure, Run, Settings

GMM, DCB, DCBR, RING = "GM-M", "DCB-M", "DCBR-M", "RingPT"
TIMES = (
    "a ratio of times of two programs: here gm-m looks at pairs lazily and takes a fraction of a second, so "
    "that dividing saves less"
)
LAWS = {"uniform": "chen-uniform", "Zipf": "chen-zipf", "exponential": "chen-exp"}
FIGURES = (Figure(y="maximum degree", key="degree_max"), Figure(y="average degree"))
SIZES = "10:90"


def divided(x: float, on: Settings, label: str = "", *, dcb: bool = True, **values: Any) -> Iterator[Run]:
    """Yield the paper's builders; DCBR-M looks for its p as section V says, DCB-M takes one near it."""
    yield build(f"{GMM}{label}", x, on, "gm-m")
    yield build(f"{DCBR}{label}", x, on, "dcbr-m", **({"p": "paper"} | values))
    if dcb:
        near = max(2, round(7 * (on["nodes"] / 1000) ** 0.5))
        yield build(f"{DCB}{label}", x, on, "dcb-m", p=values.get("p", near))
