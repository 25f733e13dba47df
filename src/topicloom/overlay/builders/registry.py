"""Every builder in one table: one line each, read by the command line, the tests, docs and benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from topicloom.base.parameters import Parameter, check_values, parameters_of, read_settings
from topicloom.base.progress import SILENT, Progress
from topicloom.base.registry import Entry, find
from topicloom.errors import UsageError
from topicloom.overlay.builders.baselines import build_full_mesh, build_ring_pt, build_star
from topicloom.overlay.builders.cd_oda import build_2d_oda, build_cd_oda, build_cd_oda_i, build_cd_oda_ii
from topicloom.overlay.builders.constrained import check_constraints
from topicloom.overlay.builders.dcb_m import build_dcb_m, build_dcbr_m
from topicloom.overlay.builders.exact import build_exact
from topicloom.overlay.builders.gm import build_gm, build_gm_m
from topicloom.overlay.builders.low_oda import build_low_oda
from topicloom.overlay.builders.minmax_oda import build_minmax_oda
from topicloom.overlay.builders.short_gm import build_short_gm
from topicloom.overlay.builders.weighted import build_weighted
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.constraints import UNCONSTRAINED, WEIGHTS, Constraints, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


@dataclass(frozen=True, slots=True, kw_only=True)
class Builder(Entry):
    """What there is to know about an algorithm."""

    build: Callable[..., Build]
    guarantee: str
    complexity: str = "O(V² T) worst case"  # where V is the number of nodes and T of topics
    engines: tuple[str, ...] = ("local",)
    honours: tuple[str, ...] = ()  # the kinds of constraints it respects; it refuses the others
    links_strangers: bool = False  # may it link nodes that share no topic?

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Its own arguments, as `build` declares them."""
        return parameters_of(self.build)


ALL_KINDS = ("caps", "forbid", "require", "start", "costs")
DIAMETER_2 = "each topic's subgraph has diameter at most 2"
COUNTING = "O(V T subscriptions / 64) worst case"


def _short_paths(build: Callable[..., Build], aim: str, complexity: str, place: str) -> Builder:
    """Return the entry of a builder of Onus and Richa 2016 that makes topics of diameter 2."""
    paper = f"Onus and Richa 2016, {place}"
    aim = f"short paths: {aim}"
    return Builder(build=build, aim=aim, guarantee=DIAMETER_2, complexity=complexity, paper=paper)


BUILDERS: dict[str, Builder] = {
    "balanced": Builder(
        build=build_weighted,
        aim="low average and low maximum degree, short paths",
        guarantee="none proven; certifying bounds the gap of each build",
        complexity="a few runs of gm, then `work` moves per edge",
        paper="this project: docs/builders.md",
        seeded=True,
        honours=(*ALL_KINDS, *WEIGHTS),
    ),
    "gm": Builder(
        build=build_gm,
        aim="lowest average degree",
        guarantee="edges at most log(subscriptions) x optimum",
        paper="Chockler et al. 2007, section 6",
        honours=(*ALL_KINDS, "rates"),  # those with `max_edges` only
    ),
    "gm-m": Builder(
        build=build_gm_m,
        aim="lowest maximum degree",
        guarantee="maximum degree at most log(V T) x optimum",
        paper="Chen et al. 2010, section IV-A; Onus and Richa 2009",
        honours=ALL_KINDS,
    ),
    "short-gm": Builder(
        build=build_short_gm,
        aim="short paths and few edges: gm within a bound on hops",
        guarantee="none proven; the report says which bound on hops was kept",
        complexity="a few runs of gm",
        paper="this project: docs/builders.md",
    ),
    "exact": Builder(
        build=build_exact,
        aim="the optimum with a proof: for up to a few hundred nodes",
        guarantee="optimal, or within the reported bounds when time runs out",
        complexity="exponential; at most 200,000 pairs that share a topic",
        paper="this project: docs/builders.md; Bonnet et al. 2019, Dar et al. 2021",
    ),
    "low-oda": Builder(
        build=build_low_oda,
        aim="low average and maximum degree at once",
        guarantee="average degree O(k log(subscriptions)), maximum O((V/k) log(subscriptions)) x optimum",
        paper="Onus and Richa 2016, Algorithm 1",
    ),
    "minmax-oda": Builder(
        build=build_minmax_oda,
        aim="the original of gm-m, with edges that join nothing: for comparison",
        guarantee="maximum degree at most log(V T) x optimum",
        paper="Onus and Richa 2009; 2016, section 2.1",
        links_strangers=True,
    ),
    "dcb-m": Builder(
        build=build_dcb_m,
        aim="low maximum degree by divide and conquer: the yardstick of dcbr-m",
        guarantee="maximum degree O(eta + optimum x log(V T))",
        paper="Chen et al. 2010, Algorithm 9",
        seeded=True,
        engines=("local", "spark"),
    ),
    "dcbr-m": Builder(
        build=build_dcbr_m,
        aim="low maximum degree by divide and conquer: for very many nodes",
        guarantee="with inner=gm-m: maximum O(eta + optimum of bulk and representative nodes x log(V T))",
        complexity="O(T ((B + R)² + L²/p)) worst case",
        paper="Chen et al. 2010, Algorithm 11",
        seeded=True,
        engines=("local", "spark"),
    ),
    "cd-oda": _short_paths(build_cd_oda, "hubs with the most neighbors", COUNTING, "section 6.1"),
    "cd-oda-i": _short_paths(
        build_cd_oda_i,
        "hubs with the most neighbors, each topic counted",
        "O(V T + subscriptions)",
        "section 6.1",
    ),
    "cd-oda-ii": _short_paths(build_cd_oda_ii, "hubs of the largest density", COUNTING, "section 6.1"),
    "2d-oda": _short_paths(
        build_2d_oda, "one star per topic, edges shared", "O(T (V + subscriptions))", "Algorithm 2"
    ),
    "star": Builder(
        build=build_star,
        aim="baseline: one star per topic around its smallest node",
        guarantee=DIAMETER_2,
        complexity="O(subscriptions)",
    ),
    "full-mesh": Builder(
        build=build_full_mesh,
        aim="baseline: all pairs that share a topic",
        guarantee="each topic's subgraph has diameter at most 1",
        complexity="O(V subscriptions)",
    ),
    "ring-pt": Builder(
        build=build_ring_pt,
        aim="baseline: one ring per topic",
        guarantee="degree at most 2 x subscription size",
        complexity="O(subscriptions)",
        paper="Chockler et al. 2007, section 8",
        seeded=True,
        engines=("local", "spark"),
    ),
}


