"""Every builder in one table: one line each, read by the command line, the tests, docs and benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from topicloom.builders.entry import Builder, Parameter
from topicloom.builders.gm import build_gm
from topicloom.builders.gm_m import build_gm_m
from topicloom.builders.ring_pt import build_ring_pt
from topicloom.errors import UsageError

BUILDERS: dict[str, Builder] = {
    "gm": Builder(
        build=build_gm,
        aim="lowest average degree",
        guarantee="edges at most log(subscriptions) x optimum",
        complexity="O(V² T) worst case",
        paper="Chockler et al. 2007, section 6",
        parameters={
            "redundancy": Parameter(1, "runs, each on the pairs not yet used (section 6.4)", least=1)
        },
    ),
    "gm-m": Builder(
        build=build_gm_m,
        aim="lowest maximum degree",
        guarantee="maximum degree at most log(V T) x optimum",
        complexity="O(V² T) worst case",
        paper="Chen et al. 2010, section IV-A; Onus and Richa 2009",
    ),
    "ring-pt": Builder(
        build=build_ring_pt,
        aim="baseline: one ring per topic",
        guarantee="degree at most 2 x subscription size",
        complexity="O(subscriptions)",
        paper="Chockler et al. 2007, section 8",
        seeded=True,
        parameters={"order": Parameter("id", "order of the nodes on each ring", choices=("id", "random"))},
    ),
}


def find_builder(name: str) -> Builder:
    """The builder called `name`, or a UsageError that lists all of them."""
    if name not in BUILDERS:
        raise UsageError(f"no builder is called {name!r}; there are {', '.join(BUILDERS)}")
    return BUILDERS[name]


def parse_parameters(name: str, settings: Sequence[str]) -> dict[str, Any]:
    """All parameters of builder `name`: its defaults, overruled by `key=value` texts."""
    builder = find_builder(name)
    values: dict[str, Any] = {key: parameter.default for key, parameter in builder.parameters.items()}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"--set {setting}: write it as key=value")
        key = key.replace("-", "_")
        if key not in builder.parameters:
            known = ", ".join(builder.parameters) or "no parameters"
            raise UsageError(f"--set {setting}: {name} does not know {key!r}; it takes {known}")
        values[key] = builder.parameters[key].parse(name, key, text)
    return values


def check_parameters(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The same for values given from Python."""
    try:
        return parse_parameters(name, [f"{key}={value}" for key, value in values.items()])
    except UsageError as error:
        raise UsageError(str(error).removeprefix("--set ")) from None
