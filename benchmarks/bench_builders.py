"""gm and gm-m: seconds and memory, beside the published data structures, and growth over the nodes.

Interests are drawn once, in a process of their own, and handed over as numbers in a file: what drawing
them needs must not count as memory of the build.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import ROOT, Figure, NotRun, Options, Row, attempt, fit_exponent, in_child, measure
from topicloom.base.ids import numbered_ids
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

TITLE = "gm and gm-m"
DEEZER = "deezer-ro-genres.tsv.gz"
PATIENCE = 60.0
"""Seconds after which a run of the published structures is not repeated."""
GROWTH = (2_000, 4_000, 8_000, 16_000)
GROWTH_OURS = (*GROWTH, 32_000)  # the published structures hold V^2/2 pairs: no further for them

Cells = Mapping[str, Figure | str]


@dataclass(frozen=True, slots=True)
class Case:
    """One interest and the figures asked for: seconds by builder, megabytes for each of them."""

    name: str
    workload: Mapping[str, Any] | None
    seconds: Mapping[str, float]
    megabytes: float
    large: bool = False


def drawn(
    nodes: int, topics: int = 100, subscriptions: str = "10", popularity: str = "zipf:0.5"
) -> dict[str, Any]:
    """The options of a workload; the defaults are those of [Chockler2007a, 8]."""
    sizes = {"subscriptions": subscriptions, "popularity": popularity, "seed": 1}
    return {"nodes": nodes, "topics": topics, **sizes}


CASES = (
    Case("V=10,000 T=100 s=10 zipf:0.5", drawn(10_000), {"gm": 1, "gm-m": 2}, 300),
    Case("V=8,000 T=200 s=10:90 uniform", drawn(8_000, 200, "10:90", "uniform"), {"gm": 1.2, "gm-m": 2}, 300),
    Case("Deezer, 41,773 nodes, 84 topics", None, {"gm": 20, "gm-m": 40}, 2_000),
    Case("V=100,000 T=1,000 s=20 zipf:0.5", drawn(100_000, 1_000, "20"), {"gm": 18, "gm-m": 35}, 2_000, True),
)


def run(options: Options) -> Iterator[Row]:
    yield from asked_for(options)
    yield from beside_published(options)
    yield from growth(options)


# --- tables ----------------------------------------------------------------------------------------


def asked_for(options: Options) -> Iterator[Row]:
    """The cases with figures asked for."""
    table = f"Best of {options.repeats}, all cores; memory is the peak growth of the process"
    for case in CASES:
        for builder in case.seconds:
            yield attempt(table, f"{case.name}, {builder}", partial(_asked_cells, options, case, builder))


def _asked_cells(options: Options, case: Case, builder: str) -> Cells:
    if case.large and options.quick:
        raise NotRun("left out by --quick")
    answer = _measured(options, case.workload, builder)
    return {
        "time": Figure(answer["seconds"], "s", case.seconds[builder]),
        "processor time": Figure(answer["processor_seconds"], "s"),
        "memory": Figure(answer["megabytes"], "MB", case.megabytes),
        "edges": f"{answer['edges']:,}",
        "average degree": f"{answer['degree_avg']:.2f}",
        "maximum degree": str(answer["degree_max"]),
    }


def beside_published(options: Options) -> Iterator[Row]:
    """Ours and the data structures of the papers on the first case, in this same run."""
    table = f"Ours beside the published data structures (one core), {CASES[0].name}"
    for builder in CASES[0].seconds:
        yield attempt(table, builder, partial(_ratio_cells, options, CASES[0], builder))


def _ratio_cells(options: Options, case: Case, builder: str) -> Cells:
    ours = _measured(options, case.workload, builder)
    single = _measured(options, case.workload, builder, threads=1)
    theirs = _measured(options, case.workload, builder, published=True)
    return {
        "ours": Figure(ours["seconds"], "s"),
        "ours, one core": Figure(single["seconds"], "s"),
        "published": Figure(theirs["seconds"], "s"),
        "ours : published": f"1 : {theirs['seconds'] / ours['seconds']:.1f}",
        "on one core each": f"1 : {theirs['seconds'] / single['seconds']:.1f}",
        "our memory": Figure(ours["megabytes"], "MB"),
        "published memory": Figure(theirs["megabytes"], "MB"),
        "edges": f"{ours['edges']:,} : {theirs['edges']:,}",
        "maximum degree": f"{ours['degree_max']} : {theirs['degree_max']}",
    }


def growth(options: Options) -> Iterator[Row]:
    """Seconds over V and the exponent that fits them."""
    table = (
        "Growth over V (T=100 s=10 zipf:0.5): seconds, and e of seconds ~ V^e by least squares on logarithms"
    )
    for builder in CASES[0].seconds:
        for published in (False, True):
            name = f"{builder}, {'published' if published else 'ours'}"
            yield attempt(table, name, partial(_growth_cells, options, builder, published))


def _growth_cells(options: Options, builder: str, published: bool) -> Cells:
    counts = list(GROWTH if published else GROWTH_OURS)[: 3 if options.quick else None]
    times = [_measured(options, drawn(n), builder, published=published)["seconds"] for n in counts]
    cells: dict[str, Figure | str] = {f"V={n:,}": Figure(t, "s") for n, t in zip(counts, times, strict=True)}
    return {**{f"V={n:,}": "" for n in GROWTH_OURS}, **cells, "e": f"{fit_exponent(counts, times):.2f}"}


# --- one measurement -------------------------------------------------------------------------------


def _measured(
    options: Options,
    workload: Mapping[str, Any] | None,
    builder: str,
    *,
    threads: int | None = None,
    published: bool = False,
) -> dict[str, Any]:
    path = _interest_file(options, workload)
    return in_child(
        "bench_builders:measure_build",
        path=str(path),
        builder=builder,
        threads=threads,
        published=published,
        repeats=options.repeats,
    )


def _interest_file(options: Options, workload: Mapping[str, Any] | None) -> Path:
    """The interest of a case as numbers in a file, made at its first use."""
    if workload is None:
        path = options.scratch / "deezer.npz"
        source = deezer_file()
        if not path.exists():
            in_child("bench_builders:write_deezer", source=str(source), path=str(path))
        return path
    name = "-".join(str(value).replace(":", "_") for value in workload.values())
    path = options.scratch / f"{name}.npz"
    if not path.exists():
        in_child("bench_builders:write_workload", workload=dict(workload), path=str(path))
    return path


def deezer_file() -> Path:
    """The Deezer table: $TOPICLOOM_DATA (the file or its folder), else ../shared/data beside the project."""
    given = os.environ.get("TOPICLOOM_DATA")
    place = Path(given) if given else ROOT.parent / "shared" / "data"
    path = place / DEEZER if place.is_dir() else place
    if not path.is_file():
        raise NotRun(f"{DEEZER} was not found; say where it is with TOPICLOOM_DATA")
    return path


def measure_build(
    path: str, builder: str, threads: int | None, published: bool, repeats: int
) -> dict[str, Any]:
    """In a child: build once on a small interest to load the kernels, then measure on the one in `path`."""
    from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

    def build(interest: Interest) -> Overlay:
        if published:
            from benchmarks.published import overlay_of, published_gm, published_gm_m

            return overlay_of(interest, {"gm": published_gm, "gm-m": published_gm_m}[builder](interest))
        from topicloom.overlay.builders.registry import BUILDERS

        return BUILDERS[builder].build(interest, seed=0, threads=threads).overlay

    build(generate_interest(workload_from_options(**drawn(1_500))))
    interest = read_numbers(path)
    measured = measure(lambda: build(interest), repeats, PATIENCE if published else float("inf"))
    degrees = measured.result.degrees()
    return {
        "seconds": measured.seconds,
        "processor_seconds": measured.processor_seconds,
        "megabytes": measured.megabytes,
        "edges": measured.result.n_edges,
        "degree_avg": float(degrees.mean()),
        "degree_max": int(degrees.max()),
    }


def write_workload(workload: dict[str, Any], path: str) -> dict[str, Any]:
    """In a child: draw a workload and write its numbers."""
    from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

    return write_numbers(generate_interest(workload_from_options(**workload)), path)


def write_deezer(source: str, path: str) -> dict[str, Any]:
    """In a child: read the Deezer table (node, topic, no header, no quoting) and write its numbers."""
    with gzip.open(source, "rt", encoding="utf-8", newline="\n") as lines:
        pairs = [tuple(line.rstrip("\r\n").split("\t")) for line in lines]
    return write_numbers(Interest.from_pairs((node, topic) for node, topic in pairs), path)


def write_numbers(interest: Interest, path: str) -> dict[str, Any]:
    """The pairs as numbers; identifiers are left behind, they play no part in a build."""
    np.savez(path, nodes=interest.pair_nodes(), topics=interest.node_topics)
    return {"nodes": interest.n_nodes, "subscriptions": interest.n_subscriptions}


def read_numbers(path: str) -> Interest:
    """The interest of `write_numbers`, under numbered identifiers in the same order."""
    with np.load(path) as stored:
        nodes, topics = stored["nodes"], stored["topics"]
    node_ids = numbered_ids("n", int(nodes.max()) + 1)
    return Interest.from_codes(node_ids, numbered_ids("t", int(topics.max()) + 1), nodes, topics)
