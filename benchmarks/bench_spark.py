"""dcbr-m on Spark by the command line, from 10,000 to 300,000 nodes: time, memory, degrees, growth.

Everything a user waits for is in the time: start of Spark, ingest, all phases, the proof, the result.
A million nodes: bench_spark_million.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks.harness import (
    Broken,
    CommandRun,
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
COUNTS = (10_000, 100_000, 300_000)
SHAPE = {"subscriptions": "20", "popularity": "zipf:0.5", "seed": "1"}
INNER = ("gm", "gm-m", "balanced")  # compared at INNER_NODES nodes
FASTEST = "gm"  # of them; nothing is polished then
FASTEST_SET = ("--set", f"inner={FASTEST}", "--set", "polish=none")
INNER_NODES = COUNTS[-1]  # the default, inner=balanced, is in the first table
SLOWEST = 1.5  # times the seconds of the fastest that the default may take

NEAR_LINEAR = 1.2  # the most that the exponent may be; V^2 is what a single greedy run tends to

Cells = Mapping[str, Figure | str]


def run(options: Options) -> Iterator[Row]:
    title = "`topicloom build --algorithm dcbr-m --engine spark --master local[2]`, T=10,000 s=20 zipf:0.5"
    seconds: dict[int, float] = {}
    for count in COUNTS[: 1 if options.quick else None]:
        yield attempt(title, f"V={count:,}", partial(_scale_cells, options, count, seconds))
    if not options.quick:
        title = "growth of the time, seconds ~ V^e"
        yield attempt(title, "`topicloom build`, everything included", partial(_growth_cells, seconds))
        title = f"inner, V={INNER_NODES:,} T=10,000 s=20 zipf:0.5, beside the fastest"
        for inner in INNER:
            yield attempt(title, f"inner={inner}", partial(_inner_cells, options, inner))


def _scale_cells(options: Options, count: int, seconds: dict[int, float]) -> Cells:
    done, cells = built(options, count, f"spark-{count}")
    seconds[count] = done.seconds
    return {"time": Figure(done.seconds, "s"), **cells}


def built(
    options: Options, count: int, out: str, more: Sequence[str] = ()
) -> tuple[CommandRun, dict[str, Figure | str]]:
    """Build an overlay by the command line; how that went, and its figures."""
    command = [*build(table(options, count, 10_000), options.scratch / out, "dcbr-m", "spark"), *more]
    done = checked(run_command(command, adopt=True))
    summary = json_of(done)
    if not summary["topic_connected"]:
        raise Broken("the overlay is not topic-connected")
    phases = sorted(summary["phases"].items(), key=lambda phase: -phase[1])[:4]
    return done, {
        "processor time": Figure(done.processor_seconds, "s"),
        "memory of all processes": Figure(done.megabytes, "MB"),
        "average degree": f"{summary['degree_avg']:.2f}",
        "maximum degree": str(summary["degree_max"]),
        "groups by level": " ".join(str(level["groups"]) for level in summary["report"]["levels"]),
        "pn-ratio": f"{summary['report']['pn_ratio']:.3f}",
        "longest phases": ", ".join(f"{name} {taken:.0f} s" for name, taken in phases),
    }


def _inner_cells(options: Options, inner: str) -> Cells:
    known = options.scratch / "fastest-seconds"
    more = FASTEST_SET if inner == FASTEST else ("--set", f"inner={inner}")
    done, cells = built(options, INNER_NODES, f"spark-inner-{inner}", more)
    if inner == FASTEST:
        known.write_text(str(done.seconds), encoding="utf-8")
    ratio = done.seconds / float(known.read_text(encoding="utf-8"))
    return {
        "time": Figure(done.seconds, "s"),
        "of the fastest": Figure(ratio, "", SLOWEST if inner == INNER[-1] else None),
        **cells,
    }


def build(interest: Path, out: Path, algorithm: str, engine: str) -> list[str]:
    where = ["--engine", engine, "--master", "local[2]"]
    return topicloom_command(
        "build", str(interest), "--algorithm", algorithm, *where, "--out", str(out), "--json", "--quiet"
    )


def table(options: Options, nodes: int, topics: int) -> Path:
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
