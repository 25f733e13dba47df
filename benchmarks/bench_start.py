"""Commands on a small table beside a bare pyspark job that reads the same file with the same Java flags.

What is left above the bare job is ours: loading, building, proving, writing. Both run in turn, so that a busy
machine slows both.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import Figure, Options, Row, attempt, checked, run_command, topicloom_command

TITLE = "commands on a small table"
TABLE = "20,000 subscriptions, whole commands (best of the rounds)"
ASKED_ABOVE = 2.0  # seconds above the bare job
ASKED_LOCAL = 2.0  # seconds of a build without Spark
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
    rounds = 1 if options.quick else 3
    commands = {
        "build --algorithm gm": _build(table, "spark-read"),
        "inspect": topicloom_command("inspect", str(table), "--quiet"),
        "build --algorithm gm --engine local": _build(table, "local", "--engine", "local"),
        "inspect --engine local": topicloom_command("inspect", str(table), "--quiet", "--engine", "local"),
    }
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, command in {"bare pyspark job": _bare(table), **commands}.items():
            taken = checked(run_command(command)).seconds
            best[name] = min(taken, best.get(name, taken))
    bare = best.pop("bare pyspark job")
    yield attempt(TABLE, "bare pyspark job", lambda: {"time": Figure(bare, "s")})
    for name, taken in best.items():
        yield attempt(TABLE, name, lambda name=name, taken=taken: _cells(name, taken, bare))  # type: ignore[misc]


def _build(table: Path, name: str, *more: str) -> list[str]:
    out = str(table.with_name(f"build-{name}"))
    return topicloom_command("build", str(table), "--algorithm", "gm", "--out", out, "--quiet", *more)


def _bare(table: Path) -> list[str]:
    """Return the bare job, with the settings and the Java options of our own quick sessions."""
    from topicloom.tables.spark.class_archive import using_archive
    from topicloom.tables.spark.java import find_java
    from topicloom.tables.spark.settings import JAVA_OPTIONS, QUICK_JAVA, default_conf, java_options

    conf = default_conf("local[*]", quick=True)
    conf[JAVA_OPTIONS] = java_options({}, using_archive(find_java()), QUICK_JAVA)
    return [sys.executable, "-c", BARE, str(table), *(f"{key}={value}" for key, value in conf.items())]


def _cells(name: str, taken: float, bare: float) -> dict[str, Figure | str]:
    if "local" in name:
        asked = ASKED_LOCAL if name.startswith("build") else None
        return {"time": Figure(taken, "s", asked)}
    return {
        "time": Figure(taken, "s"),
        "above the bare job": Figure(max(taken - bare, 0.0), "s", ASKED_ABOVE),
    }
