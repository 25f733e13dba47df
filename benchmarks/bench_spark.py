"""dcbr-m on Spark by the command line, from 10,000 to 1,000,000 nodes: time, memory, degrees, growth.

Everything a user waits for is in the time: start of Spark, ingest, all phases, the proof, the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from benchmarks.harness import (
    Broken,
    Figure,
    NotRun,
    Options,
    Row,
    attempt,
    checked,
    fit_exponent,
    json_of,
    run_command,
    topicloom_command,
)

TITLE = "divide and conquer on Spark"
COUNTS = (10_000, 100_000, 300_000, 1_000_000)
SHAPE = {"subscriptions": "20", "popularity": "zipf:0.5", "seed": "1"}
INNER = ("gm", "gm-m", "balanced")  # compared at INNER_NODES nodes
FASTEST = "gm"  # of them; nothing is polished then
INNER_NODES = 300_000
SLOWEST = 1.5  # times the seconds of the fastest that the default may take
READ_SECONDS = {"measure": 180.0, "inspect": 120.0}  # asked for at a million nodes, in so many megabytes:
READ_MEGABYTES = 6_000.0
LIKE_GM_M, ABOVE_GM_M = 1.03, 1  # average degree at most so many times gm-m's, maximum at most so much more

NEAR_LINEAR = 1.2  # the most that the exponent may be; V^2 is what a single greedy run tends to

Cells = Mapping[str, Figure | str]


def run(options: Options) -> Iterator[Row]:
    table = "`topicloom build --algorithm dcbr-m --engine spark --master local[2]`, T=10,000 s=20 zipf:0.5"
    seconds: dict[int, float] = {}
    for count in COUNTS[: 1 if options.quick else None]:
        yield attempt(table, f"V={count:,}", partial(_scale_cells, options, count, seconds))
    if not options.quick:
        title = "growth of the time, seconds ~ V^e"
        yield attempt(title, "`topicloom build`, everything included", partial(_growth_cells, seconds))
        title = f"inner, V={INNER_NODES:,} T=10,000 s=20 zipf:0.5, beside the fastest"
        for inner in INNER:
            yield attempt(title, f"inner={inner}", partial(_inner_cells, options, inner))
        title = "figures of a million nodes, 20 million pairs, on Spark"
        for command in READ_SECONDS:
            yield attempt(title, f"`topicloom {command}`", partial(_read_cells, options, command))
    title = "degrees beside gm-m, V=100,000 T=1,000 s=20 zipf:0.5"
    yield attempt(title, "dcbr-m on Spark : gm-m", partial(_degree_cells, options))


def _scale_cells(options: Options, count: int, seconds: dict[int, float]) -> Cells:
    interest = _table(options, count, 10_000)
    command = _build(interest, options.scratch / f"spark-{count}", "dcbr-m", "spark")
    done = checked(run_command(command, adopt=True))
    summary = json_of(done)
    if not summary["topic_connected"]:
        raise Broken("the overlay is not topic-connected")
    seconds[count] = done.seconds
    levels = summary["report"]["levels"]
    phases = sorted(summary["phases"].items(), key=lambda phase: -phase[1])[:4]
    return {
        "time": Figure(done.seconds, "s"),
        "processor time": Figure(done.processor_seconds, "s"),
        "memory of all processes": Figure(done.megabytes, "MB"),
        "average degree": f"{summary['degree_avg']:.2f}",
        "maximum degree": str(summary["degree_max"]),
        "groups by level": " ".join(str(level["groups"]) for level in levels),
        "pn-ratio": f"{summary['report']['pn_ratio']:.3f}",
        "longest phases": ", ".join(f"{name} {taken:.0f} s" for name, taken in phases),
    }


def _inner_cells(options: Options, inner: str) -> Cells:
    known = options.scratch / "fastest-seconds"
    more = ["--set", f"inner={inner}", *(["--set", "polish=none"] if inner == FASTEST else [])]
    out = options.scratch / f"spark-inner-{inner}"
    interest = _table(options, INNER_NODES, 10_000)
    command = [*_build(interest, out, "dcbr-m", "spark"), *more]
    done = checked(run_command(command, adopt=True))
    summary = json_of(done)
    if inner == FASTEST:
        known.write_text(str(done.seconds), encoding="utf-8")
    ratio = done.seconds / float(known.read_text(encoding="utf-8"))
    return {
        "time": Figure(done.seconds, "s"),
        "processor time": Figure(done.processor_seconds, "s"),
        "of the fastest": Figure(ratio, "", SLOWEST if inner == INNER[-1] else None),
        "memory of all processes": Figure(done.megabytes, "MB"),
        "average degree": f"{summary['degree_avg']:.2f}",
        "maximum degree": str(summary["degree_max"]),
    }


def _read_cells(options: Options, command: str) -> Cells:
    interest, build = _table(options, COUNTS[-1], 10_000), options.scratch / f"spark-{COUNTS[-1]}"
    tables = [str(interest), *([str(build)] if command == "measure" else [])]
    where = ["--engine", "spark", "--master", "local[2]", "--json", "--quiet"]
    done = checked(run_command(topicloom_command(command, *tables, *where), adopt=True))
    found = json_of(done)
    return {
        "time": Figure(done.seconds, "s", READ_SECONDS[command]),
        "processor time": Figure(done.processor_seconds, "s"),
        "memory of all processes": Figure(done.megabytes, "MB", READ_MEGABYTES),
        "subscriptions": f"{found['subscriptions']:,}",
        "not known": ", ".join(found.get("unknown", {})),
    }


def _degree_cells(options: Options) -> Cells:
    if options.quick:
        raise NotRun("left out by --quick")
    interest = _table(options, 100_000, 1_000)
    ours, base = (
        json_of(checked(run_command(_build(interest, options.scratch / f"degrees-{name}", name, engine))))
        for name, engine in (("dcbr-m", "spark"), ("gm-m", "local"))
    )
    return {
        "average degree": f"{ours['degree_avg']:.2f} : {base['degree_avg']:.2f}",
        "ratio": Figure(ours["degree_avg"] / base["degree_avg"], "", LIKE_GM_M),
        "maximum degree": f"{ours['degree_max']} : {base['degree_max']}",
        "difference": Figure(ours["degree_max"] - base["degree_max"], "", ABOVE_GM_M),
        "time": f"{ours['seconds']['total']:.0f} s : {base['seconds']['total']:.0f} s",
    }


def _build(interest: Path, out: Path, algorithm: str, engine: str) -> list[str]:
    where = ["--engine", engine, "--master", "local[2]"]
    return topicloom_command(
        "build", str(interest), "--algorithm", algorithm, *where, "--out", str(out), "--json", "--quiet"
    )


def _table(options: Options, nodes: int, topics: int) -> Path:
    """The workload as a table on disk, made once in a run of the benchmarks."""
    path = options.scratch / f"spark-{nodes}-{topics}.parquet"
    if not path.exists():
        shape = [word for key, value in SHAPE.items() for word in (f"--{key}", value)]
        sizes = ["--nodes", str(nodes), "--topics", str(topics)]
        checked(run_command(topicloom_command("generate", str(path), *sizes, *shape, "--quiet")))
    return path


def _growth_cells(seconds: Mapping[int, float]) -> Cells:
    """Over all sizes; and from the first on that one kernel call does not hold, where it should be linear."""
    if len(seconds) < len(COUNTS):
        raise NotRun("not every size was built")
    late = {count: taken for count, taken in seconds.items() if count >= 100_000}
    return {
        "e from 10,000 nodes on": f"{fit_exponent(list(seconds), list(seconds.values())):.2f}",
        "e from 100,000 nodes on": Figure(fit_exponent(list(late), list(late.values())), "", NEAR_LINEAR),
    }
