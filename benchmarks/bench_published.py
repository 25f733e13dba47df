"""The other published builders beside gm-m on one interest: time and degrees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from benchmarks.bench_builders import drawn
from benchmarks.bench_divide import Cells, measured_build
from benchmarks.harness import Figure, Options, Row, attempt

TITLE = "published builders"
BASE = "gm-m"
RATIOS = {"low-oda": 3.0}
"""How many times the time of gm-m a builder may take."""
SECONDS = {"cd-oda": 5.0, "cd-oda-i": 5.0, "cd-oda-ii": 5.0, "2d-oda": 5.0}
"""Asked for at V=10,000 T=100 s=10."""
CASES: dict[str, tuple[Mapping[str, Any], tuple[str, ...]]] = {
    "V=10,000 T=100 s=10 zipf:0.5": (drawn(10_000), ("low-oda", "minmax-oda", *SECONDS, "ring-pt", "star")),
    "V=8,000 T=200 s=10:90 uniform": (drawn(8_000, 200, "10:90", "uniform"), ("low-oda",)),
}


def run(options: Options) -> Iterator[Row]:
    for name, (workload, builders) in CASES.items():
        for builder in (BASE, *builders):
            table = f"beside {BASE}, {name}, best of {options.repeats}"
            first = workload == CASES["V=10,000 T=100 s=10 zipf:0.5"][0]
            yield attempt(table, builder, partial(_cells, options, workload, builder, first))


def _cells(options: Options, workload: Mapping[str, Any], builder: str, asked: bool) -> Cells:
    base, answer = (measured_build(options, workload, name, {}) for name in (BASE, builder))
    return {
        "time": Figure(answer["seconds"], "s", SECONDS.get(builder) if asked else None),
        f"time : {BASE}": Figure(answer["seconds"] / base["seconds"], "", RATIOS.get(builder)),
        "average degree": f"{answer['degree_avg']:.2f}",
        "maximum degree": str(answer["degree_max"]),
    }