def find_builder(name: str) -> Builder:
    """Return the builder called `name`, or raise a UsageError that lists all of them."""
    return find("algorithm", BUILDERS, name)


def run_builder(
    name: str,
    interest: Interest,
    *,
    constraints: Constraints = UNCONSTRAINED,
    start: Overlay | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
    **parameters: Any,
) -> Build:
    """Call builder `name` under `constraints` and from the edges of `start`, if it honours them.

    What the constraints hold goes into the build's parameters; contradictions are refused here, as are
    values that a parameter does not take.
    """
    builder = find_builder(name)
    values = check_values(name, builder.parameters, parameters)
    values |= {"seed": seed, "threads": threads, "progress": progress}
    counts = constraints.counts() | ({} if start is None else {"start": start.n_edges})
    if not counts:
        return builder.build(interest, **values)
    check_honours(name, counts)
    check_constraints(interest, constraints, start)
    build = builder.build(interest, constraints=constraints, start=start, **values)
    report = dict(build.report)
    if "costs" in counts:
        report["cost_total"] = constraints.cost_of(build.overlay)
    if start is not None:
        allowed = NodePairs(start.u, start.v).without(constraints.forbidden, interest.n_nodes)
        report["start_left_out"] = start.n_edges - len(allowed)
    return replace(build, parameters={**build.parameters, "constraints": counts}, report=report)


def check_honours(name: str, kinds: Iterable[str]) -> None:
    """Refuse kinds of constraints that builder `name` does not honour, and say which builders do."""
    for kind in kinds:
        if kind not in find_builder(name).honours:
            able = [key for key, builder in BUILDERS.items() if kind in builder.honours]
            raise UsageError(f"{name} does not honour `{kind}`; {', '.join(able) or 'no builder'} do")


AIMS = {  # options of their own
    "max_hops": "bound hops",
    "max_degree": "aim at a maximum degree",
    "survive": "let topics survive deaths",
    "extra_edges": "spend more edges on fewer splits",
    "max_edges": "stop at a number of edges",
}


def aim_settings(name: str, aims: Mapping[str, str | None]) -> list[str]:
    """Return the settings that builder `name` aims at; one that cannot aim at them is refused."""
    given = {key: value for key, value in aims.items() if value is not None}
    for key in given:
        if key not in find_builder(name).parameters:
            able = [other for other, builder in BUILDERS.items() if key in builder.parameters]
            does = "do" if len(able) > 1 else "does"
            raise UsageError(f"{name} does not {AIMS[key]} (`{key}`); {', '.join(able)} {does}")
    return [f"{key}={value}" for key, value in given.items()]


def parse_parameters(name: str, settings: Sequence[str]) -> dict[str, Any]:
    """Return all parameters of builder `name`: its defaults, overruled by `key=value` texts."""
    return read_settings(name, find_builder(name).parameters, settings)


def check_parameters(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters of builder `name`: its defaults, overruled by values given from Python."""
    return check_values(name, find_builder(name).parameters, values)
