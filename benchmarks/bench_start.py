"""Commands on a small table beside a bare pyspark job that reads the same file with the same Java flags.

What is left above the bare job is ours: loading, building, proving, writing. Both run in turn, so that a busy
machine slows both; processor time, Java's included, hardly depends on what else runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness import (
    CommandRun,
    Figure,
    Options,
    Row,
    checked,
    json_of,
    run_command,
    topicloom_command,
)

TITLE = "commands on a small table"
TABLE = "20,000 subscriptions, whole commands (best of the rounds)"
ASKED_ABOVE = 2.0  # seconds above the bare job
ASKED_TIME = 6.0  # seconds on a quiet machine
ASKED_LOCAL = 2.0  # seconds without Spark
COPY = "copy of the edges"
LESS_OWN = ", less its own time"
BARE_JOB, PROCESSOR = "bare pyspark job", "processor time"
NODES, TOPICS, EACH = 2_000, 200, 10

BARE = """
import sys
from pyspark.sql import SparkSession
conf = dict(word.split("=", 1) for word in sys.argv[2:])
builder = SparkSession.builder.master("local[*]")
for key, value in conf.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
table = spark.read.csv(sys.argv[1], header=True)
assert table.toArrow().num_rows == 20000 and table.distinct().count() > 0
java = spark.sparkContext._gateway.proc
spark.stop()
java.stdin.close()
java.wait()
"""


class Times(NamedTuple):
    """Seconds of a command."""

    wall: float
    processor: float  # over all of its processes


def run(options: Options) -> Iterator[Row]:
    table = options.scratch / "small.csv"
    checked(
        run_command(
            topicloom_command(
                *("generate", str(table), "--nodes", str(NODES), "--topics", str(TOPICS)),
                *("--subscriptions", str(EACH), "--popularity", "uniform", "--seed", "1"),
            )
        )
    )
    best: dict[str, Times] = {}
    for _ in range(options.repeats):
        for name, command in {BARE_JOB: _bare(table), **_commands(table)}.items():
            done = checked(run_command(command, adopt=True))
            taken = Times(done.seconds - _own(name, done), done.processor_seconds)
            known = best.get(name, taken)
            best[name] = Times(min(taken.wall, known.wall), min(taken.processor, known.processor))
    bare = best.pop(BARE_JOB)
    yield Row(TABLE, BARE_JOB, {"time": Figure(bare.wall, "s"), PROCESSOR: Figure(bare.processor, "s")})
    for name, taken in best.items():
        if name != COPY:
            yield Row(TABLE, name, _cells(name, taken, bare))


def _commands(table: Path) -> dict[str, list[str]]:
    """Return the commands by name; the first build is what later ones prove and measure."""
    edges = table.with_name("edges.parquet")
    commands = {"build --algorithm gm": _build(table, "spark-read", "--algorithm", "gm")}
    commands[f"build{LESS_OWN}"] = _build(table, "default", "--json")
    commands["inspect"] = topicloom_command("inspect", str(table), "--quiet")
    # The edges alone: a folder of ours would be read without Spark.
    copy = "import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])"
    built = table.with_name("build-spark-read") / "edges.parquet"
    commands[COPY] = [sys.executable, "-c", copy, str(built), str(edges)]
    for name in ("verify", "measure"):
        commands[name] = topicloom_command(name, str(table), str(edges), "--quiet")
    commands[f"simulate{LESS_OWN}"] = topicloom_command(
        "simulate", str(table), "--protocol", "spidercast", "--set", "seconds=5", "--quiet", "--json"
    )
    local = ("--engine", "local")
    commands["build --algorithm gm --engine local"] = _build(table, "local", "--algorithm", "gm", *local)
    for name in ("inspect", "verify", "measure"):
        commands[f"{name} --engine local"] = [*commands[name], *local]
    return commands


def _build(table: Path, name: str, *more: str) -> list[str]:
    out = str(table.with_name(f"build-{name}"))
    return topicloom_command("build", str(table), "--out", out, "--quiet", *more)


def _own(name: str, done: CommandRun) -> float:
    """Return the seconds that a builder or a simulation took by itself, where they are left out."""
    if not name.endswith(LESS_OWN):
        return 0.0
    seconds = json_of(done)["seconds"]
    return float(seconds["build"] if "build" in seconds else seconds["simulate"])


def _bare(table: Path) -> list[str]:
    """Return the bare job, with the settings and the Java options of our own quick sessions."""
    from topicloom.tables.spark.class_archive import using_archive
    from topicloom.tables.spark.java import find_java
    from topicloom.tables.spark.settings import JAVA_OPTIONS, QUICK_JAVA, default_conf, java_options

    conf = default_conf("local[*]", quick=True)
    conf[JAVA_OPTIONS] = java_options({}, using_archive(find_java()), QUICK_JAVA)
    return [sys.executable, "-c", BARE, str(table), *(f"{key}={value}" for key, value in conf.items())]


def _cells(name: str, taken: Times, bare: Times) -> dict[str, Figure | str]:
    processor = Figure(taken.processor, "s")
    if "local" in name:
        return {"time": Figure(taken.wall, "s", ASKED_LOCAL), PROCESSOR: processor}
    return {
        "time": Figure(taken.wall, "s", ASKED_TIME),
        PROCESSOR: processor,
        "above the bare job": Figure(max(taken.wall - bare.wall, 0.0), "s", ASKED_ABOVE),
    }
