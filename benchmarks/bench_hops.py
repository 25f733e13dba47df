"""hops: average degree, maximum degree and hops at once, beside the figures asked for; heavy tails; sites.

Every figure is a mean over five seeds of the interest, or of one real table. Time is processor time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.bench_builders import deezer_file, drawn
from benchmarks.harness import Figure, NotRun, Options, Row, attempt, in_child

TITLE = "short paths"
SEEDS = (1, 2, 3, 4, 5)
LARGE = 5_000  # from so many nodes on, left out by --quick
RSS = drawn(2_000)
RSS_10_000 = drawn(10_000)
UNIFORM = drawn(1_000, 200, "10:90", "uniform")
ZIPF_2 = drawn(1_000, 200, "10:90", "zipf:2")
HEAVY = drawn(671, 9_066, "lognormal:70:1:20:2391", "zipf:0.8")
MOST_TIMES_GM = 5.0  # of short-gm
DEAR = 1.2  # times gm's edges and gm-m's maximum that the default may have on heavy-tailed tables
SITE_HOPS, SITE_LINKS = 10, 1.1  # of the fifty sites: hops, and links by those without a bound

Cells = Mapping[str, Figure | str]


@dataclass(frozen=True, slots=True)
class Goal:
    """Figures asked for on one table under a cap on degrees and a bound on hops."""

    name: str
    table: Mapping[str, Any] | str
    average: float
    degree: int
    hops: int
    seconds: float | None = None


GOALS = (
    Goal("V=2,000 T=100 s=10 zipf:0.5", RSS, 4.95, 7, 20),
    Goal("the same, tight", RSS, 5.10, 7, 16),
    Goal("V=1,000 T=200 10:90 uniform", UNIFORM, 5.65, 8, 17),
    Goal("V=1,000 T=200 10:90 zipf:2", ZIPF_2, 4.85, 10, 17),
    Goal("V=10,000 T=100 s=10 zipf:0.5", RSS_10_000, 4.43, 7, 24, 60.0),
    Goal("Deezer, 41,773 nodes", "deezer", 2.08, 10, 23, 60.0),
    Goal("PX4, 230 nodes", "px4", 2.48, 28, 7),
)


def run(options: Options) -> Iterator[Row]:
    table = "balanced under a cap on degrees and a bound on hops: means, most hops in any seed, CPU seconds"
    for goal in GOALS:
        yield attempt(table, goal.name, partial(_goal_cells, options, goal))
    table = "gm, short-gm and balanced by themselves: average / maximum degree / hops, CPU seconds"
    for name, workload in (("V=2,000", RSS), ("V=10,000", RSS_10_000)):
        yield attempt(table, f"{name} T=100 s=10 zipf:0.5", partial(_short_cells, options, workload))
    table = "heavy tails, V=671 T=9,066 lognormal: edges / maximum degree of the default beside gm and gm-m"
    for seed in SEEDS[:1] if options.quick else SEEDS:
        yield attempt(table, f"seed {seed}", partial(_heavy_cells, options, seed))
    yield attempt("the fifty sites of `topicloom example chain`", "mosquitto", _site_cells)


def _seeds(options: Options, table: Mapping[str, Any] | str) -> list[int]:
    if options.quick or isinstance(table, str):
        return list(SEEDS[:1])
    return list(SEEDS)


def _goal_cells(options: Options, goal: Goal) -> Cells:
    if options.quick and goal.seconds is not None:
        raise NotRun("left out by --quick")
    table = str(deezer_file()) if goal.table == "deezer" else goal.table
    limits = {"max_degree": goal.degree, "max_hops": goal.hops}
    ways = {"found": ["balanced", limits]}
    found = in_child("bench_hops:measure_ways", table=table, ways=ways, seeds=_seeds(options, goal.table))
    figures = found["found"]
    return {
        "average degree": Figure(figures["average"], "", goal.average),
        "maximum degree": Figure(figures["maximum"], "", goal.degree),
        "hops": Figure(figures["hops"], "", goal.hops),
        "mean hops": f"{figures['hops_mean']:.1f}",
        "time": Figure(figures["seconds"], "s", goal.seconds),
    }


def _short_cells(options: Options, workload: Mapping[str, Any]) -> Cells:
    if options.quick and workload["nodes"] >= LARGE:
        raise NotRun("left out by --quick")
    ways = {name: [name, {}] for name in ("gm", "short-gm", "balanced")}
    found = in_child("bench_hops:measure_ways", table=workload, ways=ways, seeds=_seeds(options, workload))
    cells: dict[str, Figure | str] = {
        name: "{average:.2f} / {maximum:.1f} / {hops:.0f}, {seconds:.1f} s".format(**figures)
        for name, figures in found.items()
    }
    ratio = found["short-gm"]["seconds"] / found["gm"]["seconds"]
    asked = MOST_TIMES_GM if workload["nodes"] == RSS_10_000["nodes"] else None
    return cells | {"time of short-gm : gm": Figure(ratio, "", asked)}


def _heavy_cells(options: Options, seed: int) -> Cells:
    ways = {name: [name, {}] for name in ("gm", "gm-m", "balanced")}
    found = in_child("bench_hops:measure_ways", table=HEAVY, ways=ways, seeds=[seed])
    mine = found["balanced"]
    return {name: "{edges:,.0f} / {maximum:.0f}".format(**figures) for name, figures in found.items()} | {
        "edges : gm's": Figure(mine["edges"] / found["gm"]["edges"], "", DEAR),
        "maximum : gm-m's": Figure(mine["maximum"] / found["gm-m"]["maximum"], "", DEAR),
        "hops of gm, balanced": f"{found['gm']['hops']:.0f}, {mine['hops']:.0f}",
        "time": Figure(mine["seconds"], "s"),
    }


def _site_cells() -> Cells:
    found = in_child("bench_hops:measure_sites")
    return {
        "links without a bound": f"{found['plain_links']:,} with {found['plain_hops']} hops",
        "links": Figure(found["links"], "", SITE_LINKS * found["plain_links"]),
        "hops": Figure(found["hops"], "", SITE_HOPS),
    }


# --- inside a child ----------------------------------------------------------------------------------------


def _interest(table: Mapping[str, Any] | str, seed: int) -> Any:
    import topicloom
    from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
    from topicloom.overlay.workloads.laws import sample_path

    if isinstance(table, str):
        path = sample_path(table) if table == "px4" else table
        return topicloom.read(str(path), header=False, engine="local")
    return generate_interest(workload_from_options(**{**table, "seed": seed}))


def measure_ways(
    table: Mapping[str, Any] | str, ways: Mapping[str, tuple[str, dict[str, Any]]], seeds: list[int]
) -> dict[str, dict[str, float]]:
    """Means over the seeds for each way to build, kernels loaded before: degrees, hops, processor seconds."""
    import time

    import numpy as np

    import topicloom
    from topicloom.overlay.builders.registry import run_builder

    warm = _interest(drawn(300), 1)
    for name, parameters in ways.values():
        run_builder(name, warm, **parameters)
    found: dict[str, list[tuple[float, ...]]] = {key: [] for key in ways}
    for seed in seeds:
        interest = _interest(table, seed)
        for key, (name, parameters) in ways.items():
            start = time.process_time()
            build = run_builder(name, interest, seed=seed, **parameters)
            seconds = time.process_time() - start
            if not topicloom.verify(interest, build.overlay).topic_connected:
                raise AssertionError(f"{name} left a topic split")
            hops = topicloom.measure(interest, build.overlay)
            degrees = build.overlay.degrees()
            found[key].append(
                (
                    float(degrees.mean()),
                    float(degrees.max()),
                    float(hops["diameter_topic_max"]),
                    float(hops["hops_mean"]),
                    float(build.n_edges),
                    seconds,
                )
            )
    names = ("average", "maximum", "hops", "hops_mean", "edges", "seconds")
    figures = {
        key: dict(zip(names, np.mean(rows, axis=0).tolist(), strict=True)) for key, rows in found.items()
    }
    for key, rows in found.items():
        figures[key]["hops"] = max(row[2] for row in rows)
    return figures


def measure_sites() -> dict[str, int]:
    """Links and hops of the exported sites, without a bound and within ten hops on the shortest trees."""
    from topicloom.mesh.topic_trees.dialing import tree_links
    from topicloom.mesh.topic_trees.shallow import build_shallow_trees
    from topicloom.overlay.builders.hops import topic_hops
    from topicloom.overlay.builders.registry import run_builder
    from topicloom.overlay.model.interest import Interest
    from topicloom.overlay.workloads.chain import chain_tables

    interest = Interest.from_pairs(chain_tables()["sites.csv"][1:])  # type: ignore[arg-type]
    found: dict[str, int] = {}
    for name, bound in (("plain_", "none"), ("", SITE_HOPS)):
        trees = build_shallow_trees(interest, run_builder("balanced", interest, max_hops=bound).overlay)
        found[f"{name}links"] = len(tree_links(trees))
        found[f"{name}hops"] = max(
            int(topic_hops(interest.restrict(interest.nodes_of(topic)), _tree(interest, trees, topic)).max())
            for topic in range(interest.n_topics)
        )
    return found


def _tree(interest: Any, trees: Any, topic: int) -> Any:
    """The tree of one topic as an overlay of its subscribers alone."""
    from topicloom.overlay.model.overlay import Overlay

    nodes = interest.nodes_of(topic)
    place = {int(node): number for number, node in enumerate(nodes)}
    child, parent = trees.edges_of(topic)
    ends = [[place[int(node)] for node in side] for side in (child, parent)]
    return Overlay.from_edges(interest.restrict(nodes).node_ids, *ends)
