"""A million nodes, 20 million pairs on Spark: build, measure, inspect; and degrees beside gm-m."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.bench_spark import FASTEST_SET, SLOWEST, Cells, build, built, table
from benchmarks.harness import (
    Figure,
    NotRun,
    Options,
    Row,
    attempt,
    checked,
    json_of,
    run_command,
    topicloom_command,
)

TITLE = "a million nodes on Spark"
MILLION = 1_000_000
MILLION_SECONDS, MILLION_MEGABYTES = 480.0, 7_000.0  # asked for there, with the fastest `inner`
READ_SECONDS = {"measure": 180.0, "inspect": 120.0}  # asked for, in so many megabytes:
READ_MEGABYTES = 6_000.0
LIKE_GM_M, ABOVE_GM_M = 1.03, 1  # average degree at most so many times gm-m's, maximum at most so much more


def run(options: Options) -> Iterator[Row]:
    if options.quick:
        raise NotRun("left out by --quick")
    title = "degrees beside gm-m, V=100,000 T=1,000 s=20 zipf:0.5"
    yield attempt(title, "dcbr-m on Spark : gm-m", partial(_degree_cells, options))
    title = "the default beside the fastest `inner`, V=100,000 T=1,000 s=20 zipf:0.5"
    yield attempt(title, f"default : {' '.join(FASTEST_SET)}", partial(_default_cells, options))
    title = f"T=10,000 s=20 zipf:0.5, {' '.join(FASTEST_SET)}"
    yield attempt(title, "`topicloom build`", partial(_million_cells, options))
    title = "figures of that overlay and its interest, on Spark"
    for command in READ_SECONDS:
        yield attempt(title, f"`topicloom {command}`", partial(_read_cells, options, command))


def _million_cells(options: Options) -> Cells:
    done, cells = built(options, MILLION, f"spark-{MILLION}", FASTEST_SET)
    return {
        "time": Figure(done.seconds, "s", MILLION_SECONDS),
        **cells,
        "memory of all processes": Figure(done.megabytes, "MB", MILLION_MEGABYTES),
    }


def _read_cells(options: Options, command: str) -> Cells:
    interest, build = table(options, MILLION, 10_000), options.scratch / f"spark-{MILLION}"
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


def _default_cells(options: Options) -> Cells:
    """Everything that a user waits for counts, on both sides."""
    interest, done = table(options, 100_000, 1_000), []
    for name, more in (("default", ()), ("fastest", FASTEST_SET)):
        command = build(interest, options.scratch / f"beside-{name}", "dcbr-m", "spark")
        done.append(checked(run_command([*command, *more], adopt=True)))
    ours, fastest = done
    degrees = [json_of(one) for one in done]
    return {
        "processor time": f"{ours.processor_seconds:.0f} s : {fastest.processor_seconds:.0f} s",
        "ratio": Figure(ours.processor_seconds / fastest.processor_seconds, "", SLOWEST),
        "ratio by the clock": Figure(ours.seconds / fastest.seconds, "", SLOWEST),
        "average degree": " : ".join(f"{one['degree_avg']:.2f}" for one in degrees),
        "maximum degree": " : ".join(str(one["degree_max"]) for one in degrees),
    }


def _degree_cells(options: Options) -> Cells:
    interest = table(options, 100_000, 1_000)
    ours, base = (
        json_of(checked(run_command(build(interest, options.scratch / f"degrees-{name}", name, engine))))
        for name, engine in (("dcbr-m", "spark"), ("gm-m", "local"))
    )
    return {
        "average degree": f"{ours['degree_avg']:.2f} : {base['degree_avg']:.2f}",
        "ratio": Figure(ours["degree_avg"] / base["degree_avg"], "", LIKE_GM_M),
        "maximum degree": f"{ours['degree_max']} : {base['degree_max']}",
        "difference": Figure(ours["degree_max"] - base["degree_max"], "", ABOVE_GM_M),
        "time": f"{ours['seconds']['total']:.0f} s : {base['seconds']['total']:.0f} s",
    }
