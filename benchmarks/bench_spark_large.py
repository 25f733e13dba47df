"""dcbr-m on Spark with ten million nodes, 200 million subscriptions: once, by name, and not with all others.

`python -m benchmarks spark_large` takes an hour or more on two cores, and some 30 GB of disk for the tables
on the way. A million nodes come first: the exponent of growth is from there. Groups are built by the fastest
`inner`, and nothing is polished.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

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

TITLE = "ten million nodes on Spark"
COUNTS = (1_000_000, 10_000_000)
SHAPE = ("--topics", "10000", "--subscriptions", "20", "--popularity", "zipf:0.5", "--seed", "1")
FASTEST = ("--set", "inner=gm", "--set", "polish=none")
WHERE = ("--engine", "spark", "--master", "local[2]", "--json", "--quiet")
ASKED_SECONDS, ASKED_MEGABYTES = 480.0, 7_000.0  # at a million nodes

Cells = Mapping[str, Figure | str]


def run(options: Options) -> Iterator[Row]:
    table = "`build --algorithm dcbr-m --set inner=gm --set polish=none` on local[2], T=10,000 s=20 zipf:0.5"
    seconds: dict[int, tuple[float, float]] = {}  # of the clock and of processors
    for count in COUNTS:
        yield attempt(table, f"V={count:,}", partial(_cells, options, count, seconds))
    yield attempt("growth of the time, seconds ~ V^e", "everything included", partial(_growth, seconds))


def _cells(options: Options, count: int, seconds: dict[int, tuple[float, float]]) -> Cells:
    if options.quick:
        raise NotRun("left out by --quick")
    interest, out = (options.scratch / f"large-{count}{ending}" for ending in (".parquet", ""))
    _generate(interest, count)
    command = ("build", str(interest), "--algorithm", "dcbr-m", "--out", str(out), *FASTEST, *WHERE)
    done = checked(run_command(topicloom_command(*command), adopt=True))
    summary = json_of(done)
    if not summary["topic_connected"] or summary["subscriptions"] != 20 * count:
        raise Broken("the overlay is not a topic-connected one of all subscriptions")
    seconds[count] = done.seconds, done.processor_seconds
    phases = sorted(summary["phases"].items(), key=lambda phase: -phase[1])[:4]
    asked = (ASKED_SECONDS, ASKED_MEGABYTES) if count == COUNTS[0] else (None, None)
    return {
        "time": Figure(done.seconds, "s", asked[0]),
        "processor time": Figure(done.processor_seconds, "s"),
        "memory of all processes": Figure(done.megabytes, "MB", asked[1]),
        "spilled": f"{_spilled(summary) / 1e9:.1f} GB",
        "edges": f"{summary['edges']:,}",
        "average degree": f"{summary['degree_avg']:.2f}",
        "maximum degree": str(summary["degree_max"]),
        "groups by level": " ".join(str(level["groups"]) for level in summary["report"]["levels"]),
        "longest phases": ", ".join(f"{name} {taken:.0f} s" for name, taken in phases),
    }


def _generate(path: Path, count: int) -> None:
    checked(run_command(topicloom_command("generate", str(path), "--nodes", str(count), *SHAPE, "--quiet")))


def _spilled(summary: Mapping[str, Any]) -> int:
    return sum(int(phase.get("spilled_bytes", 0)) for phase in summary["spark"].values())


def _growth(seconds: Mapping[int, tuple[float, float]]) -> Cells:
    if len(seconds) < len(COUNTS):
        raise NotRun("not every size was built")
    time, processor_time = (
        fit_exponent(list(seconds), list(taken)) for taken in zip(*seconds.values(), strict=True)
    )
    return {
        "e from 1,000,000 nodes on": f"{time:.2f}",
        "e of the processor time": f"{processor_time:.2f}",  # whatever else the machine does
    }
